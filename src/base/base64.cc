#include "base/base64.h"

#include <algorithm>
#include <cstdint>

namespace igloo {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  const std::size_t end = text.find_last_not_of('=') + 1;  // npos + 1 is 0: nothing but padding
  for (const char c : text.substr(0, end)) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xffffffU;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xffU);
    }
  }
  // Whatever was left over would be lost: two texts must not mean the same bytes.
  if (ToBase64(bytes) != text) return {};
  return bytes;
}

}  // namespace igloo
