#pragma once

#include <chrono>
#include <cstddef>

namespace igloo::http {

/// What clients may take of a server: room and time.
struct Limits {
  std::size_t most_connections = 256;  ///< those that were never let in make room for others
  std::size_t longest_head = 32U << 10;
  std::size_t longest_body = 4U << 20;
  /// How long a client may take: from one request to the next, for a head (and to begin with the
  /// first one), for a body, and to fetch what it is sent.
  std::chrono::milliseconds idle_time{60'000};
  std::chrono::milliseconds head_time{10'000};
  std::chrono::milliseconds body_time{30'000};
  std::chrono::milliseconds write_time{30'000};
};

}  // namespace igloo::http
