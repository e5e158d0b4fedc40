#include "environment/secret_look.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "environment/git_config.h"

namespace igloo::environment {
namespace {

/// False: it is larger, or grows, or cannot be read.
bool ReadContent(int fd, off_t expected, std::size_t most, std::string& content) {
  content.resize(std::min(static_cast<std::size_t>(expected), most) + 1);
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t count = ::read(fd, content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  const bool whole = size < content.size();
  content.resize(size);
  return whole;
}

}  // namespace

UniqueFd OpenQuietly(int directory, const char* name, int flags) {
  flags |= O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  UniqueFd fd(::openat(directory, name, flags | O_NOATIME));
  if (!fd && errno == EPERM) fd.Reset(::openat(directory, name, flags));
  return fd;
}

bool IsHarmless(int directory, const char* name, const SecretRow& row) {
  if (row.look != Look::kUnless) return false;
  const std::string inside = fmt::format("{}/{}", name, row.words);
  struct stat info{};
  return ::fstatat(directory, inside.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

std::optional<Secret> LookAt(int directory, const char* name, const SecretRow& row,
                             std::size_t most) {
  const std::string why(row.reason);
  if (row.look == Look::kName) return Secret{.why = why};
  const UniqueFd file = OpenQuietly(directory, name, 0);
  // Somebody took it away, or put a link in its place.
  if (!file && (errno == ENOENT || errno == ELOOP)) return std::nullopt;
  struct stat info{};
  // What cannot be read now could become readable to code that owns it.
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Secret{.why = kCannotLook};
  }
  std::string content;
  if (!ReadContent(file.get(), info.st_size, most, content)) {
    return Secret{
        .why = fmt::format("igloo looks at no more than {} of such a file", HumanBytes(most))};
  }
  if (row.look == Look::kGit) {
    auto clean = WithoutCredentials(content);
    if (!clean) return std::nullopt;
    return Secret{.why = "reads without " + why, .instead = std::move(clean)};
  }
  if (!HoldsSecret(row, content)) return std::nullopt;
  return Secret{.why = why};
}

}  // namespace igloo::environment
