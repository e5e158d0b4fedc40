#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/body.h"
#include "network/http_head.h"

namespace {

using namespace igloo::network;

/// What requests the bytes are, as they would be sent on, and how long their bodies are.
std::vector<std::string> Read(std::string_view bytes, std::size_t step) {
  std::vector<std::string> seen;
  std::string pending;
  const auto more = [&] {
    if (bytes.empty()) return false;
    pending += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    return true;
  };
  while (true) {
    std::size_t scanned = 0;
    HttpResult<std::optional<std::size_t>> end = FindHeadEnd(pending, scanned);
    while (end && !*end && more()) end = FindHeadEnd(pending, scanned);
    if (!end || !*end) return seen;
    const auto head = ParseRequestHead(std::string_view(pending).substr(0, **end));
    (void)ParseResponseHead(std::string_view(pending).substr(0, **end), "GET");
    if (!head) return seen;
    pending.erase(0, **end);
    if (head->request.way == Request::Way::kTunnel) {
      seen.push_back("CONNECT " + ToText(head->request.host));
      return seen;
    }
    seen.push_back(ToText(*head));
    // SECURITY: what is sent on is read in the same way by the next reader.
    const std::string again = "GET http://" + ToText(head->request.host) + "/ HTTP/1.1\r\n" +
                              seen.back().substr(seen.back().find("\r\n") + 2);
    std::size_t rescanned = 0;
    const auto again_end = FindHeadEnd(again, rescanned, 2 * kLongestHead);
    if (!again_end || !*again_end || **again_end != again.size()) __builtin_trap();
    Body body(head->body);
    std::size_t size = 0;
    while (!body.ended()) {
      const auto taken = body.Take(pending);
      if (!taken) return seen;
      size += *taken;
      pending.erase(0, *taken);
      if (!body.ended() && !more()) return seen;
    }
    seen.push_back(std::to_string(size));
  }
}

}  // namespace

/// What hostile code can send to its proxy: the same requests however the bytes are cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t step = size == 0 ? 1 : 1 + bytes[size - 1] % 64;
  if (Read(text, step) != Read(text, size + 1)) __builtin_trap();
  return 0;
}
