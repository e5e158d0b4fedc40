#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::network {

/// One message with its descriptors.
struct Packet {
  std::string text = {};
  std::vector<UniqueFd> descriptors = {};
};

inline constexpr std::size_t kMostDescriptors = 200;

/// Whether the other side has room for it now.
enum class Sent : std::uint8_t { kYes, kNoRoom };

/// Sends one message over a SOCK_SEQPACKET socket; descriptors are borrowed. A text that is longer
/// than such a socket takes travels in a sealed file of memory.
Result<Sent> SendPacket(int socket, std::string_view text, const std::vector<int>& descriptors);

/// Takes one message. Empty when nothing is there on a socket that does not block. kNotFound: the
/// other side has gone.
Result<std::optional<Packet>> ReceivePacket(int socket);

}  // namespace igloo::network
