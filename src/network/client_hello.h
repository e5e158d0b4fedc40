#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace igloo::network {

inline constexpr std::size_t kLongestClientHello = 16U << 10;

/// What the first message of a TLS client says in the clear.
struct ClientHello {
  std::optional<std::string> server_name = {};  ///< as sent, not judged
};

/// Whether bytes can be the begin of a TLS handshake.
bool LooksLikeTls(std::string_view bytes);

/// Reads the records at the begin of `bytes` up to the end of the ClientHello; empty while it is
/// incomplete. Fails, with the reason, for everything that is not exactly one.
std::expected<std::optional<ClientHello>, std::string> ParseClientHello(std::string_view bytes);

}  // namespace igloo::network
