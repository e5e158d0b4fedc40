#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/clip.h"
#include "tools/hints.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using config::SandboxSpec;
using mcp::JsonObject;

bool IsReadOnly(const SandboxSpec& spec) { return spec.mount.read_only || spec.security.read_only; }

/// "a, b and c" for the last separator " and ".
std::string Enumerate(const std::vector<std::string>& parts, std::string_view last) {
  if (parts.size() < 2) return parts.empty() ? "" : parts[0];
  return fmt::format("{}{}{}", fmt::join(parts.begin(), parts.end() - 1, ", "), last, parts.back());
}

std::string IsolationSentence(const SandboxSpec& spec, unsigned cores) {
  std::vector<std::string> parts = {fmt::format("{} CPU {}", cores, cores == 1 ? "core" : "cores")};
  if (spec.resources.memory_mb)
    parts.push_back(fmt::format("{} MB RAM", *spec.resources.memory_mb));
  if (spec.resources.processes) {
    parts.push_back(fmt::format("{} processes", *spec.resources.processes));
  }
  return "This sandbox uses Igloo isolation with " + Enumerate(parts, ", and ") + ".";
}

std::string AccessSentence(const EnvironmentTool& tool) {
  const SandboxSpec& spec = tool.spec;
  std::string text = fmt::format(" It has {} network access and {} filesystem permissions.",
                                 HasNetwork(spec) ? spec.security.network : "no",
                                 IsReadOnly(spec) ? "read-only" : "read-write");
  if (!HasNetwork(spec) || tool.environment.empty()) return text;
  // The kernel's own word for it, EPERM, tells nobody which right is missing.
  if (tool.raw_sockets) return text + " It may make raw sockets.";
  return text + fmt::format(
                    " It cannot make raw sockets (tcpdump, nmap -sS): these need network = "
                    "\"internet\" and raw_sockets = true in [environments.{}] of igloo's "
                    "configuration.",
                    tool.environment);
}

std::string FilesSentence(const SandboxSpec& spec) {
  if (spec.files.empty()) {
    return spec.additional_files ? " It supports uploading additional files." : "";
  }
  std::vector<std::string> names;
  for (const SandboxSpec::File& file : spec.files) {
    const char* kind = spec.files.size() == 1 ? " file" : "";
    const std::string what = file.description.empty() ? "" : fmt::format(" ({})", file.description);
    names.push_back(fmt::format("`{}`{}{}", file.name, kind, what));
  }
  const std::string list =
      (names.size() == 1 ? "a " : "the following files: ") + Enumerate(names, " and ");
  return fmt::format(" It requires {}{}.", list,
                     spec.additional_files ? " and supports uploading additional files" : "");
}

/// How many processors a run of it can keep busy.
unsigned CoresOf(const SandboxSpec& spec, const Surroundings& surroundings) {
  const std::uint64_t own = spec.resources.cpu.value_or(surroundings.cores);
  if (!surroundings.limits_cpus) return surroundings.cores;
  return static_cast<unsigned>(std::min<std::uint64_t>(own, surroundings.cores));
}

std::string DescriptionOf(const EnvironmentTool& tool, unsigned cores) {
  const SandboxSpec& spec = tool.spec;
  // The limits stand behind it, and clients cut what is longer than 4,096 characters.
  std::string text(WholeCharacters(spec.description, 3000));
  if (!text.empty()) text += text.ends_with('.') ? " " : ". ";
  return text + IsolationSentence(spec, cores) + AccessSentence(tool) + FilesSentence(spec) +
         fmt::format(" The execution is limited to {} seconds.", spec.timeout_seconds);
}

JsonObject Text(std::string_view description) {
  JsonObject text{{"type", "string"}};
  if (!description.empty()) text["description"] = description;
  return text;
}

JsonObject FilesSchema() {
  return {{"type", "array"},
          {"description", "Files to be included in the sandbox"},
          {"items",
           {{"type", "object"},
            {"properties",
             {{"filename", Text("Name of the file, without directories")},
              {"content", Text("What is in it")}}},
            {"required", {"filename", "content"}}}}};
}

JsonObject InputSchema(const SandboxSpec& spec) {
  const std::string entry = config::ParameterFor(spec.entrypoint);
  JsonObject properties;
  properties[entry] =
      Text(fmt::format("Code to be stored in a file named `{}` and executed with the command `{}`.",
                       spec.entrypoint, fmt::join(spec.command, " ")));
  boost::json::array required = {entry};
  for (const SandboxSpec::File& file : spec.files) {
    properties[config::ParameterFor(file.name)] = Text(file.description);
    required.emplace_back(config::ParameterFor(file.name));
  }
  if (spec.additional_files) properties["files"] = FilesSchema();
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

}  // namespace

bool HasNetwork(const SandboxSpec& spec) {
  return !spec.security.network.empty() && spec.security.network != "none";
}

mcp::ToolHints HintsOf(const SandboxSpec& spec, const service::Rights& rights) {
  const service::Rights all{.network = HasNetwork(spec) || rights.network,
                            .writable_host = rights.writable_host};
  if (!all.harmless()) return HintsOf(all);
  // Nothing of the host can be changed and all of it ends with the call, so there is nothing that a
  // claim could be wrong about.
  return {.read_only = spec.hints.read_only.value_or(IsReadOnly(spec)),
          .destructive = spec.hints.destructive.value_or(false),
          .idempotent = spec.hints.idempotent.value_or(true),
          .open_world = spec.hints.external.value_or(false)};
}

mcp::Tool Describe(const EnvironmentTool& tool, const Surroundings& surroundings) {
  const SandboxSpec& spec = tool.spec;
  std::string description = DescriptionOf(tool, CoresOf(spec, surroundings));
  if (surroundings.rights.writable_host) {
    description += " It can change the files of the user's project.";
  }
  // A model that knows it does not have to try.
  if (tool.unavailable) {
    description += " It cannot be used at present: " + tool.unavailable->what + ".";
  }
  return {.name = spec.id,
          .title = spec.name.empty() ? spec.id : spec.name,
          .description = std::move(description),
          .input_schema = InputSchema(spec),
          .hints = HintsOf(spec, surroundings.rights)};
}

}  // namespace igloo::tools
