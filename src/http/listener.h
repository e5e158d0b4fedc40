#pragma once

#include <optional>
#include <variant>

#include "base/error.h"
#include "base/unique_fd.h"
#include "base/unix_listener.h"
#include "http/address.h"

namespace igloo::http {

/// A socket that listens, at an address of either kind.
class Listener {
 public:
  /// A Unix socket is its owner's alone: UnixListener::Open.
  static Result<Listener> Open(const Address& address);

  /// With the port that was taken.
  const Address& address() const { return address_; }
  int fd() const;
  /// A client that is there, or nothing. Over a Unix socket, only this user's and root's are.
  Result<std::optional<UniqueFd>> Accept() const;

 private:
  using Socket = std::variant<UniqueFd, UnixListener>;  ///< of a port, or of a name

  Listener(Socket socket, Address address)
      : socket_(std::move(socket)), address_(std::move(address)) {}
  static Result<Listener> OpenTcp(const TcpAddress& address);
  static Result<Listener> OpenUnix(const UnixSocket& socket);

  Socket socket_;
  Address address_;
};

}  // namespace igloo::http
