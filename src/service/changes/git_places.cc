#include "service/changes/git_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {
namespace {

/// Directories of a repository in which git makes files when commits arrive. Those above come
/// first.
constexpr auto kPlaces = std::to_array<const char*>({
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "refs/heads",
    "refs/heads/igloo",
    "logs",
    "logs/refs",
    "logs/refs/heads",
    "logs/refs/heads/igloo",
    "reftable",
});

constexpr const char* kHint =
    "look at who made it; files can be applied without the commits by their names: igloo apply "
    "NAME PATH";

std::unexpected<Error> Refused(const std::string& place, const std::string& why) {
  return Fail(Errc::kFailedPrecondition, "git cannot work in '" + Printable(place) + "': " + why,
              kHint);
}

std::string UserText(uid_t user) { return "it belongs to user " + std::to_string(user); }

/// SECURITY: whoever owns a directory above can put another repository of root's in the place of
/// this one at any moment.
Result<void> CheckAbove(const std::string& path) {
  // Whom this namespace has no number for, and who is root outside of it.
  constexpr uid_t kUnmapped = 65534;
  for (std::filesystem::path place = path; place.has_relative_path();) {
    place = place.parent_path();
    struct stat info{};
    if (::stat(place.c_str(), &info) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot look at '" + Printable(place.string()) + "'");
    }
    const bool roots = info.st_uid == 0 || info.st_uid == kUnmapped;
    if (!roots) return Refused(place, UserText(info.st_uid) + ", who could exchange what is in it");
  }
  return {};
}

/// Nothing: there is no such name.
Result<std::optional<struct stat>> Look(int repository, const std::string& path,
                                        const std::string& name) {
  const UniqueFd found = OpenBeneath(repository, name, O_PATH);
  struct stat info{};
  if (found && ::fstat(found.get(), &info) == 0) return info;
  const int saved_errno = errno;
  // With reftables, refs/heads is a file.
  if (saved_errno == ENOENT || saved_errno == ENOTDIR) return std::nullopt;
  return FailSys(saved_errno, "cannot look at '" + Printable(path + "/" + name) + "'");
}

}  // namespace

Result<void> CheckGitPlaces(int repository, const std::string& path, const ActingUser& user) {
  const uid_t acting = user.other() ? user.user() : ::geteuid();
  struct stat own{};
  if (::fstat(repository, &own) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + Printable(path) + "'");
  }
  // SECURITY: git obeys a repository's configuration. Git itself asks who owns it, but not where it
  // is told the directory, as here.
  if (own.st_uid != acting) return Refused(path, UserText(own.st_uid));
  if (acting == 0) IGLOO_TRY(CheckAbove(path));
  IGLOO_ASSIGN(const auto elsewhere, Look(repository, path, "commondir"));
  if (elsewhere) return Refused(path + "/commondir", "it leads git to another repository");
  for (const char* name : kPlaces) {
    IGLOO_ASSIGN(const auto info, Look(repository, path, name));
    if (!info) continue;
    const std::string place = path + "/" + name;
    if (S_ISLNK(info->st_mode)) return Refused(place, "it is a link");
    // As anybody else git can do no more than the owner of the repository.
    if (acting == 0 && info->st_uid != 0) return Refused(place, UserText(info->st_uid));
  }
  return {};
}

Result<void> CheckGitBranch(int repository, const std::string& path, const std::string& branch) {
  for (const char* above : {"refs/heads/", "logs/refs/heads/"}) {
    const std::string name = above + branch;
    IGLOO_ASSIGN(const auto info, Look(repository, path, name));
    // A log may be left of a branch that was there once.
    const bool log = info && S_ISREG(info->st_mode) && info->st_nlink == 1;
    if (!info || (above[0] == 'l' && log)) continue;
    if (S_ISLNK(info->st_mode)) return Refused(path + "/" + name, "it is a link");
    return Fail(Errc::kFailedPrecondition, "there is a branch '" + branch + "' already",
                "git branch -m " + branch + " ANOTHER-NAME");
  }
  return {};
}

}  // namespace igloo::service::changes
