#include "session/files/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "session/files/run_as.h"

namespace igloo::session {
namespace {

std::unexpected<Error> Cannot(int saved_errno, const std::string& path) {
  const std::string what = fmt::format("cannot write '{}'", Printable(Quoted(path)));
  switch (saved_errno) {
    case ENOSPC:
    case EDQUOT:
      return FailSys(saved_errno, what, "let the code remove some files first, or give less");
    case EISDIR:
    case ENOTEMPTY:
    case EEXIST:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
      return FailSys(saved_errno, what,
                     "give it another name: something else than a file is in its way");
    default:
      return FailSys(saved_errno, what, "give it another name, or let the code write it");
  }
}

std::string TemporaryName() {
  std::uint64_t random = 0;
  (void)::getrandom(&random, sizeof random, 0);
  return fmt::format(".igloo-{:016x}", random);
}

/// The directory that `path` is in, made as far as it is not there.
Result<UniqueFd> MakeParents(int directory, const std::string& path) {
  UniqueFd here = OpenBelow(directory, ".", O_RDONLY | O_DIRECTORY);
  if (!here) return Cannot(errno, path);
  for (std::size_t at = 0, end = 0; (end = path.find('/', at)) != std::string::npos; at = end + 1) {
    const std::string part = path.substr(at, end - at);
    const bool made = ::mkdirat(here.get(), part.c_str(), 0755) == 0;
    if (!made && errno != EEXIST) return Cannot(errno, path);
    UniqueFd below = OpenBelow(here.get(), part.c_str(), O_RDONLY | O_DIRECTORY);
    if (!below) return Cannot(errno, path);
    // Whatever igloo's own umask is.
    if (made && ::fchmod(below.get(), 0755) != 0) return Cannot(errno, path);
    here = std::move(below);
  }
  return here;
}

Result<UniqueFd> OpenRegular(int directory, const std::string& path, struct stat& info) {
  // O_NONBLOCK: a FIFO would wait for its other end.
  UniqueFd fd = OpenBelow(directory, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Errc::kNotFound, fmt::format("there is no file '{}'", Printable(Quoted(path))));
  }
  return fd;
}

}  // namespace

UniqueFd OpenBelow(int directory, const char* name, std::uint64_t flags, std::uint32_t mode) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
}

Stamp StampOf(const struct stat& info) {
  return {.inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .changed_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
}

Result<std::uint64_t> SizeBelow(int directory, const std::string& path) {
  struct stat info{};
  IGLOO_ASSIGN(const UniqueFd fd, OpenRegular(directory, path, info));
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::string> ReadBelow(int directory, const std::string& path, std::uint64_t most) {
  struct stat info{};
  IGLOO_ASSIGN(const UniqueFd fd, OpenRegular(directory, path, info));
  auto bytes = ReadAll(fd.get(), most);
  if (bytes || bytes.error().code != Errc::kExhausted) return bytes;
  return Fail(Errc::kExhausted,
              fmt::format("'{}' has {}, and at most {} can be read", Printable(Quoted(path)),
                          HumanBytes(static_cast<std::uint64_t>(info.st_size)), HumanBytes(most)),
              "let the code print what is needed of it, or write that into a smaller file");
}

Result<Stamp> WriteBelow(int directory, const environment::GivenFile& file) {
  IGLOO_ASSIGN(const auto acting, RunAs::OwnerOf(directory));
  IGLOO_ASSIGN(const UniqueFd parent, MakeParents(directory, file.path));
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  const std::string temporary = TemporaryName();
  // Under another name first: code that runs meanwhile sees the old file or the new one, and what
  // else may stand there (a link, a FIFO) is replaced and never opened.
  const UniqueFd fd = OpenBelow(parent.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!fd) return Cannot(errno, file.path);
  bool placed = false;
  const ScopeExit clean([&] {
    if (!placed) ::unlinkat(parent.get(), temporary.c_str(), 0);
  });
  if (const auto written = WriteAll(fd.get(), file.content); !written) {
    return Cannot(written.error().sys_errno, file.path);
  }
  if (::fchmod(fd.get(), file.mode) != 0) return Cannot(errno, file.path);
  if (::renameat(parent.get(), temporary.c_str(), parent.get(), name.c_str()) != 0) {
    return Cannot(errno, file.path);
  }
  placed = true;
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return Cannot(errno, file.path);
  return StampOf(info);
}

}  // namespace igloo::session
