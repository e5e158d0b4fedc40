#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "mcp/http.h"
#include "mcp/http_message.h"

namespace igloo::mcp {

/// The bytes of one connection: bounded in size and in time. One thread.
class HttpStream {
 public:
  HttpStream(const boost::asio::any_io_executor& executor, UniqueFd socket,
             const HttpOptions& options);
  ~HttpStream();

  /// `patience` is for its first byte.
  boost::asio::awaitable<std::expected<HttpHead, HttpFailure>> ReadHead(
      std::chrono::milliseconds patience);
  /// Of the request whose head was read last.
  boost::asio::awaitable<std::expected<std::string, HttpFailure>> ReadBody();
  /// One part after the other; false when the client does not take them.
  boost::asio::awaitable<bool> Write(std::vector<std::string> parts);
  /// Waits until the client has hung up; what it sends meanwhile is kept for the next request.
  /// False after CancelWait and Close, and for a client that sends too much ahead.
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

}  // namespace igloo::mcp
