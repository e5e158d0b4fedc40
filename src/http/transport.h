#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace igloo::http {

/// The bytes of one client, both ways. Everything above speaks through these functions, so an
/// encrypted transport is another body of this class and nothing else. One thread.
class Transport {
 public:
  /// `socket` is connected, of TCP or Unix, and does not block.
  Transport(const boost::asio::any_io_executor& executor, UniqueFd socket);

  /// How many bytes came; 0 when no more come, or after Cancel and Close.
  boost::asio::awaitable<std::size_t> Read(std::span<char> room);
  /// Waits until ReadNow has something to tell; false after Cancel and Close.
  boost::asio::awaitable<bool> WaitUntilReadable();
  /// What has come already, without waiting: empty when there is nothing yet, 0 at the end.
  std::optional<std::size_t> ReadNow(std::span<char> room);

  /// All parts, one after the other; false when the client does not take them.
  boost::asio::awaitable<bool> Write(std::span<const std::string> parts);
  /// As much as goes without waiting.
  void WriteNow(std::string_view bytes);

  /// Ends every Read, Write and WaitUntilReadable that is under way.
  void Cancel();
  /// The client hears that nothing more comes; false when it has gone.
  bool CloseSending();
  /// What was written and not fetched is thrown away when it is closed.
  void DropUnsent();
  void Close();

 private:
  boost::asio::generic::stream_protocol::socket socket_;
};

}  // namespace igloo::http
