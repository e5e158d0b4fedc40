#include "base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/scope_exit.h"
#include "base/unique_fd.h"

namespace igloo {

Result<void> ReplaceFile(const std::string& path, std::string_view bytes) {
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
  // Without the sync a crash may leave the new name with the content of neither.
  if (::fsync(fd.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write '" + path + "'");
  }
  keep = true;
  return {};
}

}  // namespace igloo
