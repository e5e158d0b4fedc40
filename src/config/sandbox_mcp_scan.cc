#include "config/sandbox_mcp_scan.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cerrno>
#include <filesystem>

#include "base/error_text.h"
#include "base/text.h"
#include "config/json_reader.h"

namespace igloo::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "config.json";

std::string NoteText(const std::string& file, const Problem& note) {
  return InOneLine(ToError(file, note));
}

bool IsMissing(const Error& error) {
  return error.sys_errno == ENOENT || error.sys_errno == ENOTDIR;
}

std::string ConfigDirectory(const Variables& variables) {
  std::string base = variables.xdg_config_home;
  if (!base.starts_with('/'))
    base = variables.home.starts_with('/') ? variables.home + "/.config" : "";
  return base.empty() ? "" : base + "/sandbox-mcp";
}

/// Relative to the file that names it.
Result<std::string> Absolute(const std::string& path, const std::string& directory,
                             const Variables& variables) {
  fs::path full = path;
  if (path == "~" || path.starts_with("~/")) {
    if (!variables.home.starts_with('/')) {
      return Fail(Errc::kFailedPrecondition, "HOME is not set, and 'sandboxesPath' needs it",
                  "write the whole path");
    }
    full = variables.home + path.substr(1);
  }
  return (fs::path(directory) / full).lexically_normal().string();
}

std::vector<std::string> Directories(const std::string& place, SandboxScan& scan) {
  std::vector<std::string> directories;
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(at->path(), ignored)) directories.push_back(at->path().native());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    scan.problems.push_back({place, FailSys(error.value(), "cannot list '" + place + "'").error()});
  }
  std::ranges::sort(directories);
  return directories;
}

void Read(const std::string& directory, SandboxScan& scan) {
  const std::string file = directory + "/" + kFileName;
  const auto text = ReadConfigFile(file);
  if (!text && IsMissing(text.error())) {
    scan.notes.push_back("'" + directory + "' has no config.json and is no sandbox");
    return;
  }
  if (!text) {
    scan.problems.push_back({directory, text.error()});
    return;
  }
  DecodedSandbox decoded = DecodeSandbox(*text);
  for (const Problem& note : decoded.notes) scan.notes.push_back(NoteText(file, note));
  for (const Problem& problem : decoded.problems) {
    scan.problems.push_back({directory, ToError(file, problem)});
  }
  if (!decoded.problems.empty()) return;
  const auto same = std::ranges::find_if(
      scan.found, [&](const FoundSandbox& each) { return each.spec.id == decoded.spec.id; });
  if (same == scan.found.end()) {
    scan.found.push_back({directory, std::move(decoded.spec)});
    return;
  }
  scan.problems.push_back(
      {directory,
       {Errc::kInvalidArgument,
        file + ": '" + decoded.spec.id + "' is already the id of '" + same->directory + "'",
        "give one of them another id", 0}});
}

}  // namespace

Result<SandboxMcpConfig> LoadSandboxMcpConfig(const Variables& variables) {
  const std::string directory = ConfigDirectory(variables);
  if (directory.empty()) return SandboxMcpConfig{};
  SandboxMcpConfig config{.file = directory + "/" + kFileName,
                          .sandboxes_path = directory + "/sandboxes"};
  const auto text = ReadConfigFile(config.file);
  if (!text && IsMissing(text.error())) return config;
  if (!text) return std::unexpected(text.error());
  const auto object = ParseJsonObject(*text);
  if (!object) return std::unexpected(ToError(config.file, object.error()));
  std::vector<Problem> problems, notes;
  JsonReader reader(*text, *object, problems);
  std::string path;
  const bool named = reader.Take("sandboxesPath", path) && !path.empty();
  reader.NoteUnknown(notes);
  if (!problems.empty()) return std::unexpected(ToError(config.file, problems[0]));
  for (const Problem& note : notes) config.notes.push_back(NoteText(config.file, note));
  if (named) {
    IGLOO_ASSIGN(config.sandboxes_path, Absolute(path, directory, variables));
  }
  return config;
}

SandboxScan ScanSandboxes(const std::string& place) {
  SandboxScan scan;
  if (place.empty()) return scan;
  for (const std::string& directory : Directories(place, scan)) Read(directory, scan);
  return scan;
}

}  // namespace igloo::config
