#include <cstdint>
#include <string>
#include <string_view>

#include "network/path.h"
#include "network/rules.h"

using namespace igloo::network;

/// Rules, and names, addresses and paths to judge by them: the first line is a rule, the second a
/// host, the third a path.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto line = [&] {
    const std::string_view taken = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
  };
  const auto rule = ParseRule(line());
  const auto host = ParseHost(line());
  const std::string path(line());
  if (const auto canonical = CanonicalPath(path)) {
    if (CanonicalPath(*canonical) != *canonical) __builtin_trap();
    if (canonical->find("/../") != std::string::npos) __builtin_trap();
  }
  if (rule) {
    const auto again = ParseRule(ToText(*rule));
    if (!again || *again != *rule) __builtin_trap();
  }
  if (!host) return 0;
  const RuleSet rules(Tier::kAllow, rule ? std::vector<Rule>{*rule} : std::vector<Rule>{});
  for (const auto way : {Request::Way::kTunnel, Request::Way::kHttp, Request::Way::kHttps}) {
    const Request request{.way = way, .host = *host, .port = 443, .method = "GET", .path = path};
    const Decision decision = rules.Decide(request);
    if (decision.allowed() && !rule) __builtin_trap();
    if (decision.allowed() || decision.remedy.empty()) continue;
    // What is proposed is a rule.
    if (!ParseRule(decision.remedy)) __builtin_trap();
  }
  return 0;
}
