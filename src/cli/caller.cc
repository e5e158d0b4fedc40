#include "cli/caller.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/programs.h"
#include "config/schema.h"

namespace igloo::cli {
namespace {

using Kind = config::SecretSource::Kind;

/// More than any header holds.
constexpr std::size_t kMostSecret = 64U << 10;

Result<std::string> ReadVariable(const std::string& name) {
  auto value = CallersVariable(name);
  if (value && !value->empty()) return *std::move(value);
  return Fail(Errc::kFailedPrecondition,
              "your variable '" + Printable(name) + "' is " + (value ? "empty" : "not set"),
              "set it where igloo is started");
}

Result<std::string> ReadSecretFile(const std::string& path) {
  const std::string shown = "'" + Printable(path) + "'";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open " + shown);
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at " + shown);
  }
  // As ssh has it: who owns a file says who reads it, and others' files are others' business.
  const bool open_to_others = S_ISREG(info.st_mode) && (info.st_mode & 077) != 0;
  if (open_to_others && info.st_uid == ::geteuid()) {
    return Fail(Errc::kPermissionDenied, shown + " can be read by others than you",
                "chmod 600 " + ShellQuote(path));
  }
  auto text = ReadAll(file.get(), kMostSecret);
  if (!text) return Wrap("reading " + shown, std::move(text).error());
  return text;
}

/// Reads to the end, but no longer than until `deadline` and no more than a secret can be.
Result<std::string> ReadUntil(int fd, std::int64_t deadline) {
  std::string text;
  while (true) {
    const std::int64_t left = deadline - MonotonicMicros();
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left / 1000) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Fail(Errc::kTimeout, "it took too long");
    char buffer[4096];
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kMostSecret) return Fail(Errc::kExhausted, "it prints more than 64 KB");
  }
}

Result<std::string> RunSecretCommand(const std::string& text, std::chrono::milliseconds time) {
  std::vector<std::string> argv;
  for (const std::string_view word : config::Words(text)) argv.emplace_back(word);
  if (argv.empty()) return Fail(Errc::kInvalidArgument, "there is no command");
  const std::string shown = "'" + Printable(argv[0]) + "'";
  const bool is_path = argv[0].find('/') != std::string::npos;
  const std::string program = is_path ? argv[0] : FindInPath(argv[0]);
  if (program.empty()) {
    return Fail(Errc::kNotFound, "there is no program " + shown, "install it, or write its path");
  }
  IGLOO_ASSIGN(FdPair pipe, MakePipe());
  // Its own words are the user's to read; what it prints is nobody's.
  IGLOO_ASSIGN(Child child, Spawn({.program = program,
                                   .argv = argv,
                                   .env = OwnVariables(),
                                   .fds = {{pipe.second.get(), 1}, {STDERR_FILENO, 2}}}));
  pipe.second.Reset();
  auto printed = ReadUntil(pipe.first.get(), MonotonicMicros() + time.count() * 1000);
  if (!printed) return Wrap("the command " + shown, std::move(printed).error());
  IGLOO_ASSIGN(const int status, child.Wait());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  return Fail(Errc::kFailedPrecondition, "the command " + shown + " failed",
              "what it says is on standard error");
}

}  // namespace

std::optional<std::string> CallersVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::string> ReadSecretValue(const config::SecretSource& source,
                                    std::chrono::milliseconds time) {
  if (source.kind == Kind::kVariable) return ReadVariable(source.value);
  IGLOO_ASSIGN(std::string text, source.kind == Kind::kFile ? ReadSecretFile(source.value)
                                                            : RunSecretCommand(source.value, time));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

config::Caller TheCaller() {
  return {.variable = CallersVariable,
          .secret = [](const config::SecretSource& source) { return ReadSecretValue(source); }};
}

config::Caller NamesOfCaller() {
  return {.variable = [](const std::string& name) -> std::optional<std::string> {
            if (!CallersVariable(name)) return std::nullopt;
            return "(yours)";
          },
          .secret = [](const config::SecretSource&) -> Result<std::string> { return "(yours)"; }};
}

Result<std::string> ShownPlaceholder(std::string_view secret) {
  // What can be shown to anybody can be guessed by anybody: nothing is started with it.
  return std::string(network::kPlaceholderPrefix) + std::string(secret) +
         "-00000000000000000000000000000000";
}

}  // namespace igloo::cli
