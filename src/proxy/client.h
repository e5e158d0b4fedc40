#pragma once

#include <memory>
#include <optional>
#include <string>

#include "network/control.h"
#include "network/http_head.h"
#include "proxy/box.h"
#include "proxy/dial.h"

namespace igloo::proxy {

/// A connection from inside a sandbox to its proxy, whichever protocol it speaks: each request is
/// decided on its own.
class Client final : public Connection, public std::enable_shared_from_this<Client> {
 public:
  Client(std::shared_ptr<Box> box, UniqueFd fd);

  asio::awaitable<void> Serve();
  void Stop() override;
  void ReconsiderRules() override;

 private:
  friend class Exchange;

  /// What the rules were asked about last, and where it led.
  struct Current {
    network::Request request = {};
    std::optional<network::Address> address = {};
    network::Record record = {};
    bool for_once = false;  ///< its rule was for this connection alone
  };

  asio::awaitable<void> ServeHttp();
  asio::awaitable<void> ServeSocks();
  /// Reads until a head is whole; a problem with status 0 means that there is nobody to tell.
  asio::awaitable<network::HttpResult<network::RequestHead>> ReadHead(
      std::chrono::milliseconds patience);
  /// Decides and connects. A failure is in the record already.
  asio::awaitable<std::expected<Dialled, DialFailure>> Open(network::Request request,
                                                            network::Record::Protocol protocol);
  /// The rest of the connection, both ways, once it is allowed. `first` was read already.
  asio::awaitable<void> Tunnel(std::shared_ptr<Socket> server, std::string first);
  asio::awaitable<void> TunnelOut(std::shared_ptr<Socket> server, std::string first);
  /// Reads what a TLS client says first until it is known to fit the tunnel; false when not.
  asio::awaitable<bool> CheckHello(std::string& first);
  asio::awaitable<bool> Answer(unsigned status, std::string reason, std::string remedy,
                               network::After after);

  void BeginRecord(const network::Request& request, network::Record::Protocol protocol);
  void Refuse(const DialFailure& failure);
  /// What names no place that could be judged.
  void RefuseUnread(const std::string& reason, network::Record::Protocol protocol);
  void EndRecord();
  bool checks_names() const;

  Shared& shared_;
  Socket socket_;
  std::string pending_ = {};             ///< read and not looked at
  std::shared_ptr<Socket> server_ = {};  // shared with the pumps under way
  std::optional<Current> current_ = {};
  network::Decision::Basis basis_ = network::Decision::Basis::kRefused;
};

}  // namespace igloo::proxy
