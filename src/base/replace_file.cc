#include "base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/scope_exit.h"
#include "base/unique_fd.h"

namespace igloo {

Result<void> SetAttributes(int fd, const FileAttributes& attributes) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at a file");
  }
  const auto& owner = attributes.owner;
  const bool other = owner && (owner->user != info.st_uid || owner->group != info.st_gid);
  if (other && ::fchown(fd, owner->user, owner->group) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot keep the owner of the file");
  }
  // SECURITY: only after the owner: a change of owner takes bits away, and nobody else gets to
  // open a file that is still to change hands.
  if (::fchmod(fd, attributes.mode) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot keep the mode of the file");
  }
  return {};
}

Result<void> ReplaceFile(const std::string& path, std::string_view bytes,
                         const FileAttributes& attributes, Sync sync) {
  std::string temporary = path + ".XXXXXX";
  // mkostemp makes it 0600 and never opens what is there already.
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write '" + path + "'");
  }
  bool keep = false;
  const ScopeExit cleanup([&] {
    if (!keep) ::unlink(temporary.c_str());
  });
  if (auto written = WriteAll(fd.get(), bytes); !written) {
    return Wrap("'" + path + "'", std::move(written).error());
  }
  if (auto set = SetAttributes(fd.get(), attributes); !set) {
    return Wrap("'" + path + "'", std::move(set).error());
  }
  // Without the sync a crash may leave the new name with the content of neither.
  if ((sync == Sync::kYes && ::fsync(fd.get()) != 0) ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write '" + path + "'");
  }
  keep = true;
  return {};
}

}  // namespace igloo
