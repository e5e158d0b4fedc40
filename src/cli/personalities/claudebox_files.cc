#include "cli/personalities/claudebox_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/claudebox/project_files.h"
#include "agent/state/projects.h"
#include "base/file.h"
#include "base/text.h"
#include "service/caller.h"
#include "service/places.h"

namespace igloo::cli::claudebox {
namespace {

namespace files = agent::claudebox;
namespace fs = std::filesystem;

constexpr std::size_t kMostFile = 1U << 20;

/// The text of a file, or nothing where there is none.
Result<std::string> ReadOptional(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return std::string();
  return ReadFile(path, kMostFile);
}

Result<void> AddSettings(const std::string& text, const std::string& file, FromFiles& all) {
  IGLOO_ASSIGN(const files::Settings more, files::ParseSettings(text, file));
  const auto add = [&](std::string_view key, const std::string& value) {
    all.lines.push_back(std::string(key) + " = " + Printable(value) + " (" + Printable(file) + ")");
  };
  if (more.program) add("cmd", *more.program);
  for (const std::string& each : more.home) add("mount_home", each);
  for (const std::string& each : more.path) add("path_add", each);
  files::Add(more, all.settings);
  return {};
}

Result<void> AddVariables(const std::string& text, const std::string& file, FromFiles& all) {
  IGLOO_ASSIGN(const files::Variables values, files::ParseVariables(text, file));
  all.variables.insert(all.variables.end(), values.begin(), values.end());
  return {};
}

/// The project's files count only as the user trusted them: they name programs and directories.
Result<void> AddProjectFiles(const std::string& directory, FromFiles& all, Console& console) {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  IGLOO_ASSIGN(const agent::ProjectRoot root, agent::FindProjectRoot(directory));
  config::TrustDirectory store(state + "/trust");
  IGLOO_ASSIGN(const auto own, files::ReadProjectFiles(root.path, store));
  if (own.trust == config::Trust::kNoFile) return {};
  if (own.trust != config::Trust::kTrusted) {
    const bool changed = own.trust == config::Trust::kChanged;
    console.Note("note: '" + Printable(own.settings_path) + "' does not count: it " +
                 (changed ? "has changed since it was trusted" : "is not trusted") +
                 "; look at it, then: igloo trust " + ShellQuote(Printable(root.path)));
    return {};
  }
  IGLOO_TRY(AddSettings(own.settings, own.settings_path, all));
  return AddVariables(own.variables, own.variables_path, all);
}

}  // namespace

std::string OwnPlace() { return service::CallersVariable("HOME").value_or("") + "/.claudebox"; }
std::string SettingsPath() { return OwnPlace() + "/config"; }
std::string VariablesPath() { return OwnPlace() + "/env"; }

Result<FromFiles> ReadFiles(const std::string& directory, Console& console) {
  FromFiles all;
  IGLOO_ASSIGN(const std::string settings, ReadOptional(SettingsPath()));
  IGLOO_TRY(AddSettings(settings, SettingsPath(), all));
  IGLOO_ASSIGN(const std::string variables, ReadOptional(VariablesPath()));
  IGLOO_TRY(AddVariables(variables, VariablesPath(), all));
  IGLOO_TRY(AddProjectFiles(directory, all, console));
  return all;
}

std::string ProfilePath(const std::string& name) {
  return OwnPlace() + "/profiles/" + name + ".json";
}

Result<std::string> ReadProfileText(const std::string& name) {
  const bool plain = !name.empty() && !name.contains('/') && !name.starts_with('.');
  auto text = plain ? ReadFile(ProfilePath(name), kMostFile)
                    : Result<std::string>(Fail(Errc::kInvalidArgument, "it is no name"));
  if (text) return text;
  return Fail(Errc::kNotFound, "there is no profile '" + Printable(name) + "'",
              "--list-profiles shows those that there are");
}

std::vector<std::string> ProfileNames() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(OwnPlace() + "/profiles", ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace igloo::cli::claudebox
