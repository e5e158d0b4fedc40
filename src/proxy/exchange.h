#pragma once

#include <memory>
#include <optional>
#include <string>

#include "network/body.h"
#include "network/http_head.h"
#include "network/scan.h"
#include "proxy/client.h"

namespace igloo::proxy {

/// Requests that the proxy reads itself, one after the other, and their answers. The connection to
/// a server is kept for the next request to the same place; every request is decided anew.
class Exchange {
 public:
  explicit Exchange(Client& client) : client_(client) {}

  /// Serves one request and says what becomes of the client's connection.
  asio::awaitable<network::After> Serve(network::RequestHead& head);
  void Close();

 private:
  /// A connection to a server.
  struct Server {
    network::Request::Way way = network::Request::Way::kHttp;
    network::Host host = network::Address{};
    std::uint16_t port = 0;
    network::Address address = {};
    std::unique_ptr<ByteStream> stream = {};
    std::string pending = {};  ///< read and not looked at
  };

  /// A server for the request, with its record begun; false when the client has got its answer.
  asio::awaitable<bool> Reach(network::RequestHead& head);
  /// Whether the last connection may carry this request, too. Its record is begun then.
  bool CanReuse(const network::RequestHead& head);
  asio::awaitable<bool> Connect(network::RequestHead& head);
  asio::awaitable<network::After> Refused(unsigned status, std::string reason, std::string remedy,
                                          const network::RequestHead& head);
  /// The request with its body, if it has one.
  asio::awaitable<void> Send(const network::RequestHead& head);
  asio::awaitable<void> Receive(const network::RequestHead& head);
  asio::awaitable<network::HttpResult<network::ResponseHead>> ReadAnswer(std::string_view method);
  /// Sends an answer's head, and its body without the values of secrets; false when it broke off.
  asio::awaitable<bool> MoveScanned(std::string& head, const network::Framing& framing);
  /// Tells igloo which values stood in the answer so far.
  void TellFound();
  void Tell(network::Record::Event event, std::vector<std::string> secrets);
  /// Sends a head and moves its body to its end; false when it broke off. What has come of the body
  /// goes out together with the head, which is empty afterwards, unless nothing was sent.
  asio::awaitable<bool> Move(std::string& head, ByteStream& from, std::string& pending,
                             ByteStream& to, network::Body& body, std::uint64_t& count);
  /// Reads into `pending`, or moves what needs no reading; empty when there is something to look at
  /// or nothing left.
  asio::awaitable<std::optional<bool>> Advance(ByteStream& from, std::string& pending,
                                               ByteStream& to, network::Body& body,
                                               std::uint64_t& count);

  Client& client_;
  std::optional<Server> server_ = {};
  network::After after_ = network::After::kClose;
  bool body_sent_ = false, answered_ = false;
  std::string problem_ = {};
  /// Of the present answer, where the sandbox has secrets.
  std::optional<network::SecretScan> scan_ = {};
};

}  // namespace igloo::proxy
