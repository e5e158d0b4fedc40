#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "http/limits.h"
#include "http/message.h"
#include "http/transport.h"

namespace igloo::http {

/// Reads requests from a transport and writes what answers them, bounded in size and in time. One
/// thread.
class LimitedTransport {
 public:
  /// `limits` and `single`, which is the parser's, outlive it.
  LimitedTransport(const boost::asio::any_io_executor& executor, UniqueFd socket,
                   const Limits& limits, const std::vector<std::string>& single);
  ~LimitedTransport();

  /// `patience` is for its first byte.
  boost::asio::awaitable<std::expected<Head, Failure>> ReadHead(std::chrono::milliseconds patience);
  /// Of the request whose head was read last.
  boost::asio::awaitable<std::expected<std::string, Failure>> ReadBody();
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

  /// What it speaks through, without any limit, and what was read from there ahead.
  std::shared_ptr<Transport> transport() const;
  std::string TakeAhead();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with a deadline that is on its way
};

}  // namespace igloo::http
