#include "agent/git.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "agent/state/flat_keys.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMostText = 1U << 20;

/// What stands behind the equals sign, if there is one.
std::string GitValue(std::string_view written) {
  if (written.starts_with('=')) written.remove_prefix(1);
  written.remove_prefix(std::min(written.find_first_not_of(" \t"), written.size()));
  return GitUnquoted(written);
}

/// The last value of a key, as git decides it. What is no configuration has none.
std::string SettingIn(std::string_view text, std::string_view section, std::string_view name) {
  const auto keys = ReadFlatKeys(GitConfigRule(), text);
  if (!keys) return {};
  std::string value;
  for (const FlatKey& key : *keys) {
    const bool same = key.keys.size() == 2 && key.keys[0] == section && key.keys[1] == name;
    if (same) value = GitValue(key.value);
  }
  return value;
}

}  // namespace

std::string GitQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= ' ') quoted += c;
  }
  return quoted + "\"";
}

std::string GitUnquoted(std::string_view written) {
  std::string text;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] == '"') continue;
    if (written[i] != '\\' || i + 1 == written.size()) {
      text += written[i];
      continue;
    }
    const char next = written[++i];
    if (next == '\n') continue;
    text += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return text;
}

std::string ReadGitSetting(const std::string& home, std::string_view key) {
  const std::size_t dot = key.find('.');
  std::string value;
  for (const char* file : {"/.config/git/config", "/.gitconfig"}) {
    const auto text = ReadFile(home + file, kMostText);
    if (!text) continue;
    std::string own = SettingIn(*text, key.substr(0, dot), AsciiLower(key.substr(dot + 1)));
    if (!own.empty()) value = std::move(own);
  }
  return value.substr(0, value.find('\n'));
}

GitIdentity ReadGitIdentity(const std::string& home) {
  return {.name = ReadGitSetting(home, "user.name"), .email = ReadGitSetting(home, "user.email")};
}

GitIdentity IdentityIn(const WorkTree& tree, GitIdentity otherwise) {
  if (tree.common.empty()) return otherwise;
  const std::string path = tree.common + "/config";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return otherwise;
  const std::string text = ReadAll(file.get(), kMostText).value_or("");
  if (std::string name = SettingIn(text, "user", "name"); !name.empty()) {
    otherwise.name = name.substr(0, name.find('\n'));
  }
  if (std::string email = SettingIn(text, "user", "email"); !email.empty()) {
    otherwise.email = email.substr(0, email.find('\n'));
  }
  return otherwise;
}

std::string GitConfigText(const GitIdentity& identity) {
  std::string text =
      "# Written by igloo for this box; yours is not in it.\n[safe]\n\tdirectory = *\n"
      // Other work trees of the repository are not there inside, and are not gone for that. Their
      // logs are read-only, over which git gc would stumble.
      "[gc]\n\tworktreePruneExpire = never\n\treflogExpire = never\n"
      "\treflogExpireUnreachable = never\n";
  if (!identity.name.empty() || !identity.email.empty()) text += "[user]\n";
  if (!identity.name.empty()) text += "\tname = " + GitQuoted(identity.name) + "\n";
  if (!identity.email.empty()) text += "\temail = " + GitQuoted(identity.email) + "\n";
  return text;
}

}  // namespace igloo::agent
