#include "agent/git_guards.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "agent/git.h"
#include "agent/program.h"
#include "agent/state/flat_keys.h"
#include "base/file.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

using enum sandbox::Access;

constexpr std::size_t kMostText = 1U << 20;
/// Of submodules in submodules, and of names with slashes.
constexpr std::size_t kDeepestModule = 8;
/// Each guard is a mount.
constexpr std::size_t kMostGuards = 512;

mode_t TypeOf(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

std::string RealPath(const std::string& path) { return TheHost().real_path(path); }

std::vector<std::string> DirectoriesIn(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, decltype(&::closedir)> directory(::opendir(path.c_str()), &::closedir);
  while (directory) {
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && TypeOf(path + "/" + name) == S_IFDIR) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

class Guards {
 public:
  Guards(const std::string& project, const WorkTree& tree, const std::string& home)
      : project_(project), tree_(tree), home_(home) {}

  std::vector<sandbox::Entry> Make() {
    // A mount cannot be renamed: with the repository being one, nothing takes the guards' place.
    Add(tree_.common, kReadWrite);
    Add(tree_.common + "/hooks", kReadOnly);
    Add(tree_.common + "/config", kReadOnly);
    AddIfThere(tree_.common + "/config.worktree");
    WorkTrees();
    Modules(tree_.common + "/modules", 0);
    if (tree_.elsewhere) Add(project_ + "/.git", kReadOnly);
    for (const std::string& each : FilesLedTo(project_, tree_, home_).files) AddIfThere(each);
    return std::move(guards_);
  }

 private:
  void Add(const std::string& path, sandbox::Access access) {
    if (guards_.size() >= kMostGuards) return;
    guards_.push_back(sandbox::HostTree{.source = path,
                                        .target = path,
                                        .access = access,
                                        .presence = sandbox::Presence::kOptional,
                                        .links = sandbox::Links::kRefused,
                                        .map_owner = true,
                                        .covering = sandbox::Covering::kIntended});
  }
  void AddIfThere(const std::string& path) {
    if (TypeOf(path) == S_IFREG) Add(path, kReadOnly);
  }

  /// A linked work tree's directory says where git finds hooks and configuration (commondir). Of
  /// those that the box does not see, git inside would believe that they are gone, and prune them.
  void WorkTrees() {
    const std::string place = tree_.common + "/worktrees";
    const std::vector<std::string> names = DirectoriesIn(place);
    if (names.empty()) return;
    Add(place, kReadWrite);
    for (const std::string& name : names) {
      const std::string own = place + "/" + name;
      const bool used = own == tree_.git_directory || LiesInProject(own);
      Add(own, used ? kReadWrite : kReadOnly);
      if (!used) continue;
      for (const char* file : {"/commondir", "/gitdir", "/config.worktree"}) {
        AddIfThere(own + file);
      }
      Modules(own + "/modules", 0);
    }
  }

  bool LiesInProject(const std::string& linked) const {
    const auto line = ReadFile(linked + "/gitdir", 4096);
    if (!line) return false;
    const std::string named = line->substr(0, line->find('\n'));
    const std::string path = RealPath(named.starts_with('/') ? named : linked + "/" + named);
    return !path.empty() && sandbox::IsWithin(path, project_);
  }

  /// NOLINTNEXTLINE(misc-no-recursion)
  void Modules(const std::string& place, std::size_t depth) {
    const std::vector<std::string> names = DirectoriesIn(place);
    if (names.empty() || depth > kDeepestModule) return;
    Add(place, kReadWrite);
    for (const std::string& name : names) {
      const std::string own = place + "/" + name;
      if (TypeOf(own + "/HEAD") == 0) {
        Modules(own, depth + 1);
        continue;
      }
      Add(own, kReadWrite);
      for (const char* file : {"/config", "/config.worktree"}) AddIfThere(own + file);
      if (TypeOf(own + "/hooks") == S_IFDIR) Add(own + "/hooks", kReadOnly);
      Modules(own + "/modules", depth + 1);
    }
  }

  const std::string& project_;
  const WorkTree& tree_;
  const std::string& home_;
  std::vector<sandbox::Entry> guards_ = {};
};

}  // namespace

std::vector<sandbox::Entry> GuardWorkTree(const std::string& project, const WorkTree& tree,
                                          const std::string& home) {
  if (tree.common.empty()) return {};
  return Guards(project, tree, home).Make();
}

LedTo FilesLedTo(const std::string& project, const WorkTree& tree, const std::string& home) {
  LedTo led;
  if (tree.common.empty()) return led;
  const auto place = [&](const FlatKey& key, const std::string& from) {
    std::string value = key.value;
    if (value.starts_with('=')) value.erase(0, 1);
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    value = GitUnquoted(value);
    if (value.starts_with("~/")) value.replace(0, 1, home);
    if (value.empty() || value.starts_with('/')) return value;
    return from + "/" + value;
  };
  const auto take = [&](const std::string& config, const std::string& base) {
    const auto text = ReadFile(config, kMostText);
    if (!text) return;
    const auto keys = ReadFlatKeys(GitConfigRule(), *text);
    if (!keys) return;
    for (const FlatKey& key : *keys) {
      const bool includes = key.keys.front() == "include" || key.keys.front() == "includeif";
      if (includes && key.keys.back() == "path") {
        const std::string path = RealPath(place(key, base));
        if (sandbox::IsWithin(path, project)) led.files.push_back(path);
      }
      if (key.keys == std::vector<std::string>{"core", "hookspath"}) {
        const std::string path = RealPath(place(key, project));
        led.hooks = sandbox::IsWithin(path, project) ? path : "";
      }
    }
  };
  take(home + "/.config/git/config", home + "/.config/git");
  take(home + "/.gitconfig", home);
  take(tree.common + "/config", tree.common);
  return led;
}

}  // namespace igloo::agent
