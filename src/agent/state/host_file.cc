#include "agent/state/host_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/open_beneath.h"
#include "base/private_directory.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kPrepared = ".igloo-new";

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string DirectoryOf(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

/// SECURITY: the path has no links when it comes from canonical(); one that appears afterwards is
/// not followed.
UniqueFd OpenDirectory(const std::string& path) {
  const UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return OpenBeneath(root.get(), path.substr(1), O_RDONLY | O_DIRECTORY);
}

/// Reads an open file of the user's.
Result<HostFile> ReadOpen(HostFile file, const UniqueFd& directory, const UniqueFd& fd,
                          std::size_t limit) {
  struct stat info{}, around{};
  if (::fstat(fd.get(), &info) != 0 || ::fstat(directory.get(), &around) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + Printable(file.path) + "'");
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(Errc::kFailedPrecondition, "'" + Printable(file.path) + "' is not a regular file");
  }
  // SECURITY: root reads for a user, and a link may lead to anybody's file.
  const uid_t me = ::geteuid();
  if (info.st_uid != me && (me != 0 || around.st_uid != info.st_uid)) {
    return Fail(Errc::kPermissionDenied, "another user (" + std::to_string(info.st_uid) +
                                             ") owns '" + Printable(file.path) + "'");
  }
  auto text = ReadAll(fd.get(), limit);
  if (!text) return Wrap("'" + Printable(file.path) + "'", std::move(text).error());
  file.text = *std::move(text);
  file.attributes = {.mode = info.st_mode & 07777U,
                     .owner = FileAttributes::Owner{info.st_uid, info.st_gid}};
  return file;
}

/// A new file belongs to whom its directory belongs: root may write for a user.
std::optional<FileAttributes::Owner> OwnerOf(int directory) {
  struct stat info{};
  if (::fstat(directory, &info) != 0) return std::nullopt;
  return FileAttributes::Owner{info.st_uid, info.st_gid};
}

/// Makes the prepared file, with its content on the disk.
Result<void> Prepare(int directory, const HostFile& file, std::string_view text) {
  const std::string name = PreparedName(NameOf(file.path));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd fd(::openat(directory, name.c_str(), kFlags, 0600));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make '" + Printable(PreparedName(file.path)) + "'");
  }
  FileAttributes attributes = file.attributes;
  if (!attributes.owner) attributes.owner = OwnerOf(directory);
  IGLOO_TRY(WriteAll(fd.get(), text));
  IGLOO_TRY(SetAttributes(fd.get(), attributes));
  if (::fsync(fd.get()) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot write");
}

}  // namespace

std::string PreparedName(const std::string& path) { return path + std::string(kPrepared); }

Result<HostFile> ReadHostFile(const std::string& path, std::size_t limit) {
  std::error_code failure;
  HostFile file{.path = std::filesystem::canonical(path, failure).string()};
  struct stat info{};
  if (failure == std::errc::no_such_file_or_directory) {
    if (::lstat(path.c_str(), &info) == 0) {
      return Fail(Errc::kFailedPrecondition, "the link '" + Printable(path) + "' leads to nothing",
                  "remove it, or make the file that it names");
    }
    file.path = std::filesystem::weakly_canonical(path, failure).string();
    if (!failure) return file;
  }
  if (failure) return FailSys(failure.value(), "cannot find '" + Printable(path) + "'");
  const UniqueFd directory = OpenDirectory(DirectoryOf(file.path));
  const UniqueFd fd =
      OpenBeneath(directory.get(), NameOf(file.path), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + Printable(file.path) + "'");
  }
  return ReadOpen(std::move(file), directory, fd, limit);
}

void RemovePrepared(const HostFile& file) {
  const UniqueFd directory = OpenDirectory(DirectoryOf(file.path));
  if (directory) ::unlinkat(directory.get(), PreparedName(NameOf(file.path)).c_str(), 0);
}

Result<void> WriteHostFile(const HostFile& file, std::string_view text) {
  const std::string parent = DirectoryOf(file.path);
  if (!file.text) IGLOO_TRY(MakeMissingDirectories(parent));
  const UniqueFd directory = OpenDirectory(parent);
  if (!directory) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + Printable(parent) + "'");
  }
  const std::string name = NameOf(file.path), prepared = PreparedName(name);
  ::unlinkat(directory.get(), prepared.c_str(), 0);
  bool placed = false;
  const ScopeExit cleanup([&] {
    if (!placed) ::unlinkat(directory.get(), prepared.c_str(), 0);
  });
  if (auto made = Prepare(directory.get(), file, text); !made) {
    return Wrap("'" + Printable(file.path) + "'", std::move(made).error());
  }
  // As late as possible: programs that write this file do not know our lock.
  const UniqueFd now = OpenBeneath(directory.get(), name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  const bool absent = !now && errno == ENOENT;
  const auto current = now ? ReadAll(now.get(), file.text ? file.text->size() : 0)
                           : Result<std::string>(Fail(Errc::kNotFound, ""));
  const bool same = file.text ? current && *current == *file.text : absent;
  if (!same) {
    return Fail(Errc::kFailedPrecondition,
                "'" + Printable(file.path) + "' was changed at the same time", "try again");
  }
  if (::renameat(directory.get(), prepared.c_str(), directory.get(), name.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot replace '" + Printable(file.path) + "'");
  }
  placed = true;
  // The rename itself has to reach the disk before the copy in the state directory goes.
  ::fsync(directory.get());
  return {};
}

}  // namespace igloo::agent
