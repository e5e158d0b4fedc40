#include "http/token.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/random.h"
#include "base/scope_exit.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::http {

namespace {

constexpr std::size_t kShortest = 32, kLongest = 512, kLongestLabel = 32;
constexpr std::size_t kMostTokens = 64, kLongestFile = 64U << 10;
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

bool IsToken(std::string_view text) {
  return text.size() >= kShortest && text.size() <= kLongest &&
         std::ranges::all_of(text, [](char c) {
           return c > ' ' && c < '\x7f';  // what a header can carry
         });
}

bool IsLabel(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  return !text.empty() && text.size() <= kLongestLabel &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

std::unexpected<Error> NoToken(const std::string& path, std::size_t line) {
  return Fail(Errc::kInvalidArgument,
              fmt::format("'{}' holds no token in line {}: a line is TOKEN or LABEL TOKEN; a token "
                          "has {} to {} visible characters, a label letters a-z, digits, - and _",
                          path, line, kShortest, kLongest),
              "correct it; or remove the file, and a new token is made");
}

/// SECURITY: two principals of one label, or with one token, would be one.
Result<std::vector<Token>> CheckTokens(std::vector<Token> tokens, const std::string& path) {
  if (tokens.empty()) return NoToken(path, 1);
  if (tokens.size() > kMostTokens) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("'{}' holds more than {} tokens", path, kMostTokens),
                "serve fewer people, or start another server");
  }
  if (tokens.size() == 1) tokens.front().label.clear();
  for (std::size_t i = 0; tokens.size() > 1 && i < tokens.size(); ++i) {
    if (tokens[i].label.empty()) tokens[i].label = Sha256Hex(tokens[i].token).substr(0, 8);
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = tokens[j].token == tokens[i].token;
      if (!same && tokens[j].label != tokens[i].label) continue;
      return Fail(Errc::kInvalidArgument,
                  fmt::format("'{}' has the {} of '{}' twice", path, same ? "token" : "label",
                              tokens[i].label),
                  "give every client a label and a token of its own");
    }
  }
  return tokens;
}

Result<std::vector<Token>> ParseTokens(std::string_view text, const std::string& path) {
  std::vector<Token> tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    const bool labelled = space != std::string_view::npos;
    Token token{.label = std::string(labelled ? line.substr(0, space) : ""),
                .token = std::string(labelled ? line.substr(space + 1) : line)};
    if ((labelled && !IsLabel(token.label)) || !IsToken(token.token)) return NoToken(path, number);
    tokens.push_back(std::move(token));
  }
  return CheckTokens(std::move(tokens), path);
}

Result<std::vector<Token>> ReadTokens(int fd, const std::string& path) {
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
  IGLOO_ASSIGN(const std::string text, ReadAll(fd, kLongestFile));
  return ParseTokens(text, path);
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

Result<std::vector<Token>> ReadOrMakeTokens(const std::string& path) {
  IGLOO_TRY(CheckDirectory(path));
  for (const bool again : {true, false}) {
    // Not blocking: a pipe of somebody else's would make it wait for ever.
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd) return ReadTokens(fd.get(), path);
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

bool TokenMatches(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kBearer = "bearer ";
  if (authorization.size() != kBearer.size() + token.size()) return false;
  if (AsciiLower(authorization.substr(0, kBearer.size())) != kBearer) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    difference |= static_cast<unsigned char>(authorization[kBearer.size() + i]) ^
                  static_cast<unsigned char>(token[i]);
  }
  return difference == 0;
}

}  // namespace igloo::http
