#include "environment/artifact.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "environment/basics.h"

namespace igloo::environment {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMetadata = 4U << 20;
constexpr std::string_view kPrograms[] = {"python3", "bash", "node", "sh", "env"};

/// What an interpreter_type stands for.
struct Interpreter {
  std::string_view type, program, code_file;
};
constexpr Interpreter kInterpreters[] = {
    {"python", "python3", "main.py"}, {"bash", "bash", "main.sh"}, {"node", "node", "main.js"}};

/// A regular file's text; a pipe or a device in its place would keep us waiting.
Result<std::string> ReadRegular(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + path + "'");
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + path + "' is not a file");
  }
  auto text = ReadAll(fd.get(), kMaxMetadata);
  if (!text) return Wrap("'" + path + "'", std::move(text).error());
  return text;
}

StorePath LookAt(const std::string& physical) {
  StorePath found;
  struct stat info{};
  if (::lstat(physical.c_str(), &info) != 0) return found;
  if (S_ISLNK(info.st_mode)) {
    found.kind = StorePath::Kind::kLink;
    if (auto target = ReadLink(physical)) found.points_to = *std::move(target);
    return found;
  }
  found.kind = StorePath::Kind::kTree;
  const std::string bin = physical + "/bin/";
  found.has_bin = ::access(bin.c_str(), F_OK) == 0;
  for (const std::string_view program : kPrograms) {
    // Not followed: below another prefix a link points to where the file will be inside.
    const std::string path = bin + std::string(program);
    if (found.has_bin && ::lstat(path.c_str(), &info) == 0) found.programs.emplace(program);
  }
  return found;
}

std::string RebuildHint(const ArtifactMetadata& metadata, const std::string& directory) {
  return "rebuild it with igloo's mkSandbox, which writes the closure down: nix build "
         "YOUR-FLAKE#" +
         metadata.name + " -o " + ShellQuote(directory);
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
        AddTree(contents, metadata.store_prefix + path, sandbox::Presence::kRequired, path);
        break;
    }
  }
  return contents;
}

/// Links followed, as people collect artifacts by linking to results of builds.
std::vector<std::string> Directories(const std::string& place, ArtifactScan& scan) {
  std::vector<std::string> directories;
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(at->path(), ignored)) directories.push_back(at->path().native());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    scan.problems.push_back(
        {place, {Errc::kPermissionDenied, "cannot list it: " + error.message(), {}, 0}});
  }
  std::ranges::sort(directories);
  return directories;
}

}  // namespace

std::span<const std::string_view> ArtifactPrograms() { return kPrograms; }

Result<Environment> MakeArtifactEnvironment(const ArtifactMetadata& metadata,
                                            const std::string& directory,
                                            const std::vector<StorePath>& store) {
  if (metadata.closure.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "environment '" + metadata.name + "' does not say which store paths it needs",
                RebuildHint(metadata, directory));
  }
  IGLOO_ASSIGN(auto contents, Contents(metadata, directory, store));
  const Closure closure(metadata, store);
  const auto kind = std::ranges::find(kInterpreters, metadata.interpreter_type, &Interpreter::type);
  const std::string program = closure.Find(kind->program);
  if (program.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "environment '" + metadata.name + "' has no '" + std::string(kind->program) +
                    "' in its closure",
                RebuildHint(metadata, directory));
  }
  // What scripts take for granted at fixed places.
  const std::string shell =
      closure.Find("bash").empty() ? closure.Find("sh") : closure.Find("bash");
  if (!shell.empty()) contents.emplace_back(sandbox::Link{.path = "/bin/sh", .points_to = shell});
  if (const std::string env = closure.Find("env"); !env.empty()) {
    contents.emplace_back(sandbox::Link{.path = "/usr/bin/env", .points_to = env});
  }
  AddBasics(contents);
  Environment environment{.name = metadata.name,
                          .description = metadata.description,
                          .provider = "artifact",
                          .contents = std::move(contents),
                          .variables = metadata.variables,
                          .interpreter = {program},
                          .code_file = std::string(kind->code_file)};
  environment.variables.emplace("LANG", "C.UTF-8");
  environment.variables.emplace("PATH", closure.Path());
  if (!shell.empty()) environment.shell = {shell};
  environment.limits.time_ms = metadata.timeout_seconds * 1000;
  environment.limits.memory_bytes = metadata.memory_mb << 20;
  return environment;
}

Result<Artifact> ReadArtifact(const std::string& directory, const std::string& store_prefix) {
  IGLOO_ASSIGN(const std::string text, ReadRegular(directory + "/metadata.json"));
  IGLOO_ASSIGN(ArtifactMetadata metadata, ParseArtifactMetadata(text));
  if (!store_prefix.empty()) metadata.store_prefix = store_prefix;
  while (metadata.store_prefix.ends_with('/')) metadata.store_prefix.pop_back();
  if (!metadata.closure_file.empty()) {
    IGLOO_ASSIGN(const std::string list,
                 ReadRegular(metadata.store_prefix + metadata.closure_file));
    IGLOO_ASSIGN(metadata.closure, ParseClosure(list));
  }
  if (metadata.closure.empty() && ::access((directory + "/bin/run").c_str(), F_OK) != 0) {
    return Fail(Errc::kInvalidArgument, "it has neither a closure nor bin/run");
  }
  std::vector<StorePath> store;
  store.reserve(metadata.closure.size());
  for (const std::string& path : metadata.closure) {
    store.push_back(LookAt(metadata.store_prefix + path));
  }
  auto environment = MakeArtifactEnvironment(metadata, directory, store);
  return Artifact{directory, std::move(metadata), std::move(environment)};
}

ArtifactScan ScanArtifacts(const std::vector<std::string>& places,
                           const std::string& store_prefix) {
  ArtifactScan scan;
  for (const std::string& place : places) {
    for (const std::string& directory : Directories(place, scan)) {
      auto artifact = ReadArtifact(directory, store_prefix);
      if (!artifact) {
        scan.problems.push_back({directory, std::move(artifact).error()});
        continue;
      }
      const auto same = std::ranges::find_if(scan.found, [&](const Artifact& each) {
        return each.metadata.name == artifact->metadata.name;
      });
      if (same == scan.found.end()) {
        scan.found.push_back(*std::move(artifact));
      } else {
        scan.problems.push_back(
            {directory,
             {Errc::kInvalidArgument,
              "'" + same->metadata.name + "' is already the name of '" + same->directory + "'",
              "rename one of them", 0}});
      }
    }
  }
  return scan;
}

}  // namespace igloo::environment
