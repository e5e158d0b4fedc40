#include "base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <sstream>

#include "base/file.h"
#include "base/scope_exit.h"

namespace igloo {
namespace {

using ::testing::ElementsAre;

/// Both ends above the standard numbers, also where the test itself was started without those.
FdPair Pipe() {
  const auto pipe = MakePipe();
  EXPECT_TRUE(pipe);
  const auto high = [](const UniqueFd& fd) {
    return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 10));
  };
  return {high(pipe->first), high(pipe->second)};
}

std::string PipeName(const UniqueFd& fd) {
  struct stat info{};
  EXPECT_EQ(::fstat(fd.get(), &info), 0);
  return fmt::format("pipe:[{}]", info.st_ino);
}

/// Starts the program with a pipe as its standard output and returns what it wrote there.
std::string OutputOf(SpawnOptions options) {
  FdPair pipe = Pipe();
  options.fds.push_back({pipe.second.get(), 1});
  auto child = Spawn(options);
  EXPECT_TRUE(child) << child.error().what;
  if (!child) return {};
  pipe.second.Reset();
  auto output = ReadAll(pipe.first.get(), 1U << 20);
  EXPECT_TRUE(output && child->Wait());
  return *std::move(output);
}

/// What the descriptors of a child are: readlink opens none of its own. Descriptor 1 is a pipe.
std::vector<std::string> DescriptorsWith(std::vector<PassedFd> fds) {
  SpawnOptions options{.program = "/usr/bin/readlink", .argv = {"readlink"}, .fds = fds};
  for (int fd = 0; fd < 256; ++fd) options.argv.push_back(fmt::format("/proc/self/fd/{}", fd));
  std::istringstream output(OutputOf(options));
  std::vector<std::string> lines;
  for (std::string line; std::getline(output, line);) {
    lines.push_back(line.starts_with("pipe:") && lines.size() == 1 ? "output" : line);
  }
  return lines;
}

/// A program that runs until it is told otherwise: cat on a pipe that stays open.
SpawnOptions Waiting(const FdPair& input) {
  return {.program = "/usr/bin/cat", .argv = {"cat"}, .fds = {{input.first.get(), 0}}};
}

TEST(SpawnTest, UnlistedStandardDescriptorsAreDevNull) {
  EXPECT_THAT(DescriptorsWith({}), ElementsAre("/dev/null", "output", "/dev/null"));
}

TEST(SpawnTest, ListedDescriptorsArriveUnderTheirNumbers) {
  const FdPair input = Pipe();
  const FdPair extra = Pipe();
  EXPECT_THAT(DescriptorsWith({{input.first.get(), 0}, {extra.second.get(), 3}}),
              ElementsAre(PipeName(input.first), "output", "/dev/null", PipeName(extra.second)));
}

TEST(SpawnTest, NumbersMayCross) {
  const FdPair a = Pipe();
  const FdPair b = Pipe();
  std::vector<PassedFd> fds = {{a.first.get(), b.first.get()}, {b.first.get(), a.first.get()}};
  EXPECT_THAT(DescriptorsWith(fds), ElementsAre("/dev/null", "output", "/dev/null",
                                                PipeName(b.first), PipeName(a.first)));
}

TEST(SpawnTest, OneDescriptorMayArriveTwice) {
  const FdPair pipe = Pipe();
  EXPECT_THAT(DescriptorsWith({{pipe.second.get(), 2}, {pipe.second.get(), 3}}),
              ElementsAre("/dev/null", "output", PipeName(pipe.second), PipeName(pipe.second)));
}

TEST(SpawnTest, ForgottenCloseOnExecLeaksNothing) {
  const UniqueFd forgotten(::open("/", O_RDONLY | O_DIRECTORY));  // NOLINT: the point of the test
  ASSERT_TRUE(forgotten);
  EXPECT_THAT(DescriptorsWith({}), ElementsAre("/dev/null", "output", "/dev/null"));
}

TEST(SpawnTest, GapsBetweenListedNumbersAreEmpty) {
  const UniqueFd forgotten(::open("/", O_RDONLY | O_DIRECTORY));  // NOLINT: the point of the test
  const FdPair pipe = Pipe();
  ASSERT_LT(forgotten.get(), 100);
  EXPECT_THAT(DescriptorsWith({{pipe.second.get(), 100}}),
              ElementsAre("/dev/null", "output", "/dev/null", PipeName(pipe.second)));
}

TEST(SpawnTest, TheEnvironmentIsWhatWasGivenAndNothingElse) {
  EXPECT_EQ(OutputOf({.program = "/usr/bin/env", .argv = {"env"}}), "");
  EXPECT_EQ(OutputOf({.program = "/usr/bin/env", .argv = {"env"}, .env = {"A=1", "B=2 3"}}),
            "A=1\nB=2 3\n");
}

TEST(SpawnTest, ArgumentsArriveAsGiven) {
  const SpawnOptions options{.program = "/usr/bin/printf", .argv = {"printf", "[%s]", "", "a b"}};
  EXPECT_EQ(OutputOf(options), "[][a b]");
}

TEST(SpawnTest, BlockedSignalsAreNotInherited) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &blocked, &before), 0);
  const ScopeExit restore([&] { ::sigprocmask(SIG_SETMASK, &before, nullptr); });
  const SpawnOptions options{.program = "/usr/bin/grep",
                             .argv = {"grep", "^SigBlk:", "/proc/self/status"}};
  EXPECT_EQ(OutputOf(options), "SigBlk:\t0000000000000000\n");
}

/// What a child ignores while this process ignores SIGTERM and SIGUSR1, one bit per signal.
std::string IgnoredBy(bool reset_signals) {
  const auto old_term = ::signal(SIGTERM, SIG_IGN);
  const auto old_user = ::signal(SIGUSR1, SIG_IGN);
  const ScopeExit restore([&] {
    ::signal(SIGTERM, old_term);
    ::signal(SIGUSR1, old_user);
  });
  return OutputOf({.program = "/usr/bin/grep",
                   .argv = {"grep", "^SigIgn:", "/proc/self/status"},
                   .reset_signals = reset_signals});
}

TEST(SpawnTest, IgnoredSignalsAreNotInherited) {
  EXPECT_EQ(IgnoredBy(true), "SigIgn:\t0000000000000000\n");
}

TEST(SpawnTest, IgnoredSignalsStayForAProgramThatResetsThemItself) {
  const std::string line = IgnoredBy(false);
  ASSERT_TRUE(line.starts_with("SigIgn:\t")) << line;
  const auto ignored = std::stoull(line.substr(8), nullptr, 16);
  for (const int number : {SIGTERM, SIGUSR1}) EXPECT_TRUE(ignored >> (number - 1) & 1) << number;
}

TEST(SpawnTest, ResettingSignalsInTheChildLeavesTheParentsAlone) {
  const auto old = ::signal(SIGUSR1, SIG_IGN);
  const ScopeExit restore([&] { ::signal(SIGUSR1, old); });
  EXPECT_EQ(OutputOf({.program = "/usr/bin/printf", .argv = {"printf", "x"}}), "x");
  EXPECT_EQ(::signal(SIGUSR1, SIG_IGN), SIG_IGN);
}

TEST(SpawnTest, AMissingProgramIsAnErrorOfTheCaller) {
  const auto failed = Spawn({.program = "/nonexistent/program", .argv = {"program"}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(),
            (Error{.code = Errc::kNotFound,
                   .what = "cannot start '/nonexistent/program': No such file or directory",
                   .sys_errno = ENOENT}));
}

TEST(SpawnTest, NothingIsSearchedInPath) {
  EXPECT_EQ(Spawn({.program = "cat", .argv = {"cat"}}).error().sys_errno, ENOENT);
}

TEST(SpawnTest, AClosedDescriptorCannotBePassed) {
  const auto failed =
      Spawn({.program = "/usr/bin/cat", .argv = {"cat"}, .fds = {{.from = -1, .to = 0}}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sys_errno, EBADF);
}

TEST(SpawnTest, TooManyDescriptorsAreRefusedBeforeAnythingStarts) {
  SpawnOptions options{.program = "/usr/bin/cat", .argv = {"cat"}};
  options.fds.assign(65, {.from = 0, .to = 3});
  EXPECT_EQ(Spawn(options).error().code, Errc::kInternal);
}

TEST(SpawnTest, WaitTellsExitCodes) {
  auto child = Spawn({.program = "/bin/sh", .argv = {"sh", "-c", "exit 42"}});
  ASSERT_TRUE(child);
  const auto status = child->Wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 42);
  EXPECT_FALSE(*child) << "a reaped child is no child";
}

TEST(SpawnTest, SignalsReachTheChild) {
  const FdPair input = Pipe();
  auto child = Spawn(Waiting(input));
  ASSERT_TRUE(child);
  child->Signal(SIGTERM);
  const auto status = child->Wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status));
  EXPECT_EQ(WTERMSIG(*status), SIGTERM);
}

TEST(SpawnTest, ADroppedChildIsKilledAndReaped) {
  const FdPair input = Pipe();
  pid_t pid = -1;
  {
    const auto child = Spawn(Waiting(input));
    ASSERT_TRUE(child);
    pid = child->pid();
    ASSERT_EQ(::kill(pid, 0), 0) << "it runs until it is dropped";
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "nothing is left to reap";
}

TEST(SpawnTest, AssigningDropsTheOldChildAndKeepsTheNew) {
  const FdPair input = Pipe();
  auto first = Spawn(Waiting(input));
  auto second = Spawn(Waiting(input));
  ASSERT_TRUE(first && second);
  const pid_t old_pid = first->pid();
  const pid_t new_pid = second->pid();
  *first = *std::move(second);
  EXPECT_EQ(first->pid(), new_pid);
  EXPECT_EQ(::kill(new_pid, 0), 0);
  EXPECT_EQ(::waitpid(old_pid, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace igloo
