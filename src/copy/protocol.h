#pragma once

// What igloo and igloo-copy tell each other over a SOCK_SEQPACKET socket, one packet each.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace igloo::copy {

/// Its end of the socket in igloo-copy.
inline constexpr int kSocket = 3;
inline constexpr std::size_t kLongestPacket = 4096;

/// igloo's one order. Descriptors come with it: a pidfd of the igloo-init of each sandbox it names.
struct Order {
  enum class Kind : std::uint32_t {
    kCheckpoint = 1,  ///< write a checkpoint of process `original`
    kFork = 2,        ///< make process `copy` a copy of the next child of process `original`
  };
  Kind kind = Kind::kCheckpoint;
  std::int32_t original = 0;     ///< its number in its sandbox
  std::int32_t copy = 0;         ///< kFork: likewise, in the other one
  std::int32_t restored_as = 0;  ///< kCheckpoint: the number that restored processes will have
  std::int32_t descriptor = 0;   ///< kCheckpoint: under which they get the checkpoint
  std::uint32_t unused = 0;      ///< no bytes that nobody has set
  /// kCheckpoint: bytes of memory that it may take, as much as a sandbox may have; 0: not limited.
  std::uint64_t memory = 0;
  bool operator==(const Order&) const = default;
};
static_assert(sizeof(Order) == 32);
std::string Encode(const Order& order);
Result<Order> DecodeOrder(std::string_view packet);

/// igloo's second word, for a fork: the original has answered. If it has no child by now, it will
/// never have one.
inline constexpr std::string_view kAnswered = "a";

// What igloo-copy says as it happens. SECURITY: it reads the memory of hostile processes, so igloo
// checks and bounds what it says.
namespace news {
/// From now on the original may be asked to fork.
struct Expects {
  bool closed = false;  ///< it is to make a child that is closed to all others
  bool operator==(const Expects&) const = default;
};
/// A child is held; its number in the sandbox. It may be another than the one that was asked for.
struct Holds {
  std::int32_t inner = 0;
  bool operator==(const Holds&) const = default;
};
/// The copy runs; it may lack memory that is brought to it.
struct GoesOn {
  bool operator==(const GoesOn&) const = default;
};
/// The copy has everything: igloo-copy is of no more use to it.
struct Complete {
  bool operator==(const Complete&) const = default;
};
/// The checkpoint comes with this packet.
struct Written {
  bool operator==(const Written&) const = default;
};
/// It cannot be done. A copy that runs already can go on no more: end its sandbox.
struct Failed {
  std::string what = {}, hint = {};
  bool operator==(const Failed&) const = default;
};
}  // namespace news
using News = std::variant<news::Expects, news::Holds, news::GoesOn, news::Complete, news::Written,
                          news::Failed>;
std::string Encode(const News& news);
Result<News> DecodeNews(std::string_view packet);

}  // namespace igloo::copy
