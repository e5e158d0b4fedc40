#include "agent/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "agent/state/projects.h"
#include "base/open_beneath.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "sandbox/entry.h"
#include "sandbox/path.h"
#include "session/files/copy_tree.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;

bool IsDirectory(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// A directory without links in its last part, to read from or to copy into.
UniqueFd OpenDirectory(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Whether a pattern names one directory, and which.
std::optional<std::string> OneDirectory(std::string_view path) {
  if (!path.ends_with('/') || path.contains('*')) return std::nullopt;
  return std::string(path.substr(0, path.size() - 1));
}

Result<void> MakeDirectories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return FailSys(error.value(), "cannot make '" + Printable(path) + "'");
  return {};
}

/// A file, unless something is there.
Result<void> MakeFile(const std::string& path) {
  IGLOO_TRY(MakeDirectories(fs::path(path).parent_path().string()));
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot make '" + Printable(path) + "'");
}

/// Whether what is mounted needs a file to be mounted on.
bool IsFile(const sandbox::Entry& entry) {
  if (std::holds_alternative<sandbox::HostNode>(entry)) return true;
  const auto* tree = std::get_if<sandbox::HostTree>(&entry);
  struct stat info{};
  return tree != nullptr && ::stat(tree->source.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

/// The place of a mount, as what is mounted is; or what is no mount itself.
Result<void> MakePlace(const std::string& path, const sandbox::Entry& entry) {
  if (const auto* file = std::get_if<sandbox::TextFile>(&entry)) {
    IGLOO_TRY(MakeDirectories(fs::path(path).parent_path().string()));
    return ReplaceFile(path, file->content, {.mode = file->mode}, Sync::kNo);
  }
  if (const auto* link = std::get_if<sandbox::Link>(&entry)) {
    IGLOO_TRY(MakeDirectories(fs::path(path).parent_path().string()));
    std::error_code ignored;
    fs::create_symlink(link->points_to, path, ignored);
    return {};
  }
  if (const auto* directory = std::get_if<sandbox::EmptyDirectory>(&entry)) {
    IGLOO_TRY(MakeDirectories(path));
    ::chmod(path.c_str(), directory->mode);
    return {};
  }
  return IsFile(entry) ? MakeFile(path) : MakeDirectories(path);
}

/// A directory of a box's own that it may have filled with links: nothing is made through one.
/// `path` is below it.
Result<void> MakePlaceBeneath(const OwnTree& tree, std::string path, const sandbox::Entry& entry) {
  const auto fail = [&](int saved_errno) {
    return FailSys(saved_errno,
                   "cannot make a place for '" + Printable(sandbox::TargetOf(entry)) + "' in '" +
                       Printable(tree.source) + "'",
                   "the box's own programs may have put something else there: move it away");
  };
  UniqueFd directory = OpenDirectory(tree.source);
  const auto enter = [&](const std::string& name) {
    ::mkdirat(directory.get(), name.c_str(), 0755);
    UniqueFd next = OpenBeneath(directory.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    directory = std::move(next);
    return directory.get() >= 0;
  };
  if (!directory) return fail(errno);
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
    if (!enter(path.substr(0, slash))) return fail(errno);
    path.erase(0, slash + 1);
  }
  if (const auto* link = std::get_if<sandbox::Link>(&entry)) {
    // It may lead to a version of the program that is gone.
    ::unlinkat(directory.get(), path.c_str(), 0);
    const int made = ::symlinkat(link->points_to.c_str(), directory.get(), path.c_str());
    return made == 0 ? Result<void>() : fail(errno);
  }
  if (!IsFile(entry)) return enter(path) ? Result<void>() : fail(errno);
  const UniqueFd file = OpenBeneath(directory.get(), path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
  return file ? Result<void>() : fail(errno);
}

/// The innermost of igloo's own directories that a place lies in; null: none.
const OwnTree* HolderOf(const std::string& target, const OwnTree& home,
                        const std::vector<OwnTree>& trees) {
  const OwnTree* holder = nullptr;
  const auto look = [&](const OwnTree& tree) {
    if (target == tree.target || !sandbox::IsWithin(target, tree.target)) return;
    if (holder == nullptr || tree.target.size() > holder->target.size()) holder = &tree;
  };
  look(home);
  for (const OwnTree& tree : trees) look(tree);
  return holder;
}

}  // namespace

namespace {

Result<void> Hold(const std::string& place, const std::string& root, History& history) {
  IGLOO_TRY(MakeDirectories(place));
  IGLOO_ASSIGN(history.source, OpenProjectHistory(place, root));
  history.lock = OpenDirectory(history.source);
  if (history.lock && ::flock(history.lock.get(), LOCK_SH | LOCK_NB) == 0) return {};
  return Fail(Errc::kFailedPrecondition, "the conversations of this project are being removed",
              "try again: 'igloo agent gc' runs at this moment");
}

}  // namespace

Result<History> OpenSessions(const AgentFiles& files, const std::string& sessions,
                             const std::string& project) {
  IGLOO_ASSIGN(const ProjectRoot root, FindProjectRoot(project));
  History opened;
  IGLOO_TRY(Hold(sessions, root.path, opened));
  for (const FileRule& rule : files.files) {
    const auto path = OneDirectory(rule.path);
    if (rule.handing != Handing::kOfProject || !path) continue;
    IGLOO_TRY(MakeDirectories(opened.source + "/" + *path));
  }
  return opened;
}

Result<History> OpenHistory(const Profile& profile, const std::string& histories,
                            const std::string& home, const std::string& project) {
  IGLOO_ASSIGN(const ProjectRoot root, FindProjectRoot(project));
  History history{.path = std::string(profile.history)};
  const bool fresh = !IsDirectory(histories + "/" + ProjectKey(root.path));
  IGLOO_TRY(Hold(histories, root.path, history));
  const std::string name = ClaudeProjectName(project);
  const UniqueFd old = OpenDirectory(home + "/" + history.path + "/" + name);
  if (!fresh || !old) return history;
  const std::string seeded = history.source + "/" + name;
  IGLOO_TRY(MakeDirectories(seeded));
  const UniqueFd into = OpenDirectory(seeded);
  if (into) IGLOO_TRY(session::CopyTree(old.get(), into.get()));
  return history;
}

std::vector<Mount> MountsOfState(const AgentFiles& files, const BoxOrder& order,
                                 const std::string& home, const std::string& sessions,
                                 const std::optional<History>& history) {
  std::vector<Mount> mounts;
  const auto add = [&](const std::string& source, const std::string& path, sandbox::Access access,
                       std::string_view reason) {
    mounts.push_back({sandbox::HostTree{.source = source,
                                        .target = home + "/" + path,
                                        .access = access,
                                        .map_owner = true,
                                        .covering = sandbox::Covering::kIntended},
                      std::string(reason)});
  };
  for (const FileRule& rule : files.files) {
    const bool shared = rule.handing == Handing::kOfProject;
    const auto path = OneDirectory(rule.path);
    if ((!shared && rule.handing != Handing::kSeen) || !path) continue;
    // The conversations of all projects are not shown beside those of this one.
    if (history && sandbox::IsWithin(history->path, *path)) continue;
    std::string source = shared ? sessions + "/" + *path : HostPathOf(order, *path + "/");
    if (source.ends_with('/')) source.pop_back();
    if (!IsDirectory(source)) continue;
    add(source, *path, shared ? sandbox::Access::kReadWrite : sandbox::Access::kReadOnly, rule.why);
  }
  if (history && !history->source.empty()) {
    add(history->source, history->path, sandbox::Access::kReadWrite,
        "conversations of this project");
  }
  return mounts;
}

Result<void> FillHome(const std::string& directory, const Box& box) {
  const OwnTree home{.source = directory, .target = box.home};
  const auto put = [&](const sandbox::Entry& entry) -> Result<void> {
    const std::string target = sandbox::TargetOf(entry);
    const OwnTree* holder = HolderOf(target, home, box.own_trees);
    if (holder == nullptr) return {};
    const std::string path = target.substr(holder->target.size() + 1);
    return holder == &home ? MakePlace(directory + "/" + path, entry)
                           : MakePlaceBeneath(*holder, path, entry);
  };
  IGLOO_TRY(ReplaceFile(directory + "/.gitconfig", GitConfigText(box.identity) + box.git_settings,
                        {.mode = 0644}, Sync::kNo));
  IGLOO_TRY(put(sandbox::EmptyDirectory{.path = box.home, .mode = 0755}));
  for (const Mount& mount : box.mounts) IGLOO_TRY(put(mount.entry));
  IGLOO_TRY(put(sandbox::HostTree{.source = box.project, .target = box.project}));
  if (box.repository) {
    const std::string& repository = box.repository->path;
    IGLOO_TRY(put(sandbox::HostTree{.source = repository, .target = repository}));
  }
  for (const ProgramLink& link : box.program.links) {
    IGLOO_TRY(put(sandbox::Link{.path = link.path, .points_to = link.points_to}));
  }
  return {};
}

}  // namespace igloo::agent
