#include "image/unpack/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace igloo::image::unpack {

int OpenBeneath(int directory, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(
      ::syscall(SYS_openat2, directory, path.empty() ? "." : path.c_str(), &how, sizeof how));
}

}  // namespace igloo::image::unpack
