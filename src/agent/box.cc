#include "agent/box.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "agent/machine.h"
#include "agent/managed.h"
#include "agent/notice.h"
#include "agent/shown_places.h"
#include "base/text.h"
#include "network/secret.h"
#include "sandbox/entry.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

using sandbox::Access;

/// Of the caller's, for every agent.
constexpr std::array<std::string_view, 5> kPassed = {"EDITOR", "LANG", "LC_ALL", "COLORTERM", "TZ"};
/// Likewise, with the file that they name: an authority of the user's company, say.
constexpr std::array<std::string_view, 2> kCertificates = {"NIX_SSL_CERT_FILE", "SSL_CERT_FILE"};

/// What an agent's home and /tmp hold, in memory.
constexpr environment::Room kRoom = {.disk_bytes = 1ULL << 30, .disk_files = 262'144};
constexpr std::uint64_t kOpenFiles = 16'384;

bool IsDirectory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsThere(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Host trees that an environment shows at their own paths.
std::vector<std::string> ShownTrees(const environment::Environment& environment) {
  std::vector<std::string> shown;
  for (const sandbox::Entry& entry : environment.contents) {
    const auto* tree = std::get_if<sandbox::HostTree>(&entry);
    if (tree != nullptr && tree->source == tree->target) shown.push_back(tree->source);
  }
  return shown;
}

class Composer {
 public:
  Composer(const BoxRequest& request, const Owner& owner,
           const environment::Environment& environment, const Lookup& lookup)
      : request_(request), owner_(owner), environment_(environment), lookup_(lookup) {}

  Result<Box> Compose() {
    box_.name = request_.name;
    box_.profile = request_.profile;
    box_.project = request_.project;
    box_.changes = request_.changes;
    box_.home = owner_.home;
    box_.network = request_.network;
    box_.grants = request_.grants;
    box_.notice = request_.notice;
    box_.memory_bytes = UsualMemory();
    box_.processes = UsualProcesses();
    box_.millicpus = UsualMillicpus();
    IGLOO_TRY(FindProgram());
    IGLOO_TRY(AddProject());
    IGLOO_TRY(AddOwnDirectories());
    IGLOO_TRY(AddHomeDirectories());
    AddGivenTrees();
    AddVariables();
    AddArguments();
    AddFiles();
    if (profile() != nullptr) IGLOO_TRY(AddManagedSettings(*profile(), owner_, box_));
    return std::move(box_);
  }

 private:
  const Profile* profile() const { return request_.profile; }

  Result<void> FindProgram() {
    const std::string name =
        !request_.program.empty() ? request_.program : std::string(profile()->program);
    const ProgramSearch search{
        .path = owner_.path, .home = owner_.home, .shown = ShownTrees(environment_)};
    IGLOO_ASSIGN(box_.program,
                 ResolveProgram(name, search, profile() ? profile()->install : "", TheHost()));
    box_.title = profile() != nullptr ? std::string(profile()->title) : name;
    if (request_.beside_agent) AddProfilesProgram(search);
    for (const ProgramTree& tree : box_.program.trees) {
      AddMount(tree.path, Access::kReadOnly, tree.reason);
    }
    return {};
  }

  /// The agent itself can be started by hand in a box that runs a shell, if it is installed.
  void AddProfilesProgram(const ProgramSearch& search) {
    const auto found = ResolveProgram(profile()->program, search, "", TheHost());
    if (found) AddNeeds(*found, box_.program);
  }

  Result<void> AddProject() {
    IGLOO_ASSIGN(box_.work_tree, environment::FindWorkTree(request_.project));
    box_.identity = ReadGitIdentity(owner_.home);
    const GitIdentity& fallback = request_.fallback_identity;
    if (box_.identity.name.empty()) box_.identity.name = fallback.name;
    if (box_.identity.email.empty()) box_.identity.email = fallback.email;
    box_.committer = IdentityIn(box_.work_tree, box_.identity);
    // Of a copy nothing reaches the host's git before a person applies it.
    if (!request_.changes.empty()) {
      if (box_.work_tree.elsewhere) {
        box_.repository = environment::Repository{.path = box_.work_tree.common,
                                                  .changes = request_.repository_changes};
      }
      return HideSecrets();
    }
    for (sandbox::Entry& entry : GuardWorkTree(request_.project, box_.work_tree, owner_.home)) {
      const auto& tree = std::get<sandbox::HostTree>(entry);
      const bool guard = tree.access == Access::kReadOnly;
      if (IsThere(tree.source)) box_.mounts.push_back({std::move(entry), ReasonOf(tree, guard)});
    }
    IGLOO_TRY(HideSecrets());
    if (!box_.work_tree.common.empty() && !IsThere(box_.work_tree.common + "/hooks")) {
      box_.remarks.emplace_back(
          "the repository has no directory 'hooks': what the agent puts there is taken away when "
          "it ends; until then your git would run it");
    }
    return {};
  }

  std::string ReasonOf(const sandbox::HostTree& tree, bool guard) const {
    if (!guard) return tree.target == box_.work_tree.common ? "the repository" : "part of it";
    return IsDirectory(tree.source) && !tree.target.ends_with("/hooks")
               ? "another work tree of the repository"
               : "your git runs what it names";
  }

  /// What is hidden in the repository is hidden in the mount of its own that it lies in. A
  /// configuration without credentials takes the place of the one that is shown read-only.
  Result<void> HideSecrets() {
    IGLOO_ASSIGN(box_.hidden, environment::FindHidden(request_.project, request_.hide));
    if (box_.work_tree.common.empty()) return {};
    if (!box_.work_tree.elsewhere) {
      MoveIntoMounts(request_.project, box_.hidden);
      return {};
    }
    IGLOO_ASSIGN(
        std::vector<sandbox::Hidden> all,
        environment::FindHidden(box_.work_tree.common, environment::InRepository(request_.hide)));
    if (box_.repository) {
      box_.repository->hidden = std::move(all);
    } else {
      MoveIntoMounts(box_.work_tree.common, all);
    }
    return {};
  }

  /// Takes out of `all`, whose paths lie in `top`, what lies in mounts beneath it, and hides it
  /// there.
  void MoveIntoMounts(const std::string& top, std::vector<sandbox::Hidden>& all) {
    const auto take = [&](sandbox::Hidden& each) {
      const std::string path = top + "/" + each.path;
      // The cover of a file takes the place of the mount of it.
      std::erase_if(box_.mounts,
                    [&](const Mount& mount) { return sandbox::TargetOf(mount.entry) == path; });
      sandbox::HostTree* deepest = nullptr;
      for (Mount& mount : box_.mounts) {
        auto* tree = std::get_if<sandbox::HostTree>(&mount.entry);
        if (tree == nullptr || tree->target == path || !sandbox::IsWithin(path, tree->target) ||
            !sandbox::IsWithin(tree->target, box_.work_tree.common)) {
          continue;
        }
        if (deepest == nullptr || tree->target.size() > deepest->target.size()) deepest = tree;
      }
      if (deepest == nullptr) return false;
      each.path = path.substr(deepest->target.size() + 1);
      deepest->hidden.push_back(std::move(each));
      return true;
    };
    std::erase_if(all, take);
  }

  void AddMount(const std::string& path, Access access, std::string reason) {
    box_.mounts.push_back({sandbox::HostTree{.source = path,
                                             .target = path,
                                             .access = access,
                                             .links = sandbox::Links::kRefused,
                                             .map_owner = true,
                                             .covering = sandbox::Covering::kIntended},
                           std::move(reason)});
  }

  Result<void> CheckPlace(const std::string& path, const std::string& what) const {
    return CheckShown(
        path, {.home = owner_.home, .project = request_.project, .state = owner_.state}, what);
  }

  /// What the agent needs of the user's home, as far as it is there.
  Result<void> AddOwnDirectories() {
    if (profile() == nullptr) return {};
    for (const std::string_view each : profile()->home) {
      const std::string path = owner_.home + "/" + std::string(each);
      if (TheHost().real_path(path) != path || !IsDirectory(path)) continue;
      IGLOO_TRY(CheckPlace(
          path, "the configuration of '" + std::string(profile()->name) + "' cannot show"));
      AddMount(path, Access::kReadWrite, "named in your configuration");
    }
    return {};
  }

  Result<void> AddHomeDirectories() {
    for (const std::string& each : request_.home_directories) {
      const std::string path = owner_.home + "/" + each;
      // SECURITY: a link there could lead to what nobody named.
      const bool plain = TheHost().real_path(path) == path && path != owner_.home;
      if (!plain || !IsDirectory(path)) {
        return Fail(Errc::kInvalidArgument,
                    "'" + Printable(path) + "' is no directory below your home",
                    "name one without links in its path, relative to home: --home .cache/pip");
      }
      IGLOO_TRY(CheckPlace(path, "'--home' cannot show"));
      AddMount(path, Access::kReadWrite, "you named it (--home)");
    }
    return {};
  }

  void AddGivenTrees() {
    box_.own_trees = request_.own_trees;
    for (const OwnTree& each : request_.own_trees) {
      box_.mounts.push_back({sandbox::HostTree{.source = each.source,
                                               .target = each.target,
                                               .access = Access::kReadWrite,
                                               .links = sandbox::Links::kRefused,
                                               .map_owner = true,
                                               .covering = sandbox::Covering::kIntended},
                             each.reason});
    }
    box_.mounts.insert(box_.mounts.end(), request_.mounts.begin(), request_.mounts.end());
  }

  /// What is set later counts.
  void Set(std::string name, std::string value, Origin origin) {
    std::erase_if(box_.variables, [&](const Variable& each) { return each.name == name; });
    box_.variables.push_back({std::move(name), std::move(value), origin});
  }

  void Pass(std::string_view name, Origin origin) {
    if (auto value = lookup_(std::string(name)); value && !value->empty()) {
      Set(std::string(name), *std::move(value), origin);
    }
  }

  void PassCertificates(std::string_view name) {
    const std::string path = TheHost().real_path(lookup_(std::string(name)).value_or(""));
    if (path.empty() || IsDirectory(path)) return;
    const auto shows = [&](const std::string& tree) { return sandbox::IsWithin(path, tree); };
    const bool mounted = std::ranges::any_of(box_.mounts, [&](const Mount& each) {
      const auto* tree = std::get_if<sandbox::HostTree>(&each.entry);
      return tree != nullptr && shows(tree->target);
    });
    if (!mounted && !shows(request_.project) &&
        std::ranges::none_of(ShownTrees(environment_), shows)) {
      AddMount(path, Access::kReadOnly, "certificates that " + std::string(name) + " names");
    }
    Set(std::string(name), path, Origin::kCaller);
  }

  std::string PathInside() const {
    std::string path;
    const auto add = [&](const std::string& directory) {
      path += (path.empty() ? "" : ":") + directory;
    };
    for (const std::string& each : request_.path_directories) add(each);
    for (const std::string& each : box_.program.path_directories) add(each);
    const auto own = environment_.variables.find("PATH");
    add(own != environment_.variables.end() ? own->second : "/usr/local/bin:/usr/bin:/bin");
    for (const std::string& each : request_.late_directories) add(each);
    return path;
  }

  void AddVariables() {
    Set("PATH", PathInside(), Origin::kIgloo);
    Set("SHELL", "/bin/bash", Origin::kIgloo);
    Set("XDG_RUNTIME_DIR", "/tmp", Origin::kIgloo);
    Set("IGLOO_BOX", box_.name, Origin::kIgloo);
    for (const std::string_view name : kPassed) Pass(name, Origin::kCaller);
    for (const std::string_view name : kCertificates) PassCertificates(name);
    if (profile() != nullptr) {
      for (const SetVariable& each : profile()->set) {
        Set(std::string(each.name), Expanded(each.value), Origin::kProfile);
      }
      for (const std::string_view name : profile()->variables) Pass(name, Origin::kCaller);
    }
    for (const std::string& name : request_.key_variables) Pass(name, Origin::kCaller);
    for (const std::string& name : request_.extra_variables) Pass(name, Origin::kNamed);
    for (const Variable& each : request_.set_variables) Set(each.name, each.value, each.origin);
  }

  void AddArguments() {
    box_.argv.push_back(box_.program.path);
    if (profile() != nullptr && !request_.beside_agent) {
      for (const std::string_view word : profile()->arguments) {
        box_.argv.push_back(Expanded(word));
      }
    }
    box_.argv.insert(box_.argv.end(), request_.arguments.begin(), request_.arguments.end());
  }

  void AddFiles() {
    box_.files = request_.files;
    if (profile() == nullptr) return;
    for (const WrittenFile& each : profile()->files) {
      box_.files.push_back({std::string(each.path), Expanded(each.text)});
    }
  }

  std::string Expanded(std::string_view text) const {
    std::string expanded(text);
    network::ReplaceAll(expanded, "{home}", box_.home);
    network::ReplaceAll(expanded, "{git-name}", box_.committer.name);
    network::ReplaceAll(expanded, "{git-email}", box_.committer.email);
    network::ReplaceAll(expanded, "{notice}", kNoticePath);
    network::ReplaceAll(expanded, "{notice-text}", NoticeText(box_));
    return expanded;
  }

  const BoxRequest& request_;
  const Owner& owner_;
  const environment::Environment& environment_;
  const Lookup& lookup_;
  Box box_ = {};
};

}  // namespace

Result<Box> ComposeBox(const BoxRequest& request, const Owner& owner,
                       const environment::Environment& environment, const Lookup& lookup) {
  return Composer(request, owner, environment, lookup).Compose();
}

namespace {

/// Each directory with files of igloo's is a read-only one in memory.
void AddWrittenFiles(const Box& box, sandbox::Policy& policy) {
  std::vector<File> files = box.files;
  files.push_back({std::string(kNoticePath), NoticeText(box)});
  std::set<std::string> directories;
  for (File& each : files) {
    const std::string directory = each.path.substr(0, each.path.rfind('/'));
    if (directories.insert(directory).second) {
      policy.run.emplace_back(sandbox::MemoryTree{.target = directory,
                                                  .capacity = {.bytes = 1U << 20},
                                                  .access = sandbox::Access::kReadOnly});
    }
    policy.run.emplace_back(
        sandbox::TextFile{.path = std::move(each.path), .content = std::move(each.text)});
  }
}

}  // namespace

Result<sandbox::Policy> PolicyForBox(const Box& box, const environment::Environment& environment,
                                     environment::RunRequest request) {
  environment::Environment root = environment;
  root.room = kRoom;
  root.limits.time_ms = 0;
  root.limits.cpu_seconds = 0;
  root.limits.memory_bytes = box.memory_bytes;
  root.limits.processes = box.processes;
  root.limits.millicpus = box.millicpus;
  root.limits.open_files = kOpenFiles;
  root.limits.file_bytes = 0;
  request.what = environment::Program{box.argv};
  request.project =
      environment::Project{.path = box.project,
                           .mode = box.changes.empty() ? environment::ProjectMode::kReadWrite
                                                       : environment::ProjectMode::kOverlay,
                           .mount_point = box.project,
                           .hidden = box.hidden,
                           .changes = box.changes,
                           .repository = box.repository};
  for (const Variable& each : box.variables) {
    // What the network sets (proxies, placeholders) is there already and stays.
    request.variables.emplace(each.name, each.value);
  }
  IGLOO_ASSIGN(sandbox::Policy policy, environment::PolicyForRun(root, request));
  policy.cwd = box.project;
  policy.variables["PWD"] = box.project;
  const bool own_home = !box.home_source.empty();
  if (own_home) {
    policy.run.emplace_back(sandbox::HostTree{.source = box.home_source,
                                              .target = box.home,
                                              .access = sandbox::Access::kReadWrite,
                                              .map_owner = true,
                                              .covering = sandbox::Covering::kIntended});
  }
  // Memory is not shown where a directory of the host's takes its place.
  std::erase_if(policy.run, [&](const sandbox::Entry& entry) {
    const bool memory = std::holds_alternative<sandbox::MemoryTree>(entry);
    return memory && std::ranges::any_of(box.own_trees, [&](const OwnTree& each) {
             return each.target == sandbox::TargetOf(entry);
           });
  });
  // What is no mount and lies in a directory of igloo's on the host was put there (FillHome).
  const auto is_there = [&](const std::string& path) {
    return (own_home && sandbox::IsWithin(path, box.home)) ||
           std::ranges::any_of(box.own_trees, [&](const OwnTree& each) {
             return sandbox::IsWithin(path, each.target);
           });
  };
  for (const Mount& mount : box.mounts) {
    const bool made = !sandbox::IsMount(mount.entry) && is_there(sandbox::TargetOf(mount.entry));
    if (!made) policy.run.push_back(mount.entry);
  }
  for (const ProgramLink& link : box.program.links) {
    if (is_there(link.path)) continue;
    policy.run.emplace_back(sandbox::Link{.path = link.path, .points_to = link.points_to});
  }
  const std::string git_config = box.home + "/.gitconfig";
  const bool has_own = std::ranges::any_of(
      box.mounts, [&](const Mount& each) { return sandbox::TargetOf(each.entry) == git_config; });
  if (!own_home && !has_own) {
    policy.run.emplace_back(
        sandbox::TextFile{.path = git_config,
                          .content = GitConfigText(box.identity) + box.git_settings,
                          .mode = 0644});
  }
  AddWrittenFiles(box, policy);
  return policy;
}

}  // namespace igloo::agent
