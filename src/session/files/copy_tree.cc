#include "session/files/copy_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "session/files/run_as.h"
#include "session/files/workspace.h"

namespace igloo::session {
namespace {

constexpr std::size_t kMostEntries = 200'000, kDeepest = 100;

struct Directory {
  UniqueFd from = {}, to = {};
  std::size_t depth = 0;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

std::unexpected<Error> Cannot(int saved_errno) {
  return FailSys(saved_errno, "cannot copy the files of the session",
                 "let its code remove some of them first");
}

class Copier {
 public:
  Result<CopiedTree> Run(int from, int to) {
    to_root_ = to;
    todo_.push_back({OpenBelow(from, ".", O_RDONLY | O_DIRECTORY),
                     OpenBelow(to, ".", O_RDONLY | O_DIRECTORY), 0});
    if (!todo_.back().from || !todo_.back().to) return Cannot(errno);
    while (!todo_.empty()) {
      const Directory here = std::move(todo_.back());
      todo_.pop_back();
      IGLOO_TRY(CopyDirectory(here));
    }
    return copied_;
  }

 private:
  Result<void> CopyDirectory(const Directory& here) {
    const int listed = ::fcntl(here.from.get(), F_DUPFD_CLOEXEC, 0);
    const std::unique_ptr<DIR, CloseDirectory> list(listed < 0 ? nullptr : ::fdopendir(listed));
    if (list == nullptr) return Cannot(errno);
    while (const dirent* entry = ::readdir(list.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++seen_ > kMostEntries || here.depth > kDeepest) return Cannot(E2BIG);
      IGLOO_TRY(CopyEntry(here, name.c_str()));
    }
    return {};
  }

  Result<void> CopyEntry(const Directory& here, const char* name) {
    struct stat info{};
    if (::fstatat(here.from.get(), name, &info, AT_SYMLINK_NOFOLLOW) != 0) return LeaveOut();
    if (S_ISDIR(info.st_mode)) return CopyBelow(here, name, info);
    if (S_ISLNK(info.st_mode)) return CopyLink(here, name);
    return S_ISREG(info.st_mode) ? CopyFile(here, name) : LeaveOut();
  }

  Result<void> LeaveOut() {
    ++copied_.left_out;
    return {};
  }

  Result<void> CopyBelow(const Directory& here, const char* name, const struct stat& info) {
    UniqueFd from = OpenBelow(here.from.get(), name, O_RDONLY | O_DIRECTORY);
    if (!from) return LeaveOut();
    IGLOO_ASSIGN(const auto acting, RunAs::OwnerOf(to_root_));
    // Its owner must be able to fill it; a directory that nobody may write to is one of the code's.
    if (::mkdirat(here.to.get(), name, (info.st_mode & 0777) | 0700) != 0) return Cannot(errno);
    UniqueFd to = OpenBelow(here.to.get(), name, O_RDONLY | O_DIRECTORY);
    if (!to) return Cannot(errno);
    todo_.push_back({std::move(from), std::move(to), here.depth + 1});
    return {};
  }

  Result<void> CopyLink(const Directory& here, const char* name) {
    char target[PATH_MAX] = {};
    const ssize_t size = ::readlinkat(here.from.get(), name, target, sizeof target - 1);
    if (size <= 0) return LeaveOut();
    IGLOO_ASSIGN(const auto acting, RunAs::OwnerOf(to_root_));
    if (::symlinkat(target, here.to.get(), name) != 0) return Cannot(errno);
    return {};
  }

  Result<void> CopyFile(const Directory& here, const char* name) {
    const UniqueFd from = OpenBelow(here.from.get(), name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat info{};
    if (!from || ::fstat(from.get(), &info) != 0 || !S_ISREG(info.st_mode)) return LeaveOut();
    IGLOO_ASSIGN(const auto acting, RunAs::OwnerOf(to_root_));
    const UniqueFd to = OpenBelow(here.to.get(), name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!to) return Cannot(errno);
    // No further than it reached when it was looked at: one that grows must not be followed.
    // Holes stay holes.
    for (off_t at = 0; (at = ::lseek(from.get(), at, SEEK_DATA)) >= 0 && at < info.st_size;) {
      const off_t hole = std::min(::lseek(from.get(), at, SEEK_HOLE), info.st_size);
      if (::lseek(to.get(), at, SEEK_SET) < 0) return Cannot(errno);
      while (at < hole) {
        const ssize_t count =
            ::sendfile(to.get(), from.get(), &at, static_cast<std::size_t>(hole - at));
        if (count < 0) return Cannot(errno);
        if (count == 0) break;
      }
      if (at < hole) break;  // it has shrunk meanwhile
    }
    if (::ftruncate(to.get(), info.st_size) != 0) return Cannot(errno);
    const timespec times[2] = {info.st_atim, info.st_mtim};
    if (::fchmod(to.get(), info.st_mode & 0777) != 0 || ::futimens(to.get(), times) != 0) {
      return Cannot(errno);
    }
    ++copied_.files;
    return {};
  }

  int to_root_ = -1;
  std::vector<Directory> todo_ = {};
  std::size_t seen_ = 0;
  CopiedTree copied_ = {};
};

}  // namespace

Result<CopiedTree> CopyTree(int from, int to) { return Copier().Run(from, to); }

}  // namespace igloo::session
