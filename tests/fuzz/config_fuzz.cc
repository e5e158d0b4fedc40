#include <cstdint>
#include <string_view>

#include "config/decode.h"

/// Any text is a configuration or has a problem with a place; what was accepted has environments
/// that lead somewhere, and a project's file grants nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace igloo::config;
  constexpr std::string_view kPresets[] = {"shell", "python"};
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const Origin origin : {Origin::kUser, Origin::kProject}) {
    const Decoded decoded = Decode(
        text,
        {.file = "f", .directory = "/d", .home = "/h", .origin = origin, .presets = kPresets});
    for (const Problem& problem : decoded.problems) {
      if (problem.where.line == 0 || problem.what.empty()) __builtin_trap();
    }
    if (!decoded.problems.empty()) continue;
    for (const auto& [name, environment] : decoded.config.environments) {
      if (environment.source.value.empty()) __builtin_trap();
      const EnvironmentConfig* found = FindEnvironment(decoded.config, name);
      if (found != nullptr && found->source.kind == SourceKind::kAlias) __builtin_trap();
      if (origin == Origin::kProject && (environment.backend || !environment.inherit.empty())) {
        __builtin_trap();
      }
    }
  }
  return 0;
}
