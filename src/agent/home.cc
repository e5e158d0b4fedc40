#include "agent/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "agent/state/projects.h"
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
  if (std::holds_alternative<sandbox::HostNode>(entry)) return MakeFile(path);
  const auto* tree = std::get_if<sandbox::HostTree>(&entry);
  struct stat info{};
  const bool file =
      tree != nullptr && ::stat(tree->source.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
  return file ? MakeFile(path) : MakeDirectories(path);
}

}  // namespace

Result<History> OpenHistory(const Profile& profile, const std::string& place,
                            const std::string& home, const std::string& project) {
  IGLOO_ASSIGN(const ProjectRoot root, FindProjectRoot(project));
  History history{.path = std::string(profile.history)};
  const std::string mine = place + "/" + std::string(profile.name);
  IGLOO_TRY(MakeDirectories(mine));
  const bool fresh = !IsDirectory(mine + "/" + ProjectKey(root.path));
  IGLOO_ASSIGN(history.source, OpenProjectHistory(mine, root.path));
  history.lock = OpenDirectory(history.source);
  if (!history.lock || ::flock(history.lock.get(), LOCK_SH | LOCK_NB) != 0) {
    return Fail(Errc::kFailedPrecondition, "the conversations of this project are being removed",
                "try again: 'igloo agent gc' runs at this moment");
  }
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
                                 const std::string& home, const std::optional<History>& history) {
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
    const bool shared = rule.handing == Handing::kShared;
    const auto path = OneDirectory(rule.path);
    if ((!shared && rule.handing != Handing::kSeen) || !path) continue;
    if (history && *path == history->path) continue;
    std::string source = HostPathOf(order, *path + "/");
    if (source.ends_with('/')) source.pop_back();
    if (!IsDirectory(source)) continue;
    add(source, *path, shared ? sandbox::Access::kReadWrite : sandbox::Access::kReadOnly, rule.why);
  }
  if (history) {
    add(history->source, history->path, sandbox::Access::kReadWrite,
        "conversations of this project");
  }
  return mounts;
}

Result<void> FillHome(const std::string& directory, const Box& box) {
  const auto inside = [&](const std::string& target) -> std::optional<std::string> {
    if (!sandbox::IsWithin(target, box.home) || target == box.home) return std::nullopt;
    return directory + target.substr(box.home.size());
  };
  IGLOO_TRY(ReplaceFile(directory + "/.gitconfig", GitConfigText(box.identity) + box.git_settings,
                        {.mode = 0644}, Sync::kNo));
  for (const Mount& mount : box.mounts) {
    const auto place = inside(sandbox::TargetOf(mount.entry));
    if (!place) continue;
    IGLOO_TRY(MakePlace(*place, mount.entry));
  }
  if (const auto place = inside(box.project)) IGLOO_TRY(MakeDirectories(*place));
  if (box.repository) {
    if (const auto place = inside(box.repository->path)) IGLOO_TRY(MakeDirectories(*place));
  }
  for (const ProgramLink& link : box.program.links) {
    const auto place = inside(link.path);
    if (!place) continue;
    IGLOO_TRY(MakeDirectories(fs::path(*place).parent_path().string()));
    std::error_code ignored;
    fs::create_symlink(link.points_to, *place, ignored);
  }
  return {};
}

}  // namespace igloo::agent
