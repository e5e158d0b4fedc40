#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/control.h"

using namespace igloo::network;

static std::string Lines(const std::vector<News>& news) {
  std::string text;
  for (const News& each : news) text += (text.empty() ? "" : "\n") + Encode(each);
  return text;
}

/// Messages between igloo and igloo-proxy: what is read is written again in the same way.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto order = DecodeOrder(text)) {
    const std::string encoded = Encode(*order);
    const auto again = DecodeOrder(encoded);
    if (!again || Encode(*again) != encoded) __builtin_trap();
  }
  if (const auto news = DecodeNews(text)) {
    const std::string encoded = Lines(*news);
    const auto again = DecodeNews(encoded);
    if (!again || again->size() != news->size() || Lines(*again) != encoded) __builtin_trap();
  }
  return 0;
}
