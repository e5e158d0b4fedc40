#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "mcp/http.h"
#include "mcp/http_rules.h"

namespace igloo::mcp {

/// A request before its body.
struct HttpHead {
  std::string method = {}, target = {};
  HttpHeaders headers = {};
  unsigned version = 11;  ///< 11: HTTP/1.1
  bool keep_alive = false;
  bool expects_continue = false;  ///< the body comes only when it is asked for
};

struct HttpResponse {
  unsigned status = 200;
  std::string body = {};  ///< JSON, or nothing
  std::vector<std::pair<std::string, std::string>> fields = {};
};

/// Why nothing more can be read; with the status 0 there is nobody to tell it to.
struct HttpFailure {
  unsigned status = 0;
  std::string message = {};
};

/// The bytes of one connection: bounded in size and in time. One thread.
class HttpStream {
 public:
  HttpStream(const boost::asio::any_io_executor& executor, UniqueFd socket,
             const HttpOptions& options);
  ~HttpStream();

  boost::asio::awaitable<std::expected<HttpHead, HttpFailure>> ReadHead();
  /// Of the request whose head was read last.
  boost::asio::awaitable<std::expected<std::string, HttpFailure>> ReadBody();
  /// False when the client does not take it.
  boost::asio::awaitable<bool> Write(std::string bytes);
  /// Waits until the client has hung up, or sends something; false after CancelWait and Close.
  boost::asio::awaitable<bool> HungUp();
  void CancelWait();
  /// Ends the connection so that the client gets what was written last, even one that is still
  /// sending.
  boost::asio::awaitable<void> Finish();
  void Close();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with a deadline that is on its way
};

enum class After { kKeepOpen, kClose };
std::string ToBytes(const HttpResponse& response, After after);
/// The head of a stream of events, and one event of it; without text it only shows that it lives.
std::string EventsHead(After after);
std::string EventChunk(std::string_view message);
std::string EventsEnd();

}  // namespace igloo::mcp
