#include "service/caller.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "config/schema.h"
#include "service/programs.h"
#include "session/asio.h"

namespace igloo::service {

namespace asio = boost::asio;

namespace {

using Kind = config::SecretSource::Kind;

/// More than any header holds.
constexpr std::size_t kMostSecret = 64U << 10;

std::string WithoutNewline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<std::string> ReadVariable(const std::string& name) {
  auto value = CallersVariable(name);
  if (value && !value->empty()) return *std::move(value);
  return Fail(Errc::kFailedPrecondition,
              "your variable '" + Printable(name) + "' is " + (value ? "empty" : "not set"),
              "set it where igloo is started");
}

Result<std::string> ReadSecretFile(const std::string& path) {
  const std::string shown = "'" + Printable(path) + "'";
  // Without waiting for whoever writes to a pipe of that name.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open " + shown);
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at " + shown);
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, shown + " is no regular file",
                "write its value to one, or let a command print it");
  }
  // As ssh has it: who owns a file says who reads it, and others' files are others' business.
  const bool open_to_others = (info.st_mode & 077) != 0;
  if (open_to_others && info.st_uid == ::geteuid()) {
    return Fail(Errc::kPermissionDenied, shown + " can be read by others than you",
                "chmod 600 " + ShellQuote(path));
  }
  auto text = ReadAll(file.get(), kMostSecret);
  if (!text) return Wrap("reading " + shown, std::move(text).error());
  return text;
}

/// A command that runs, and where it prints to.
struct Printing {
  Child child = {};
  UniqueFd pipe = {};
  std::string shown = {};  ///< its name, for errors
};

Result<Printing> StartSecretCommand(const std::string& text) {
  std::vector<std::string> argv;
  for (const std::string_view word : config::Words(text)) argv.emplace_back(word);
  if (argv.empty()) return Fail(Errc::kInvalidArgument, "there is no command");
  Printing printing{.shown = "'" + Printable(argv[0]) + "'"};
  const bool is_path = argv[0].find('/') != std::string::npos;
  const std::string program = is_path ? argv[0] : FindInPath(argv[0]);
  if (program.empty()) {
    return Fail(Errc::kNotFound, "there is no program " + printing.shown,
                "install it, or write its path");
  }
  IGLOO_ASSIGN(FdPair pipe, MakePipe());
  // Its own words are the user's to read; what it prints is nobody's.
  IGLOO_ASSIGN(printing.child, Spawn({.program = program,
                                      .argv = argv,
                                      .env = OwnVariables(),
                                      .fds = {{pipe.second.get(), 1}, {STDERR_FILENO, 2}}}));
  printing.pipe = std::move(pipe.first);
  return printing;
}

/// What is waited for until the time is over; shared with the timer, which may be late itself.
struct Waiting {
  explicit Waiting(const asio::any_io_executor& executor)
      : words(executor), end(executor), limit(executor) {}
  asio::posix::stream_descriptor words, end;
  asio::steady_timer limit;
  bool late = false;
};

/// To the end of its output and of itself.
asio::awaitable<Result<std::string>> Listen(std::shared_ptr<Waiting> waiting) {
  std::string text;
  std::array<char, 4096> buffer;
  boost::system::error_code error;
  while (!error) {
    auto token = session::Redirect(error);
    const auto space = asio::buffer(buffer);
    const std::size_t count = co_await waiting->words.async_read_some(space, token);
    text.append(buffer.data(), count);
    if (text.size() > kMostSecret) {
      co_return Fail(Errc::kExhausted, "it prints more than 64 KB");
    }
  }
  auto token = session::Redirect(error);
  if (!waiting->late) {
    co_await waiting->end.async_wait(asio::posix::descriptor_base::wait_read, token);
  }
  if (waiting->late) co_return Fail(Errc::kTimeout, "it took too long");
  co_return text;
}

}  // namespace

std::optional<std::string> CallersVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

asio::awaitable<Result<std::string>> AwaitSecretCommand(std::string command,
                                                        std::chrono::milliseconds time) {
  auto started = StartSecretCommand(command);
  if (!started) co_return std::unexpected(std::move(started).error());
  Printing printing = *std::move(started);
  const auto waiting = std::make_shared<Waiting>(co_await asio::this_coro::executor);
  waiting->words.assign(printing.pipe.Release());
  waiting->end.assign(Duplicate(printing.child.pidfd()).Release());
  waiting->limit.expires_after(time);
  waiting->limit.async_wait([waiting](boost::system::error_code error) {
    if (error) return;
    waiting->late = true;
    waiting->words.cancel();
    waiting->end.cancel();
  });
  auto printed = co_await Listen(waiting);
  waiting->limit.cancel();
  if (!printed) co_return Wrap("the command " + printing.shown, std::move(printed).error());
  const auto status = printing.child.Wait();
  if (!status) co_return std::unexpected(status.error());
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
    co_return Fail(Errc::kFailedPrecondition, "the command " + printing.shown + " failed",
                   "what it says is on standard error");
  }
  co_return WithoutNewline(*std::move(printed));
}

Result<std::string> ReadSecretValue(const config::SecretSource& source,
                                    std::chrono::milliseconds time) {
  if (source.kind == Kind::kVariable) return ReadVariable(source.value);
  if (source.kind == Kind::kFile) {
    IGLOO_ASSIGN(std::string text, ReadSecretFile(source.value));
    return WithoutNewline(std::move(text));
  }
  asio::io_context loop{1};
  Result<std::string> printed;
  asio::co_spawn(
      loop, AwaitSecretCommand(source.value, time),
      [&](const std::exception_ptr&, Result<std::string> result) { printed = std::move(result); });
  loop.run();
  return printed;
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

}  // namespace igloo::service
