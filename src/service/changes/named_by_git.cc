#include "service/changes/named_by_git.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "service/changes/repository.h"
#include "service/places.h"

namespace igloo::service::changes {
namespace {

constexpr std::size_t kLargestConfig = 1U << 20;
constexpr int kDeepestInclude = 4;
constexpr std::string_view kNamed = "the configuration of your git names it";

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// `[section "name"]` is "section.name."; nothing: it is no such line.
std::string SectionOf(std::string_view line) {
  std::string section;
  for (const char c : line.substr(1, line.find(']') - 1)) {
    if (c == ' ' || c == '\t') continue;
    if (c == '"') {
      if (!section.ends_with('.')) section += '.';
      continue;
    }
    section += c;
  }
  if (!section.ends_with('.')) section += '.';
  return AsciiLower(section);
}

/// Keys whose values are names and addresses and no files of a project.
bool IsHarmless(std::string_view key) {
  constexpr auto kSections =
      std::to_array<std::string_view>({"branch.", "user.", "author.", "committer.", "url."});
  constexpr auto kKeys = std::to_array<std::string_view>({".url", ".pushurl", ".fetch", ".push"});
  return std::ranges::any_of(kSections, [&](auto each) { return key.starts_with(each); }) ||
         std::ranges::any_of(kKeys, [&](auto each) { return key.ends_with(each); });
}

}  // namespace

NamedByGit::NamedByGit(const ChangeSet& set, const Tree& project, const BaseRecord& base)
    : tree_(project), base_(base), project_(set.project) {
  if (const auto repository = Repository::Open(set)) {
    const std::string own = set.work_tree.empty() ? "" : set.work_tree + "/";
    for (const std::string& name : {std::string("config"), own + "config.worktree"}) {
      const auto text = repository->host().Read(name, kLargestConfig);
      if (text) ReadFrom(*text, repository->path(), 0);
    }
  }
  // Root in somebody else's project is not who runs git there.
  const config::Variables variables = ReadVariables();
  if (tree_.user().other() || variables.home.empty()) return;
  for (const std::string name : {"/.gitconfig", "/.config/git/config"}) {
    const std::filesystem::path place = variables.home + name;
    const auto text = ReadFile(place, kLargestConfig);
    if (text) ReadFrom(*text, place.parent_path(), 0);
  }
}

std::vector<NamedByGit::Setting> NamedByGit::SettingsIn(std::string_view text) {
  std::vector<Setting> settings;
  std::string section, line;
  while (!text.empty()) {
    const std::string_view raw = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), raw.size() + 1));
    line += Trimmed(raw);
    if (line.ends_with('\\')) {
      line.back() = ' ';
      continue;
    }
    std::string_view rest = line;
    if (rest.starts_with('[')) {
      section = SectionOf(rest);
      const std::size_t end = rest.find(']');
      rest = end == std::string_view::npos ? "" : Trimmed(rest.substr(end + 1));
    }
    const std::size_t equals = rest.find('=');
    if (equals != std::string_view::npos && !rest.starts_with('#') && !rest.starts_with(';')) {
      settings.push_back({section + AsciiLower(Trimmed(rest.substr(0, equals))),
                          std::string(Trimmed(rest.substr(equals + 1)))});
    }
    line.clear();
  }
  return settings;
}

/// Where a name of a configuration in `directory` leads; empty: not into the project.
std::string NamedByGit::InProject(const std::string& name, const std::string& directory) const {
  std::filesystem::path path = name;
  if (name.starts_with("~/")) path = ReadVariables().home + name.substr(1);
  if (path.is_relative()) path = std::filesystem::path(directory) / path;
  std::string plain = path.lexically_normal();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain.starts_with(project_ + "/") ? plain.substr(project_.size() + 1) : "";
}

void NamedByGit::ReadFrom(std::string_view text, const std::string& directory, int depth) {
  for (const Setting& setting : SettingsIn(text)) {
    std::string value = setting.value;
    std::erase(value, '"');
    if (setting.key == "core.hookspath") {
      const std::string place = InProject(value, project_);
      if (!place.empty()) places_[AsciiLower(place)] = true;
    } else if (setting.key.starts_with("include") && setting.key.ends_with(".path")) {
      const std::string place = InProject(value, directory);
      if (place.empty() || !places_.emplace(AsciiLower(place), false).second) continue;
      const auto included = tree_.Read(place, kLargestConfig);
      if (!included || depth == kDeepestInclude) continue;
      ReadFrom(*included, project_ + "/" + ParentOf(place), depth + 1);
    } else if (!IsHarmless(setting.key)) {
      AddWords(setting);
    }
  }
}

/// Of a command, every word can be a program or a script.
void NamedByGit::AddWords(const Setting& setting) {
  constexpr std::string_view kBetween = " \t\"'!;|&()<>=";
  for (std::string_view rest = setting.value; !rest.empty();) {
    const std::string word(rest.substr(0, rest.find_first_of(kBetween)));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::string place = word.empty() ? "" : InProject(word, project_);
    const Node* node = place.empty() ? nullptr : base_.Find(place);
    // Without a slash a word is a file only if there is one.
    const bool file =
        node != nullptr ? node->type != Type::kDirectory : word.find('/') != std::string::npos;
    if (!place.empty() && file) places_.emplace(AsciiLower(place), false);
  }
}

Protection NamedByGit::ProtectionOf(std::string_view path, bool directory) const {
  const std::string lower = AsciiLower(path);
  for (const auto& [place, below] : places_) {
    // A file or link in the place of a directory above takes the name away.
    const bool above = !directory && LiesIn(place, lower);
    const bool named = above || (below ? LiesIn(lower, place) : lower == place);
    if (named) return {std::string(path.substr(0, place.size())), kNamed};
  }
  return {};
}

}  // namespace igloo::service::changes
