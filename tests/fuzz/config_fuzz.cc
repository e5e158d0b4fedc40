#include <cstdint>
#include <string_view>

#include "config/decode.h"
#include "config/sandbox_mcp.h"

namespace {

/// Any text is a sandbox of sandbox-mcp's or has a problem with a place; a sandbox can be written
/// down again, and its files stay in their directory.
void TrySandbox(std::string_view text) {
  using namespace igloo::config;
  const DecodedSandbox decoded = DecodeSandbox(text);
  for (const auto* list : {&decoded.problems, &decoded.notes}) {
    for (const Problem& problem : *list) {
      if (problem.where.line == 0 || problem.what.empty()) __builtin_trap();
    }
  }
  if (!decoded.problems.empty()) return;
  const SandboxSpec& spec = decoded.spec;
  if (!IsPlainFileName(spec.entrypoint) || spec.command.empty()) __builtin_trap();
  for (const SandboxSpec::File& file : spec.files) {
    if (!IsPlainFileName(file.name)) __builtin_trap();
  }
  const DecodedSandbox again = DecodeSandbox(EncodeSandbox(spec));
  if (!again.problems.empty() || again.spec != spec) __builtin_trap();
}

}  // namespace

/// Any text is a configuration or has a problem with a place; what was accepted has environments
/// that lead somewhere, and a project's file grants nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace igloo::config;
  constexpr std::string_view kPresets[] = {"shell", "python"};
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  TrySandbox(text);
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
