#include "agent/state/conversations.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "agent/state/projects.h"
#include "base/private_directory.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;

bool IsDirectory(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<void> Remove(const std::string& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  if (failure) return FailSys(failure.value(), "cannot remove '" + Printable(path) + "'");
  return {};
}

/// Moves a file or a directory to a name that is free. Never over what is there: the user's counts.
Result<void> MoveTo(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return {};
  const int saved_errno = errno;
  if (saved_errno != EXDEV) {
    return FailSys(saved_errno, "cannot move '" + Printable(from) + "' to '" + Printable(to) + "'");
  }
  // Between file systems: whole or not at all, under another name first.
  const std::string made = to + ".igloo-new";
  std::error_code failure;
  fs::remove_all(made, failure);
  fs::copy(from, made, fs::copy_options::recursive | fs::copy_options::copy_symlinks, failure);
  if (failure) return FailSys(failure.value(), "cannot copy '" + Printable(from) + "'");
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    const int rename_errno = errno;
    IGLOO_TRY(Remove(made));
    if (rename_errno != EEXIST) return FailSys(rename_errno, "cannot make '" + Printable(to) + "'");
  }
  return Remove(from);
}

/// What is in `waiting` becomes what is in `own`.
Result<void> MoveAll(const std::string& waiting, const std::string& own) {
  std::error_code failure;
  if (fs::is_empty(waiting, failure) || failure) return {};
  IGLOO_TRY(MakeMissingDirectories(own.substr(0, own.rfind('/'))));
  if (!IsDirectory(own)) return MoveTo(waiting, own);
  for (const auto& entry : fs::directory_iterator(waiting, failure)) {
    IGLOO_TRY(MoveTo(entry.path().string(), own + "/" + entry.path().filename().string()));
  }
  return {};
}

}  // namespace

Result<Conversations> Conversations::Open(const std::string& home, const std::string& project,
                                          const std::string& waiting) {
  Conversations made;
  made.path_ = ".claude/projects/" + ClaudeProjectName(project);
  made.own_ = home + "/" + made.path_;
  IGLOO_ASSIGN(const UniqueFd directory, OpenPrivateDirectory(waiting, OwnLevels::kTwo));
  made.source_ = waiting + "/" + ProjectKey(project);
  const std::string lock = made.source_ + ".lock";
  made.lock_.Reset(::open(lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made.lock_) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make '" + Printable(lock) + "'");
  }
  // Whoever holds it alone is finishing, which takes moments.
  const bool alone = ::flock(made.lock_.get(), LOCK_EX | LOCK_NB) == 0;
  if (alone && IsDirectory(made.source_)) IGLOO_TRY(MoveAll(made.source_, made.own_));
  (void)::flock(made.lock_.get(), LOCK_SH);
  if (IsDirectory(made.own_) && (alone || !IsDirectory(made.source_))) {
    made.source_ = made.own_;
    made.lock_.Reset();
    return made;
  }
  IGLOO_TRY(MakeMissingDirectories(made.source_));
  return made;
}

Result<void> Conversations::Publish() {
  if (!lock_) return {};
  const bool last = ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
  auto moved = last ? MoveAll(source_, own_) : Result<void>();
  // Empty, or what the user has another version of.
  std::error_code ignored;
  if (last && fs::is_empty(source_, ignored)) fs::remove(source_, ignored);
  lock_.Reset();
  return moved;
}

}  // namespace igloo::agent
