// What a server answers to a request with a secret: its value never goes on, however it is cut.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/body.h"
#include "network/scan.h"

namespace {

using namespace igloo::network;

const std::vector<Secret>& Secrets() {
  static const std::vector<Secret> secrets = [] {
    std::vector<Secret> list;
    // Few letters, so that chance finds them: one holds another, one overlaps with itself.
    for (const char* value : {"aaaaaa", "abaaba", "baaaaaab", "abcabcabd"}) {
      list.push_back({.name = value,
                      .value = value,
                      .placeholder = "igloo-placeholder-X-0123456789abcdef0123456789abcdef",
                      .domain = Name::Parse("api.example").value(),
                      .headers = {"X"}});
    }
    return list;
  }();
  return secrets;
}

/// What goes on of a chunked answer that comes in pieces; empty when it is not one.
std::string Read(std::string_view bytes, std::size_t step) {
  static const SecretPatterns patterns(Secrets());
  SecretScan scan(patterns);
  Body body({Framing::Kind::kChunked});
  std::string content, out;
  while (!bytes.empty() && !body.ended()) {
    content.clear();
    const std::string_view piece = bytes.substr(0, step);
    const auto taken = body.Take(piece, &content);
    if (!taken) return {};
    scan.Take(content, out);
    bytes.remove_prefix(*taken);
  }
  scan.Finish(out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t step = size == 0 ? 1 : 1 + data[size - 1] % 16;
  // As it is, and as the chunks of a body.
  static const SecretPatterns patterns(Secrets());
  SecretScan whole(patterns), cut(patterns);
  std::string one, other;
  whole.Take(bytes, one);
  whole.Finish(one);
  for (std::size_t at = 0; at < size; at += step) cut.Take(bytes.substr(at, step), other);
  cut.Finish(other);
  if (one != other || one.size() != size) __builtin_trap();
  for (const Secret& secret : Secrets()) {
    if (one.find(secret.value) != std::string::npos) __builtin_trap();
  }
  std::string head(bytes);
  whole.CleanHead(head);
  for (const Secret& secret : Secrets()) {
    if (head.find(secret.value) != std::string::npos) __builtin_trap();
  }
  if (Read(bytes, step) != Read(bytes, size + 1)) __builtin_trap();
  return 0;
}
