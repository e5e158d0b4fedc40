#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "proxy/socket.h"

namespace igloo::proxy {

/// Pipes that bytes pass through between two sockets without ever being copied into this process.
/// A connection holds one only while bytes are on their way, so an idle one costs no memory.
class Pipes {
 public:
  std::optional<FdPair> Take();
  /// An empty one.
  void Return(FdPair pipe);

 private:
  std::vector<FdPair> idle_ = {};
};

enum class Moved : std::uint8_t {
  kEnd,     ///< the source ended
  kLimit,   ///< as many bytes as were asked for
  kFailed,  ///< one of the two broke or was closed
};

/// Moves bytes as fast as `to` takes them, and adds them to `count`.
asio::awaitable<Moved> Pump(Pipes& pipes, Socket& from, Socket& to, std::uint64_t limit,
                            std::uint64_t& count);

/// All that comes from `from`, then the end of it. A failure aborts both.
asio::awaitable<void> PumpToEnd(Pipes& pipes, Socket& from, Socket& to, std::uint64_t& count);

}  // namespace igloo::proxy
