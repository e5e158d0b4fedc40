#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "network/name.h"
#include "proxy/socket.h"

namespace igloo::proxy {

/// What is needed to speak TLS to servers: the roots of trust, read once. One thread.
class Tls {
 public:
  /// `roots` is a PEM file's content. It is understood when it is needed first: that takes longer
  /// than all the rest of the program's start.
  explicit Tls(std::string roots);
  ~Tls();

  /// Speaks TLS 1.2 or newer over `socket`, with a server whose certificate is one of `name`.
  asio::awaitable<Result<std::unique_ptr<ByteStream>>> Connect(std::shared_ptr<Socket> socket,
                                                               const network::Name& name);

 private:
  struct Context;
  Result<Context*> Prepared();

  std::string roots_;
  std::unique_ptr<Context> context_;
};

}  // namespace igloo::proxy
