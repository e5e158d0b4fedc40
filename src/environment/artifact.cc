#include "environment/artifact.h"

#include <algorithm>

#include "base/text.h"
#include "environment/basics.h"
#include "environment/interpreter.h"
#include "language/language.h"

namespace igloo::environment {
namespace {

/// What scripts take for granted at fixed places.
constexpr std::string_view kUsual[] = {"bash", "sh", "env"};

std::string RebuildHint(const ArtifactMetadata& metadata, const std::string& directory) {
  return "rebuild it with igloo's mkSandbox, which writes the closure down: nix build "
         "YOUR-FLAKE#" +
         metadata.name + " -o " + ShellQuote(directory);
}

/// The interpreter's words, its program as a name or a path.
std::vector<std::string> InterpreterOf(const ArtifactMetadata& metadata) {
  if (!metadata.interpreter.empty()) return metadata.interpreter;
  if (metadata.interpreter_type.empty()) return {};  // that of its image
  const language::Language* found = language::Find(metadata.interpreter_type);
  return {found == nullptr ? metadata.interpreter_type : std::string(found->programs[0])};
}

/// The interpreter and PATH, looked for in a closure.
class Closure {
 public:
  Closure(const ArtifactMetadata& metadata, const std::vector<StorePath>& store)
      : metadata_(metadata), store_(store) {}

  /// The path inside of a program; the root's own first. Empty: none has it.
  std::string Find(std::string_view program) const {
    std::string found;
    for (std::size_t i = 0; i < store_.size(); ++i) {
      if (!store_[i].programs.contains(std::string(program))) continue;
      const bool is_root = metadata_.closure[i] == metadata_.root;
      if (found.empty() || is_root) found = metadata_.closure[i] + "/bin/" + std::string(program);
    }
    return found;
  }

  std::string Path() const {
    if (!metadata_.root.empty()) return metadata_.root + "/bin";
    std::string path;
    for (std::size_t i = 0; i < store_.size(); ++i) {
      if (!store_[i].has_bin) continue;
      path += (path.empty() ? "" : ":") + metadata_.closure[i] + "/bin";
    }
    return path;
  }

 private:
  const ArtifactMetadata& metadata_;
  const std::vector<StorePath>& store_;
};

Result<std::vector<sandbox::Entry>> Contents(const ArtifactMetadata& metadata,
                                             const std::string& directory,
                                             const std::vector<StorePath>& store) {
  std::vector<sandbox::Entry> contents;
  for (std::size_t i = 0; i < store.size(); ++i) {
    const std::string& path = metadata.closure[i];
    switch (store[i].kind) {
      case StorePath::Kind::kMissing:
        return Fail(Errc::kFailedPrecondition,
                    "environment '" + metadata.name + "' needs '" + metadata.store_prefix + path +
                        "', which is not there",
                    RebuildHint(metadata, directory));
      case StorePath::Kind::kLink:
        // SECURITY: a link stays a link: following it here could show any file of the host.
        contents.emplace_back(sandbox::Link{.path = path, .points_to = store[i].points_to});
        break;
      case StorePath::Kind::kTree:
        AddTree(contents, metadata.store_prefix + path, sandbox::Presence::kRequired, path,
                metadata.store_prefix + path.substr(0, path.rfind('/')));
        break;
    }
  }
  return contents;
}

/// Where the interpreter's program is inside, if its name alone is known.
Result<void> PlaceInterpreter(const ArtifactMetadata& metadata, const std::string& directory,
                              const Closure& closure, Environment& environment) {
  std::string& program = environment.interpreter[0];
  if (program.contains('/')) return {};
  const std::string found = closure.Find(program);
  if (found.empty()) {
    return Fail(
        Errc::kFailedPrecondition,
        "environment '" + metadata.name + "' has no '" + Printable(program) + "' in its closure",
        RebuildHint(metadata, directory));
  }
  program = found;
  return {};
}

}  // namespace

std::vector<std::string> ProgramsOf(const ArtifactMetadata& metadata) {
  std::vector<std::string> programs(std::begin(kUsual), std::end(kUsual));
  const std::string program = InterpreterOf(metadata)[0];
  if (!program.contains('/')) programs.push_back(program);
  return programs;
}

Environment OutlineOf(const Artifact& artifact) {
  const ArtifactMetadata& metadata = artifact.metadata;
  Environment environment{.name = metadata.name,
                          .aliases = metadata.aliases,
                          .description = metadata.description,
                          .provider = metadata.image.empty() ? "artifact" : "image",
                          .variables = metadata.variables,
                          .interpreter = InterpreterOf(metadata),
                          .passing = metadata.passing,
                          .code_file = metadata.code_file,
                          .warm = metadata.warm,
                          .preload = metadata.preload};
  // One that takes no files cannot take igloo's driver.
  if (metadata.passing == CodePassing::kFile) environment.language = metadata.interpreter_type;
  if (environment.code_file.empty()) {
    environment.code_file = CodeFileOf(metadata.interpreter_type);
  }
  environment.limits.time_ms = metadata.timeout_seconds * 1000;
  environment.limits.memory_bytes = metadata.memory_mb << 20;
  if (metadata.processes) environment.limits.processes = *metadata.processes;
  if (metadata.open_files) environment.limits.open_files = *metadata.open_files;
  // A preset of igloo's own lies nowhere, and counts like the host's.
  if (artifact.directory.empty()) return environment;
  environment.asked = {.network = metadata.network,
                       .backend = metadata.backend,
                       .processes = metadata.processes.has_value(),
                       .open_files = metadata.open_files.has_value()};
  return environment;
}

Environment OverImage(const Artifact& artifact, Environment image) {
  Environment environment = OutlineOf(artifact);
  environment.contents = std::move(image.contents);
  environment.variables.merge(std::move(image.variables));
  environment.shell = std::move(image.shell);
  environment.entrypoint = std::move(image.entrypoint);
  environment.copied = std::move(image.copied);
  environment.notes = std::move(image.notes);
  environment.in_use = std::move(image.in_use);
  if (environment.interpreter.empty()) {
    environment.interpreter = std::move(image.interpreter);
    environment.passing = image.passing;
    environment.language = std::move(image.language);
    environment.code_file = std::move(image.code_file);
  }
  return environment;
}

Result<Environment> MakeArtifactEnvironment(const ArtifactMetadata& metadata,
                                            const std::string& directory,
                                            const std::vector<StorePath>& store) {
  if (metadata.closure.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "environment '" + metadata.name + "' does not say which store paths it needs",
                RebuildHint(metadata, directory));
  }
  Environment environment = OutlineOf({.directory = directory, .metadata = metadata});
  IGLOO_ASSIGN(environment.contents, Contents(metadata, directory, store));
  const Closure closure(metadata, store);
  IGLOO_TRY(PlaceInterpreter(metadata, directory, closure, environment));
  const std::string bash = closure.Find("bash");
  const std::string shell = bash.empty() ? closure.Find("sh") : bash;
  if (!shell.empty()) {
    environment.contents.emplace_back(sandbox::Link{.path = "/bin/sh", .points_to = shell});
    environment.shell = {shell};
  } else if (metadata.passing == CodePassing::kInput) {
    return Fail(Errc::kFailedPrecondition,
                "environment '" + metadata.name +
                    "' takes code as input, for which it needs a shell, and has none",
                "add bash to its packages, or let it take a file: code = \"file\"");
  }
  if (const std::string env = closure.Find("env"); !env.empty()) {
    environment.contents.emplace_back(sandbox::Link{.path = "/usr/bin/env", .points_to = env});
  }
  AddBasics(environment.contents);
  environment.variables.emplace("LANG", "C.UTF-8");
  environment.variables.emplace("PATH", closure.Path());
  return environment;
}

}  // namespace igloo::environment
