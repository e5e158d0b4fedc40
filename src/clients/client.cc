#include "clients/client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "base/text.h"

namespace igloo::clients {
namespace {

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t space = words.find(' ');
    if (words.substr(0, space) == word) return true;
    if (space == std::string_view::npos) return false;
    words.remove_prefix(space + 1);
  }
  return false;
}

/// XDG: a variable that holds a relative path is to be ignored. Other programs' variables are held
/// to the same rule here: what they would resolve from depends on where they are started.
bool IsDirectory(const std::string& value) { return value.starts_with('/'); }

std::string UserFile(const Client& client, const Variables& variables) {
  if (!client.variable.empty()) {
    const std::string moved = variables(client.variable);
    if (IsDirectory(moved)) return fmt::format("{}/{}", moved, client.variable_file);
  }
  const std::string home = variables("HOME");
  std::string base = home;
  if (client.base == Base::kConfigHome) {
    base = variables("XDG_CONFIG_HOME");
    if (!IsDirectory(base) && IsDirectory(home)) base = home + "/.config";
  }
  return IsDirectory(base) ? fmt::format("{}/{}", base, client.user_file) : "";
}

}  // namespace

Result<const Client*> FindClient(std::string_view name) {
  std::vector<std::string_view> names;
  std::string known;
  for (const Client& client : kClients) {
    if (client.name == name || HasWord(client.aliases, name)) return &client;
    names.push_back(client.name);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", client.name);
  }
  const std::string nearest = Nearest(name, names.data(), names.size());
  return Fail(
      Errc::kInvalidArgument, fmt::format("there is no client '{}'", Printable(name)),
      nearest.empty() ? "the clients are " + known : fmt::format("did you mean '{}'?", nearest));
}

Result<std::string> FileOf(const Client& client, Scope scope, const Variables& variables,
                           const std::string& project) {
  std::string file;
  if (scope == Scope::kProject) {
    if (client.project_file.empty()) {
      return Fail(Errc::kInvalidArgument,
                  fmt::format("{} has no configuration of projects", client.title),
                  "leave --scope out");
    }
    file = fmt::format("{}/{}", project == "/" ? "" : project, client.project_file);
  } else {
    file = UserFile(client, variables);
  }
  if (file.empty()) {
    return Fail(
        Errc::kFailedPrecondition,
        fmt::format("there is no place for {}'s configuration: HOME is not set", client.title),
        "set HOME, or name the file with --file");
  }
  if (!client.other_suffix.empty() && ::access(file.c_str(), F_OK) != 0) {
    std::string other = file + std::string(client.other_suffix);
    if (::access(other.c_str(), F_OK) == 0) return other;
  }
  return file;
}

}  // namespace igloo::clients
