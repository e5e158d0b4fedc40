#pragma once

#include <memory>
#include <vector>

#include "proxy/box.h"

namespace igloo::proxy {

/// A port that leads to a port of the other side's loopback. `publish`: into the sandbox, through
/// sockets that were made inside and stay there wherever they are used. Each serves one connection
/// after the other, so there are as many at once as there are sockets.
class Forward : public std::enable_shared_from_this<Forward> {
 public:
  static Result<std::shared_ptr<Forward>> Make(std::shared_ptr<Box> box,
                                               const network::AddForward& order,
                                               std::vector<UniqueFd> descriptors);
  asio::awaitable<void> Serve();

 private:
  friend class Forwarded;
  Forward(std::shared_ptr<Box> box, const network::AddForward& order, UniqueFd listener,
          std::vector<UniqueFd> stock);
  /// A socket that can be connected to the other side; not valid when the box has ended.
  asio::awaitable<UniqueFd> Outgoing();
  void Return(UniqueFd socket);
  bool publishes() const { return order_.kind == network::AddForward::Kind::kPublish; }

  std::shared_ptr<Box> box_;  // shared with all connections of the sandbox
  network::AddForward order_;
  std::shared_ptr<Socket> listener_;  // shared with the box, which closes it
  std::vector<UniqueFd> stock_;
  asio::steady_timer returned_;
};

}  // namespace igloo::proxy
