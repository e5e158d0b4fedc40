#include "base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace igloo {

UniqueFd OpenBeneath(int directory, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* name = path.empty() ? "." : path.c_str();
  long fd = -1;
  // EAGAIN: something was renamed at the same time.
  do fd = ::syscall(SYS_openat2, directory, name, &how, sizeof how);
  while (fd < 0 && (errno == EAGAIN || errno == EINTR));
  return UniqueFd(static_cast<int>(fd));
}

UniqueFd OpenWithoutLinks(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

}  // namespace igloo
