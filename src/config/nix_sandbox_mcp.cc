#include "config/nix_sandbox_mcp.h"

#include <boost/json/object.hpp>

#include "base/text.h"
#include "config/json_reader.h"
#include "language/language.h"

namespace igloo::config {
namespace {

constexpr std::uint64_t kDay = 86'400;

/// What one entry of `environments` says.
environment::Artifact ReadOne(const std::string& name, JsonReader& reader,
                              const environment::Store& store) {
  environment::ArtifactMetadata metadata{.name = name};
  std::string program;
  reader.Take("exec", program);
  reader.Take("backend", metadata.backend);
  reader.Take("interpreter_type", metadata.interpreter_type);
  if (metadata.interpreter_type.empty()) metadata.interpreter_type = InterpreterByName(name);
  reader.Take("timeout_seconds", {1, kDay}, metadata.timeout_seconds);
  reader.Take("memory_mb", {16, 1U << 20}, metadata.memory_mb);
  // The wrapper's own place; what it would start is in its closure.
  const auto place = environment::FindStorePlace(program);
  const std::string directory = place ? place->prefix + place->path : "";
  environment::Artifact artifact = environment::Assess(directory, std::move(metadata), store);
  const std::string& type = artifact.metadata.interpreter_type;
  if (!artifact.unavailable && !language::IsInterpreterType(type)) {
    artifact.unavailable = Error{Errc::kFailedPrecondition,
                                 "environment '" + name + "': Unknown interpreter_type: '" +
                                     Printable(type) + "'. Must be one of: python, bash, node",
                                 "", 0};
  }
  if (artifact.unavailable) {
    artifact.unavailable->hint = "build it with igloo's mkSandbox: nix build YOUR-FLAKE#" +
                                 ShellQuote(name) + " -o ~/.config/igloo/environments/" +
                                 ShellQuote(name);
  }
  return artifact;
}

void ReadEnvironments(std::string_view text, const boost::json::object& object,
                      const environment::Store& store, std::vector<Problem>& problems,
                      NixSandboxMetadata& out) {
  const boost::json::value* all = object.if_contains("environments");
  const boost::json::object* table = all != nullptr ? all->if_object() : nullptr;
  if (table == nullptr) {
    problems.push_back({{}, "'environments' is no object", ""});
    return;
  }
  for (const auto& [key, value] : *table) {
    const std::string name(key);
    const boost::json::object* one = value.if_object();
    if (one == nullptr) {
      problems.push_back({{}, "environment '" + Printable(name) + "' is no object", ""});
      continue;
    }
    JsonReader reader(text, *one, problems, {"environments", name});
    out.environments.push_back(ReadOne(name, reader, store));
  }
}

}  // namespace

std::string InterpreterByName(std::string_view name) {
  return language::IsInterpreterType(name) ? std::string(name) : "bash";
}

Result<NixSandboxMetadata> ReadNixSandboxMetadata(std::string_view text,
                                                  const environment::Store& store,
                                                  const std::string& from) {
  const auto object = ParseJsonObject(text);
  if (!object) return std::unexpected(ToError(from, object.error()));
  NixSandboxMetadata out;
  std::vector<Problem> problems;
  ReadEnvironments(text, *object, store, problems, out);
  JsonReader top(text, *object, problems);
  top.Enter("project", [&](JsonReader& reader) {
    reader.Take("path", out.project.path);
    reader.Take("mount_point", out.project.mount_point);
    reader.Enter("inherit_env",
                 [&](JsonReader& inner) { inner.Take("vars", out.project.inherit); });
  });
  top.Enter("session", [&](JsonReader& reader) {
    out.session.emplace();
    reader.Take("idle_timeout_seconds", {1, 7 * kDay}, out.session->idle_seconds);
    reader.Take("max_lifetime_seconds", {1, 30 * kDay}, out.session->lifetime_seconds);
  });
  if (!problems.empty()) return std::unexpected(ToError(from, problems[0]));
  return out;
}

}  // namespace igloo::config
