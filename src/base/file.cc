#include "base/file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/text.h"

namespace igloo {

UniqueFd Duplicate(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

Result<FdPair> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a pipe");
  }
  return FdPair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<FdPair> MakeSocketPair(int type) {
  int fds[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a socket pair");
  }
  return FdPair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<std::string> ReadAll(int fd, std::size_t limit) {
  std::string bytes;
  // One size guess from fstat saves the doubling of large files.
  struct stat info{};
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    bytes.reserve(std::min(static_cast<std::size_t>(info.st_size), limit));
  }
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0) {
      const int saved_errno = errno;
      if (saved_errno == EINTR) continue;
      return FailSys(saved_errno, "cannot read");
    }
    if (count == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > limit) {
      return Fail(Errc::kExhausted, "more than " + HumanBytes(limit));
    }
  }
}

Result<std::string> ReadFile(const std::string& path, std::size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + path + "'");
  }
  auto bytes = ReadAll(fd.get(), limit);
  if (!bytes) return Wrap("'" + path + "'", std::move(bytes).error());
  return bytes;
}

Result<void> WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      const int saved_errno = errno;
      if (saved_errno == EINTR) continue;
      return FailSys(saved_errno, "cannot write");
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> SetNonBlocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a descriptor non-blocking");
  }
  return {};
}

Result<std::string> ReadLink(const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t count = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (count < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read the link '" + path + "'");
  }
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

}  // namespace igloo
