#include "clients/client_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::clients {
namespace {

std::string ParentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error IsLink(const std::string& path) {
  const auto target = ReadLink(path);
  return {Errc::kFailedPrecondition, "'" + path + "' is a symbolic link",
          target
              ? "name the file it leads to: --file " +
                    ShellQuote(target->starts_with('/') ? *target : ParentOf(path) + "/" + *target)
              : "name the file it leads to with --file",
          ELOOP};
}

FileAttributes AttributesOf(const struct stat& info) {
  return {.mode = info.st_mode & 07777, .owner = FileAttributes::Owner{info.st_uid, info.st_gid}};
}

/// INVARIANT of a change: what is replaced is what was read.
Result<void> CheckUnchanged(const ClientFile& file) {
  struct stat now{};
  const bool exists = ::lstat(file.path.c_str(), &now) == 0;
  const bool same = exists == file.exists &&
                    (!exists || (now.st_dev == file.info.st_dev && now.st_ino == file.info.st_ino &&
                                 now.st_size == file.info.st_size &&
                                 now.st_mtim.tv_sec == file.info.st_mtim.tv_sec &&
                                 now.st_mtim.tv_nsec == file.info.st_mtim.tv_nsec));
  if (same) return {};
  return Fail(Errc::kFailedPrecondition,
              "'" + file.path + "' was changed by somebody else just now",
              "quit the client and try again");
}

std::string Stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts)};
}

}  // namespace

Result<ClientFile> ReadClientFile(const std::string& path) {
  ClientFile file{.path = path};
  const UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW));
  if (!fd) {
    const int saved_errno = errno;
    if (saved_errno == ENOENT) return file;
    if (saved_errno == ELOOP) return std::unexpected(IsLink(path));
    return FailSys(saved_errno, "cannot read '" + path + "'",
                   saved_errno == EACCES    ? "igloo needs to read and to replace it"
                   : saved_errno == ENOTDIR ? "something on the way to it is no directory"
                                            : "");
  }
  if (::fstat(fd.get(), &file.info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + path + "'");
  }
  if (!S_ISREG(file.info.st_mode)) {
    return Fail(
        Errc::kFailedPrecondition,
        "'" + path + "' is " + (S_ISDIR(file.info.st_mode) ? "a directory" : "not a regular file"),
        "the client reads a file of that name: move what is there away");
  }
  auto text = ReadAll(fd.get(), kMaxClientFile);
  if (!text) return Wrap("'" + path + "'", std::move(text).error());
  file.exists = true;
  file.text = *std::move(text);
  return file;
}

Result<void> RefuseLinksBelow(const std::string& project, const std::string& file) {
  // SECURITY: a project may come from anybody; a link in it must not choose where igloo writes.
  for (std::size_t slash = file.find('/', project.size() + 1); slash != std::string::npos;
       slash = file.find('/', slash + 1)) {
    const std::string directory = file.substr(0, slash);
    struct stat info{};
    if (::lstat(directory.c_str(), &info) != 0) return {};
    if (S_ISLNK(info.st_mode)) {
      return Fail(Errc::kFailedPrecondition, "'" + directory + "' is a symbolic link",
                  "a project's configuration stands inside the project; name another with --file");
    }
  }
  return {};
}

Result<std::string> BackUp(const ClientFile& file) {
  std::string path = file.path + ".igloo-backup-" + Stamp() + "-XXXXXX";
  const UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a backup beside '" + file.path + "'",
                   "igloo needs to write into the directory; nothing was changed");
  }
  bool keep = false;
  const ScopeExit cleanup([&] {
    if (!keep) ::unlink(path.c_str());
  });
  IGLOO_TRY(WriteAll(fd.get(), file.text));
  IGLOO_TRY(SetAttributes(fd.get(), AttributesOf(file.info)));
  if (::fsync(fd.get()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write '" + path + "'");
  }
  keep = true;
  return path;
}

Result<void> WriteClientFile(const ClientFile& file, std::string_view text, mode_t mode) {
  IGLOO_TRY(CheckUnchanged(file));
  return ReplaceFile(file.path, text,
                     file.exists ? AttributesOf(file.info) : FileAttributes{.mode = mode});
}

Result<void> DeleteClientFile(const ClientFile& file) {
  IGLOO_TRY(CheckUnchanged(file));
  if (::unlink(file.path.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove '" + file.path + "'");
  }
  return {};
}

Result<int> MakeDirectories(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return 1;
  int saved_errno = errno;
  if (saved_errno == EEXIST) return 0;
  if (saved_errno == ENOENT && ParentOf(path) != path) {
    IGLOO_ASSIGN(const int above, MakeDirectories(ParentOf(path), mode));
    if (::mkdir(path.c_str(), mode) == 0) return above + 1;
    saved_errno = errno;
    if (saved_errno == EEXIST) return above;
  }
  return FailSys(saved_errno, "cannot make the directory '" + path + "'");
}

void RemoveDirectories(std::string path, int count) {
  for (; count > 0 && ::rmdir(path.c_str()) == 0; --count) path = ParentOf(path);
}

}  // namespace igloo::clients
