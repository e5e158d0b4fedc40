#include "base/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "base/open_beneath.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo {
namespace {

bool IsDirectory(int directory, const char* name) {
  struct stat info{};
  return ::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

/// Calls `remove` with every name in an open directory.
template <class Remove>
void ForEachName(int directory, Remove remove) {
  UniqueFd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, decltype(&::closedir)> names(own ? ::fdopendir(own.get()) : nullptr,
                                                          &::closedir);
  if (!names) return;
  (void)own.Release();
  while (const dirent* each = ::readdir(names.get())) {
    const std::string_view name = each->d_name;
    if (name != "." && name != "..") remove(each->d_name);
  }
}

/// Empties an open directory. Deeper than `depth`, what is found is moved up to `top` instead,
/// where the next round finds it.
void Empty(int top, int directory, unsigned& moved, std::size_t depth) {
  ForEachName(directory, [&](const char* name) {
    if (!IsDirectory(directory, name)) {
      ::unlinkat(directory, name, 0);
      return;
    }
    if (depth == 0) {
      const std::string up = ".moved-" + std::to_string(moved++);
      ::renameat(directory, name, top, up.c_str());
      return;
    }
    if (const UniqueFd path = OpenBeneath(directory, name, O_PATH | O_DIRECTORY); path) {
      const std::string own = "/proc/self/fd/" + std::to_string(path.get());
      ::chmod(own.c_str(), S_IRWXU);
    }
    if (const UniqueFd below = OpenBeneath(directory, name, O_RDONLY | O_DIRECTORY); below) {
      Empty(top, below.get(), moved, depth - 1);
    }
    ::unlinkat(directory, name, AT_REMOVEDIR);
  });
}

}  // namespace

Result<void> RemoveTree(const std::string& path) {
  constexpr std::size_t kDepth = 256;
  unsigned moved = 0;
  for (unsigned before = 1; before != 0;) {
    const UniqueFd top(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!top) break;
    const unsigned start = moved;
    Empty(top.get(), top.get(), moved, kDepth);
    before = moved - start;
  }
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot remove '" + Printable(path) + "'");
}

}  // namespace igloo
