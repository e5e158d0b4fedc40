#include "base/private_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace igloo {
namespace {

constexpr mode_t kPrivate = S_IRWXU;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string ParentOf(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  if (slash == std::string::npos) return path.starts_with('/') ? "/" : ".";
  const std::size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

std::unexpected<Error> Refuse(const std::string& path, const std::string& why, std::string hint) {
  return Fail(Errc::kPermissionDenied, "igloo does not use '" + Printable(path) + "': " + why,
              std::move(hint));
}

/// SECURITY: in a directory that all may write to, such as /tmp, anybody can place a link.
Result<void> CheckLink(const std::string& path) {
  struct stat info{};
  const bool link = ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (!link || info.st_uid == ::geteuid() || info.st_uid == 0) return {};
  return Refuse(path, "it is a link that another user made", "remove the link");
}

Result<UniqueFd> OpenOwn(const std::string& path) {
  IGLOO_TRY(CheckLink(path));
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open the directory '" + Printable(path) + "'",
                   saved_errno == EACCES ? "if it is yours: chmod 700 " + ShellQuote(path) : "");
  }
  if (info.st_uid != ::geteuid()) {
    return Refuse(path, "another user (" + std::to_string(info.st_uid) + ") owns it",
                  "move it away, and igloo makes a new one; or set HOME and the XDG_ variables "
                  "to directories of your own");
  }
  if ((info.st_mode & kOthersWrite) != 0) {
    return Refuse(path, "other users may write to it",
                  "look at what is in it, then: chmod 700 " + ShellQuote(path));
  }
  // SECURITY: whoever may open it could lock it or read names in it.
  if ((info.st_mode & 07777U) != kPrivate && ::fchmod(fd.get(), kPrivate) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot close '" + Printable(path) + "' to other users",
                   "use a file system that keeps modes");
  }
  return fd;
}

/// LOCK_NB or 0
Result<UniqueFd> Lock(const std::string& path, int wait) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  UniqueFd fd(::open(path.c_str(), kFlags, S_IRUSR | S_IWUSR));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open the lock file '" + Printable(path) + "'");
  }
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & kOthers) != 0) {
    return Refuse(path, "other users can open this lock file", "remove it");
  }
  int status = 0;
  do status = ::flock(fd.get(), LOCK_EX | wait);
  while (status != 0 && errno == EINTR);
  if (status == 0) return fd;
  const int saved_errno = errno;
  if (saved_errno != EWOULDBLOCK) {
    return FailSys(saved_errno, "cannot lock '" + Printable(path) + "'");
  }
  return Fail(Errc::kFailedPrecondition, "another process has locked '" + Printable(path) + "'",
              "wait for the other igloo; end it if it is stopped");
}

}  // namespace

Result<void> MakeMissingDirectories(const std::string& path) {
  if (::mkdir(path.c_str(), kPrivate) != 0) {
    int saved_errno = errno;
    if (saved_errno == EEXIST) return {};
    const std::string parent = ParentOf(path);
    if (saved_errno == ENOENT && parent != path) {
      IGLOO_TRY(MakeMissingDirectories(parent));
      saved_errno = ::mkdir(path.c_str(), kPrivate) == 0 ? 0 : errno;
      if (saved_errno == EEXIST) return {};
    }
    if (saved_errno != 0) {
      return FailSys(saved_errno, "cannot make '" + Printable(path) + "'");
    }
  }
  // A umask can take bits from its owner, too.
  if (::fchmodat(AT_FDCWD, path.c_str(), kPrivate, AT_SYMLINK_NOFOLLOW) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot set the mode of '" + Printable(path) + "'");
}

Result<UniqueFd> OpenPrivateDirectory(const std::string& path, OwnLevels own) {
  IGLOO_TRY(MakeMissingDirectories(path));
  if (own == OwnLevels::kTwo) IGLOO_TRY(OpenOwn(ParentOf(path)));
  return OpenOwn(path);
}

Result<UniqueFd> LockPrivateFile(const std::string& path) { return Lock(path, LOCK_NB); }
Result<UniqueFd> WaitForPrivateLock(const std::string& path) { return Lock(path, 0); }

}  // namespace igloo
