#include "cli/personalities/claudebox_audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/summary.h"
#include "base/text.h"

namespace igloo::cli::claudebox {
namespace {

using agent::Origin;

std::string_view Heading(Origin origin) {
  switch (origin) {
    case Origin::kIgloo:
    case Origin::kProfile:
    case Origin::kGranted:
      return "Sandbox-generated";
    case Origin::kCaller:
      return "Host (allowlisted)";
    case Origin::kNamed:
      return "Extra (CLAUDEBOX_EXTRA_ENV)";
    case Origin::kFile:
      return "[config]";
  }
  return "?";
}

/// "  NAME=value", with each further entry of PATH on a line of its own.
std::string VariableLine(const std::string& name, const std::string& value, Origin origin) {
  std::string shown = Printable(agent::ShownValue(name, value));
  for (std::size_t at = 0; name == "PATH" && (at = shown.find(':', at)) != std::string::npos;) {
    shown.replace(at, 1, "\n      ");
  }
  return fmt::format("  {}{}={}\n", origin == Origin::kFile ? "[+] " : "", Printable(name), shown);
}

/// The lines of the variables under one heading, as they are in the plan.
std::string VariableLines(const PreparedBox& prepared, Origin origin) {
  std::string lines;
  for (const std::string& each : prepared.plan.payload.env) {
    const std::string name = each.substr(0, each.find('='));
    const std::string value = each.substr(std::min(name.size() + 1, each.size()));
    const auto& known = prepared.box.variables;
    const auto at = std::ranges::find(known, name, &agent::Variable::name);
    const Origin from = at == known.end() ? Origin::kIgloo : at->origin;
    if (Heading(from) == Heading(origin)) lines += VariableLine(name, value, origin);
  }
  return lines;
}

}  // namespace

std::string AuditText(const PreparedBox& prepared, const FromFiles& files, bool colours) {
  const auto bold = [&](std::string_view text) {
    return colours ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : fmt::format("{}\n", text);
  };
  std::string text = bold("claudebox: what the sandbox gets");
  for (const Origin origin : {Origin::kIgloo, Origin::kCaller, Origin::kNamed, Origin::kFile}) {
    std::string lines = VariableLines(prepared, origin);
    if (origin == Origin::kFile) {
      for (const std::string& line : files.lines) lines += "  " + line + "\n";
    }
    if (!lines.empty()) text += bold(Heading(origin)) + lines;
  }
  return text + SummaryText(prepared, colours,
                            {.without = "Variables", .title = "Files", .instead = "Mounts"});
}

}  // namespace igloo::cli::claudebox
