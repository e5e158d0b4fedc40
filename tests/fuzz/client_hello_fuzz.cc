#include <cstdint>
#include <string_view>

#include "network/client_hello.h"

using namespace igloo::network;

/// The first bytes in a tunnel: whatever is understood of a part is understood of the whole.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto whole = ParseClientHello(text);
  const auto part = ParseClientHello(text.substr(0, size / 2));
  if (part && *part) {
    if (!whole || !*whole || (*whole)->server_name != (*part)->server_name) __builtin_trap();
  }
  if (!part && whole) __builtin_trap();
  return 0;
}
