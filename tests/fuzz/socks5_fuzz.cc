#include <cstdint>
#include <string_view>

#include "network/socks5.h"

using namespace igloo::network;

/// Hostile code's SOCKS: never longer than what was there, never understood before it is whole.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto greeting = ParseSocksGreeting(text);
  if (greeting && *greeting && (*greeting)->size > size) __builtin_trap();
  const auto request = ParseSocksRequest(text);
  if (!request || !*request) return 0;
  const std::size_t whole = (*request)->size;
  if (whole > size) __builtin_trap();
  const auto less = ParseSocksRequest(text.substr(0, whole - 1));
  if (!less || *less) __builtin_trap();
  // A name has passed the one reader of names, so its text is its own canonical form.
  const auto again = ParseHost(ToText((*request)->value.host));
  if (!again || *again != (*request)->value.host) __builtin_trap();
  return 0;
}
