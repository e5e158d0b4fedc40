#pragma once

#include <sys/types.h>

#include <optional>

#include "base/error.h"
#include "base/unique_fd.h"
#include "mcp/http_address.h"

namespace igloo::mcp {

/// A socket that listens. A Unix socket's file goes away with it, unless another has taken its
/// place.
class HttpListener {
 public:
  /// A Unix socket is for its owner alone (0600), in a directory where nobody else may write; what
  /// a server that has ended left there is replaced.
  static Result<HttpListener> Open(const HttpAddress& address);
  HttpListener(HttpListener&&) noexcept = default;
  HttpListener& operator=(HttpListener&&) = delete;
  ~HttpListener();

  /// With the port that was taken.
  const HttpAddress& address() const { return address_; }
  int fd() const { return fd_.get(); }
  /// A client that is there, or nothing. Over a Unix socket, only this user's and root's are.
  Result<std::optional<UniqueFd>> Accept() const;

 private:
  HttpListener(UniqueFd fd, HttpAddress address)
      : fd_(std::move(fd)), address_(std::move(address)) {}
  static Result<HttpListener> OpenTcp(const TcpAddress& address);
  static Result<HttpListener> OpenUnix(const UnixSocket& socket);

  UniqueFd fd_;
  HttpAddress address_;
  ino_t inode_ = 0;  ///< of the Unix socket's file
};

/// Whether a server of `self` works for `peer`. Root could do all of it without asking.
constexpr bool MayCall(uid_t peer, uid_t self) { return peer == self || peer == 0; }

}  // namespace igloo::mcp
