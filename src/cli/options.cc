#include "cli/options.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "environment/facts.h"
#include "sandbox/path.h"

namespace igloo::cli {
namespace {

/// Whether a real path is '/', the home directory or one above it, by whatever name HOME has.
bool HoldsHome(const std::string& directory) {
  if (directory == "/") return true;
  const char* home = std::getenv("HOME");
  if (home == nullptr) return false;
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(home, nullptr), &std::free);
  return real && sandbox::IsWithin(real.get(), directory);
}

}  // namespace

Result<std::uint64_t> ParseTimeout(const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  // A day is more than any run needs, and keeps the arithmetic far from its edges.
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0) ||
      seconds > 86'400) {
    return Fail(Errc::kInvalidArgument, "'--timeout " + text + "' is not a time",
                "write seconds above 0 and up to 86400, for example --timeout 2.5");
  }
  return static_cast<std::uint64_t>(seconds * 1000.0) + (seconds < 0.001 ? 1 : 0);
}

Result<std::uint64_t> ParseMemory(const std::string& text) {
  std::uint64_t megabytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), megabytes);
  constexpr std::uint64_t kLeast = 16, kMost = 1U << 20;
  if (error != std::errc() || end != text.data() + text.size() || megabytes < kLeast ||
      megabytes > kMost) {
    return Fail(Errc::kInvalidArgument, "'--memory " + text + "' is not an amount of memory",
                "write whole megabytes from 16 to 1048576, for example --memory 512");
  }
  return megabytes << 20;
}

/// A directory whose own name ends in ":ro" can be written as "DIR:ro:ro".
Result<environment::Project> SplitProject(const std::string& text) {
  environment::Project project{.path = text};
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    const std::string_view mode = std::string_view(text).substr(colon + 1);
    const bool readonly = mode == "ro" || mode == "readonly";
    const bool overlay = mode == "overlay";
    if (mode == "rw" || mode == "readwrite") {
      return Fail(Errc::kInvalidArgument, "a project cannot be made writable from the command line",
                  "use ':overlay' to let the code change a copy");
    }
    if (readonly || overlay) {
      project.path = text.substr(0, colon);
      project.mode =
          overlay ? environment::ProjectMode::kOverlay : environment::ProjectMode::kReadOnly;
    } else if (struct stat info{}; ::stat(text.c_str(), &info) != 0) {
      return Fail(Errc::kInvalidArgument, "'" + std::string(mode) + "' is not a project mode",
                  "write DIR:ro or DIR:overlay");
    }
  }
  return project;
}

/// SECURITY: the project is the one host path a caller names; it must be what it looks like.
Result<void> CheckProject(environment::Project& project) {
  std::string named = project.path;
  // 'link/' would be the directory behind the link.
  while (named.size() > 1 && named.ends_with('/')) named.pop_back();
  struct stat link{};
  if (named.empty() || ::lstat(named.c_str(), &link) != 0) {
    return Fail(Errc::kNotFound, "the project '" + named + "' does not exist",
                "name a directory; one whose own name ends in ':ro' or ':overlay' is written with "
                "the mode behind it, as DIR:ro:ro");
  }
  if (S_ISLNK(link.st_mode)) {
    return Fail(Errc::kInvalidArgument, "the project '" + named + "' is a symbolic link",
                "name the directory itself: --project \"$(realpath " + ShellQuote(named) + ")\"");
  }
  if (!S_ISDIR(link.st_mode)) {
    return Fail(Errc::kInvalidArgument, "the project '" + named + "' is not a directory",
                "name the directory that it lies in");
  }
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(named.c_str(), nullptr), &std::free);
  if (!real) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot resolve the project '" + named + "'");
  }
  project.path = real.get();
  if (HoldsHome(project.path)) {
    return Fail(Errc::kInvalidArgument,
                "'" + project.path + "' holds far more than a project; it is not mounted",
                "name the directory of the one project that the code needs");
  }
  // A view shows one file system; leaving a part of the project out would be a lie.
  if (const auto mount = environment::MountBelow(project.path)) {
    return Fail(Errc::kFailedPrecondition,
                "the project '" + project.path + "' has something mounted at '" + *mount + "'",
                "name a directory without mounts below it, or unmount that first");
  }
  return {};
}

Result<void> ReadRequest(const ParsedArgs& args, environment::RunRequest& request) {
  if (const auto timeout = args.Get("--timeout")) {
    IGLOO_ASSIGN(request.time_ms, ParseTimeout(*timeout));
  }
  if (const auto memory = args.Get("--memory")) {
    IGLOO_ASSIGN(request.memory_bytes, ParseMemory(*memory));
  }
  return {};
}

}  // namespace igloo::cli
