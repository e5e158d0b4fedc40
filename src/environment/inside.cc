#include "environment/inside.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>

namespace igloo::environment {
namespace {

UniqueFd Open(int directory, const std::string& path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

std::string PathOf(int fd) {
  std::array<char, PATH_MAX> text{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

}  // namespace

UniqueFd OpenInside(int root, const std::string& path, std::uint64_t flags, std::uint64_t resolve) {
  return Open(root, path, flags, resolve | RESOLVE_BENEATH);
}

UniqueFd OpenTarget(int root, int directory, std::string_view path, const std::string& to) {
  if (!to.starts_with('/')) {
    std::string from_top(path.substr(0, path.rfind('/') + 1));
    UniqueFd inside = OpenInside(root, from_top + to, O_PATH, 0);
    if (inside) return inside;
  }
  // Its path may lead through links outside and back: nothing is read on the way, and what does not
  // lie in the project is left alone.
  return Open(directory, to, O_PATH, 0);
}

std::string PathInside(int root, int fd) {
  const std::string top = PathOf(root) + "/", path = PathOf(fd);
  return path.starts_with(top) ? path.substr(top.size()) : std::string();
}

}  // namespace igloo::environment
