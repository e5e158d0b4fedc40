#include <cstdint>
#include <string_view>

#include "network/control.h"

using namespace igloo::network;

/// Messages between igloo and igloo-proxy: what is read is written again in the same way.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto order = DecodeOrder(text)) {
    const std::string encoded = Encode(*order);
    const auto again = DecodeOrder(encoded);
    if (!again || Encode(*again) != encoded) __builtin_trap();
  }
  if (const auto news = DecodeNews(text)) {
    const std::string encoded = Encode(*news);
    const auto again = DecodeNews(encoded);
    if (!again || Encode(*again) != encoded) __builtin_trap();
  }
  return 0;
}
