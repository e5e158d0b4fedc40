#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/http_message.h"

namespace {

using namespace igloo::mcp;

constexpr std::size_t kLongestHead = 1024, kLongestBody = 512;

/// What became of some bytes: the requests, and how it ended.
struct Seen {
  std::vector<std::string> parts = {};
  unsigned status = 0;

  bool operator==(const Seen&) const = default;
};

Seen Read(std::string_view text, std::size_t step) {
  Seen seen;
  std::string bytes;
  while (true) {
    HttpParser parser(kLongestHead, kLongestBody);
    bool headed = false;
    for (bool whole = false; !whole;) {
      if (!headed) {
        const auto head = parser.Head(bytes);
        if (!head) {
          seen.status = head.error().status;
          return seen;
        }
        headed = head->has_value();
        if (headed) {
          const HttpHead& found = **head;
          seen.parts.insert(seen.parts.end(), {found.method, found.target, found.headers.host});
          const OwnNames own{.any_number = true};
          (void)HostAllowed(found.headers.host, own);
          (void)OriginAllowed(found.headers.origin, own);
          (void)IsJson(found.headers.content_type);
          (void)TokenMatches(found.headers.authorization, "token");
        }
      }
      if (headed) {
        const auto body = parser.Body(bytes);
        if (!body) {
          seen.status = body.error().status;
          return seen;
        }
        whole = body->has_value();
        if (whole) {
          if ((*body)->size() > kLongestBody) __builtin_trap();
          (void)CheckHeaders({.version = seen.parts.front()}, DecodeMessage(**body));
          seen.parts.push_back(**body);
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
/// and neither head nor body is longer than allowed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t step = size == 0 ? 1 : 1 + bytes[size - 1] % 64;
  if (Read(text, step) != Read(text, size + 1)) __builtin_trap();
  return 0;
}
