#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace igloo {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4) of bytes that come in pieces. Small rather than fast.
class Sha256Hasher {
 public:
  void Update(std::string_view bytes);
  /// Of everything so far. To be asked once, at the end.
  Sha256Digest Finish();

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_ = {};  ///< what does not fill a block yet
  std::size_t held_ = 0;                     ///< of it
  std::uint64_t bytes_ = 0;
};

/// The same of bytes that are all there.
Sha256Digest Sha256(std::string_view bytes);

/// 64 lower-case hexadecimal digits.
std::string ToHex(const Sha256Digest& digest);

std::string Sha256Hex(std::string_view bytes);

}  // namespace igloo
