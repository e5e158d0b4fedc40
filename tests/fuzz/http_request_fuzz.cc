#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "http/rules.h"
#include "http/token.h"

namespace {

using namespace igloo::http;

constexpr std::size_t kShortHead = 256, kLongHead = 1U << 20, kLongestBody = 512;

/// What requests the bytes are, in their parts.
std::vector<std::string> Read(std::string_view text, std::size_t step, std::size_t longest_head) {
  std::vector<std::string> seen;
  std::string bytes;
  while (true) {
    Parser parser(longest_head, kLongestBody);
    bool headed = false;
    for (bool whole = false; !whole;) {
      if (!headed) {
        const auto head = parser.ReadHead(bytes);
        if (!head) return seen;
        headed = head->has_value();
        if (headed) {
          const Head& found = **head;
          seen.insert(seen.end(), {found.method, found.target, found.host});
          for (const Field& each : found.fields) seen.push_back(each.name + ": " + each.value);
          const OwnNames own{.any_number = true};
          (void)HostAllowed(found.host, own);
          (void)OriginAllowed(found.fields.Get("Origin"), own);
          (void)IsJson(found.fields.Get("Content-Type"));
          (void)TokenMatches(found.fields.Get("Authorization"), "token");
        }
      }
      if (headed) {
        const auto body = parser.ReadBody(bytes);
        if (!body) return seen;
        whole = body->has_value();
        if (whole) {
          if ((*body)->size() > kLongestBody) __builtin_trap();
          seen.push_back(**body);
        }
      }
      if (whole) continue;
      if (text.empty()) return seen;
      bytes += text.substr(0, step);
      text.remove_prefix(std::min(step, text.size()));
    }
  }
}

}  // namespace

/// What a hostile client can send over HTTP: every request is the same however its bytes are cut,
/// and no body is longer than allowed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t step = size == 0 ? 1 : 1 + bytes[size - 1] % 64;
  if (Read(text, step, kLongHead) != Read(text, size + 1, kLongHead)) __builtin_trap();
  // Where a head is just too long, it is noticed a few bytes sooner or later.
  (void)Read(text, step, kShortHead);
  return 0;
}
