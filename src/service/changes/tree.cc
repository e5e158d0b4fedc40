#include "service/changes/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace igloo::service::changes {

UniqueFd OpenBeneath(int directory, const std::string& path, std::uint64_t flags,
                     std::uint64_t mode) {
  open_how how{};
  how.flags = flags | O_CLOEXEC | O_NOFOLLOW;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* name = path.empty() ? "." : path.c_str();
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
}

Result<Tree> Tree::Open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + Printable(path) + "'");
  }
  return Tree(std::move(fd));
}

Result<Tree> Tree::In(const std::string& path) const {
  IGLOO_ASSIGN(UniqueFd directory, OpenDirectory(path));
  Tree tree(std::move(directory));
  IGLOO_TRY(tree.OpenFilesAsOwner());
  return tree;
}

Result<void> Tree::OpenFilesAsOwner() {
  IGLOO_ASSIGN(user_, ActingUser::ForDirectory(fd_.get()));
  return {};
}

std::optional<Node> Tree::Look(const std::string& path) const {
  const UniqueFd found = OpenBeneath(fd_.get(), path, O_PATH);
  struct stat info{};
  if (!found || ::fstat(found.get(), &info) != 0) return std::nullopt;
  return NodeOf(info);
}

Result<UniqueFd> Tree::OpenDirectory(const std::string& path) const {
  UniqueFd found = OpenBeneath(fd_.get(), path, O_RDONLY | O_DIRECTORY);
  if (found) return found;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot open the directory '" + Printable(path) + "'");
}

Result<UniqueFd> Tree::OpenFile(const std::string& path) const {
  IGLOO_ASSIGN(const auto rights, user_.TakeRights());
  // SECURITY: looked at before it is opened: to open a device does something.
  const UniqueFd found = OpenBeneath(fd_.get(), path, O_PATH);
  struct stat info{};
  if (!found || ::fstat(found.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + Printable(path) + "'");
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(Errc::kFailedPrecondition, "'" + Printable(path) + "' is not a file");
  }
  UniqueFd file = OpenBeneath(fd_.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat opened{};
  if (!file || ::fstat(file.get(), &opened) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read '" + Printable(path) + "'");
  }
  if (!S_ISREG(opened.st_mode)) {
    return Fail(Errc::kFailedPrecondition, "'" + Printable(path) + "' is no longer a file");
  }
  return file;
}

Result<std::string> Tree::Read(const std::string& path, std::size_t limit) const {
  IGLOO_ASSIGN(const UniqueFd file, OpenFile(path));
  auto bytes = ReadAll(file.get(), limit);
  if (!bytes) return Wrap("'" + Printable(path) + "'", std::move(bytes).error());
  return bytes;
}

Result<std::string> Tree::ReadLink(const std::string& path) const {
  const UniqueFd link = OpenBeneath(fd_.get(), path, O_PATH);
  std::array<char, PATH_MAX> buffer;
  const ssize_t size =
      link ? ::readlinkat(link.get(), "", buffer.data(), buffer.size()) : ssize_t{-1};
  if (size < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read the link '" + Printable(path) + "'");
  }
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

Result<void> EachName(int directory, const std::function<Result<void>(const char*)>& each) {
  UniqueFd own = OpenBeneath(directory, "", O_RDONLY | O_DIRECTORY);
  DIR* stream = own ? ::fdopendir(own.get()) : nullptr;
  if (stream == nullptr) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read a directory");
  }
  (void)own.Release();
  const std::unique_ptr<DIR, int (*)(DIR*)> closing(stream, &::closedir);
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") IGLOO_TRY(each(entry->d_name));
    errno = 0;
  }
  const int saved_errno = errno;
  if (saved_errno != 0) return FailSys(saved_errno, "cannot read a directory");
  return {};
}

}  // namespace igloo::service::changes
