#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace igloo {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4). Small rather than fast: it sees files of a few kilobytes.
Sha256Digest Sha256(std::string_view bytes);

/// The same as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace igloo
