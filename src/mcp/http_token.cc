#include "mcp/http_token.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/scope_exit.h"
#include "base/unique_fd.h"
#include "mcp/questions.h"

namespace igloo::mcp {

namespace {

constexpr std::size_t kShortest = 32, kLongest = 512;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Result<void> CheckDirectory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + directory + "', where the token is kept",
                   "make that directory: mkdir -p -m 700");
  }
  // SECURITY: whoever may rename files there could put a token in place that they know.
  const bool safe = (info.st_uid == ::geteuid() || info.st_uid == 0) &&
                    ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (info.st_mode & S_ISVTX) != 0);
  if (safe) return {};
  return Fail(Errc::kPermissionDenied,
              "others may replace files in '" + directory + "', where the token is kept",
              "chmod go-w '" + directory + "', or keep the token elsewhere");
}

Result<std::string> CheckToken(std::string text, const std::string& path) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  const bool fine = text.size() >= kShortest && std::ranges::all_of(text, [](char c) {
                      return c > ' ' && c < '\x7f';  // what a header can carry
                    });
  if (fine) return text;
  return Fail(Errc::kInvalidArgument,
              fmt::format("'{}' holds no token: that is one line of at least {} visible characters",
                          path, kShortest),
              "remove the file, and a new token is made");
}

Result<std::string> ReadToken(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + path + "'");
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + path + "' is no file", "name another file");
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & kOthers) != 0) {
    return Fail(Errc::kPermissionDenied, "others may read the token in '" + path + "'",
                "remove the file, and a new token is made; tell it to your clients");
  }
  IGLOO_ASSIGN(std::string text, ReadAll(fd, kLongest));
  return CheckToken(std::move(text), path);
}

/// Nothing happens when there is a file by now.
Result<void> MakeToken(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // 0600 from the start
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write the token '" + path + "'");
  }
  const ScopeExit cleanup([&] { ::unlink(temporary.c_str()); });
  const std::string token = RandomName() + RandomName();
  if (auto written = WriteAll(fd.get(), token + "\n"); !written) {
    return Wrap("'" + path + "'", std::move(written).error());
  }
  // A name for a file that is whole already; unlike rename, it never takes another's place.
  if (::fsync(fd.get()) == 0 && ::link(temporary.c_str(), path.c_str()) == 0) return {};
  const int saved_errno = errno;
  if (saved_errno == EEXIST) return {};
  return FailSys(saved_errno, "cannot write the token '" + path + "'");
}

}  // namespace

Result<std::string> ReadOrMakeToken(const std::string& path) {
  IGLOO_TRY(CheckDirectory(path));
  for (const bool again : {true, false}) {
    // Not blocking: a pipe of somebody else's would make it wait for ever.
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd) return ReadToken(fd.get(), path);
    const int saved_errno = errno;
    if (saved_errno == ELOOP) {
      return Fail(Errc::kPermissionDenied, "'" + path + "' is a link, which is not followed",
                  "name the file itself");
    }
    if (saved_errno != ENOENT || !again) {
      return FailSys(saved_errno, "cannot read the token '" + path + "'");
    }
    IGLOO_TRY(MakeToken(path));
  }
  return Fail(Errc::kInternal, "the token was neither read nor made");
}

}  // namespace igloo::mcp
