#include "audit/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/private_directory.h"
#include "base/text.h"

namespace igloo::audit {
namespace {

/// SECURITY: whoever may rename files there could put a file of their own in the log's place.
Result<void> MakeDirectory(const std::string& directory) {
  auto made = OpenPrivateDirectory(directory);
  if (made) return {};
  Error error = Wrap("there is no place for the audit log", std::move(made).error()).error();
  if (error.hint.empty()) error.hint = "let yourself write there, or set audit.enabled = false";
  return std::unexpected(std::move(error));
}

Result<struct stat> Look(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) == 0) return info;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot look at '" + path + "'");
}

/// SECURITY: who can write to the file could make it say anything, and a name that leads elsewhere
/// would have igloo append to some other file of the user's.
Result<void> CheckFile(int fd, const std::string& path) {
  IGLOO_ASSIGN(const struct stat info, Look(fd, path));
  if (!S_ISREG(info.st_mode)) {
    return Fail(Errc::kFailedPrecondition, "the audit log '" + path + "' is not a regular file",
                "move it away: igloo makes a new one");
  }
  if (info.st_nlink > 1) {
    return Fail(Errc::kPermissionDenied, "the audit log '" + path + "' has a second name",
                "move it away: igloo makes a new one");
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 022) != 0) {
    return Fail(Errc::kPermissionDenied, "the audit log '" + path + "' can be written by others",
                "move it away: igloo makes a new one");
  }
  return {};
}

}  // namespace

std::string JournalFile(const std::string& directory, unsigned age, std::string_view file) {
  return directory + "/" + std::string(file) + (age == 0 ? "" : "." + std::to_string(age));
}

Journal::Journal(JournalOptions options)
    : options_(std::move(options)), path_(JournalFile(options_.directory, 0, options_.file)) {
  options_.keep = std::clamp(options_.keep, 1U, kMostKept);
}

Result<void> Journal::Open() {
  // SECURITY: O_NOFOLLOW for the reason above; O_NONBLOCK, or a pipe with the file's name would
  // hold up every run.
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  UniqueFd file(::open(path_.c_str(), kFlags | O_CLOEXEC, 0600));
  if (!file) {
    const int saved_errno = errno;
    if (saved_errno == ELOOP) {
      return Fail(Errc::kPermissionDenied, "the audit log '" + path_ + "' is a symbolic link",
                  "move it away: igloo makes a new file");
    }
    return FailSys(saved_errno, "cannot open the audit log '" + path_ + "'",
                   "let yourself write there, or set audit.enabled = false");
  }
  IGLOO_TRY(CheckFile(file.get(), path_));
  file_ = std::move(file);
  return {};
}

Result<void> Journal::Follow() {
  if (file_) {
    struct stat named{};
    IGLOO_ASSIGN(const struct stat open, Look(file_.get(), path_));
    const bool same = ::lstat(path_.c_str(), &named) == 0 && named.st_dev == open.st_dev &&
                      named.st_ino == open.st_ino;
    if (same) return {};
    file_.Reset();
  }
  IGLOO_TRY(MakeDirectory(options_.directory));
  return Open();
}

Result<void> Journal::Rotate() {
  // Held by the open file, so it goes when this process does. Whoever else has it is rotating.
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat named{}, open{};
  // INVARIANT: only who has locked the file that has the name gives names away, and it gives that
  // one away last. Whoever waited in between finds another file behind the name.
  if (::lstat(path_.c_str(), &named) == 0 && ::fstat(file_.get(), &open) == 0 &&
      named.st_dev == open.st_dev && named.st_ino == open.st_ino) {
    const auto old = [&](unsigned age) {
      return JournalFile(options_.directory, age, options_.file);
    };
    // More were kept once, perhaps.
    for (unsigned age = options_.keep; age <= kMostKept; ++age) ::unlink(old(age).c_str());
    for (unsigned age = options_.keep; age > 0; --age) {
      if (::rename(old(age - 1).c_str(), old(age).c_str()) == 0 || errno == ENOENT) continue;
      const int saved_errno = errno;
      ::flock(file_.get(), LOCK_UN);
      return FailSys(saved_errno, "cannot rename '" + old(age - 1) + "'");
    }
  }
  file_.Reset();
  return Open();
}

Result<void> Journal::Append(std::string line) {
  IGLOO_ASSIGN(const struct stat info, Look(file_.get(), path_));
  char last = '\n';
  if (info.st_size > 0) (void)!::pread(file_.get(), &last, 1, info.st_size - 1);
  // Somebody's disk was full in the middle of a line: that line is lost, this one is not.
  if (last != '\n') line.insert(line.begin(), '\n');
  const ssize_t count = ::write(file_.get(), line.data(), line.size());
  if (count == static_cast<ssize_t>(line.size())) return {};
  const int saved_errno = count < 0 ? errno : ENOSPC;
  return FailSys(saved_errno, "cannot write to the audit log '" + path_ + "'",
                 saved_errno == ENOSPC || saved_errno == EDQUOT ? "free some space" : "");
}

Result<void> Journal::Write(Record record) {
  if (options_.code == KeepCode::kNo) record.code.reset();
  return WriteLine(Encode(record));
}

Result<void> Journal::WriteLine(std::string line) {
  if (options_.directory.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no place for the audit log: HOME is not set",
                "set HOME or XDG_STATE_HOME, or set audit.enabled = false");
  }
  IGLOO_TRY(Follow());
  IGLOO_ASSIGN(const struct stat info, Look(file_.get(), path_));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > 0 && size + line.size() > options_.rotate_bytes) {
    // A log that cannot be rotated grows; one that is not written would say less.
    const auto rotated = Rotate();
    if (!file_) return rotated;
    IGLOO_TRY(Append(std::move(line)));
    return rotated;
  }
  return Append(std::move(line));
}

}  // namespace igloo::audit
