// How runs end: by themselves, by their time limit, by signals to igloo.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <boost/json.hpp>

#include "base/file.h"
#include "base/spawn.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Answers every SIGINT with a line and goes on.
constexpr const char* kStubborn =
    "import os, signal, time\n"
    // Not print: the interrupt may come while the line below is still being printed.
    "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'not yet\\n'))\n"
    "print('ready', flush=True)\n"
    "while True: time.sleep(1)\n";

/// Ends itself when it is interrupted, with whatever code `end` says.
std::string Interruptible(const std::string& end) {
  return "import sys, time\n"
         "try:\n"
         "  print('ready', flush=True)\n"
         "  while True: time.sleep(1)\n"
         "except KeyboardInterrupt:\n"
         "  print('interrupted', flush=True)\n"
         "  " +
         end + "\n";
}

TEST(RunEnd, ReportsASignalAsShellsDo) {
  const Outcome killed = Igloo({"run", "--env", "shell", "kill -KILL $$"});
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  EXPECT_EQ(killed.err, "igloo: the code was ended by signal 9\n");
  EXPECT_EQ(Igloo({"run", "--env", "shell", "kill -SEGV $$"}).status, 128 + SIGSEGV);
}

/// A descriptor of the output that somebody else keeps open does not keep igloo waiting.
TEST(RunEnd, DoesNotWaitForADescriptorThatWasSmuggledOut) {
  const std::string marker = UniqueMarker();
  Running run(
      {.program = BinDirectory() + "/igloo",
       .args = {"run", "--env", "shell", "--", "/bin/sh", "-c", "echo ready; read x", marker},
       .input = "x"});
  ASSERT_TRUE(run.WaitForOutput("ready\n"));
  const pid_t code = WaitForMarked(marker);
  ASSERT_NE(code, 0);
  const UniqueFd kept(
      ::open(("/proc/" + std::to_string(code) + "/fd/1").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(kept) << "control: it can be held";
  ASSERT_EQ(::kill(code, SIGKILL), 0);
  EXPECT_TRUE(WaitFor([&] { return IsGone(run.pid()); }, 20));
}

TEST(RunEnd, PassesIglooLikeExitCodesOn) {
  // The code's own 124-127 are its own business and come without a word from igloo.
  for (const int code : {124, 125, 126, 127, 255}) {
    const Outcome outcome = Igloo({"run", "--env", "shell", "exit " + std::to_string(code)});
    EXPECT_EQ(outcome.status, code);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(RunEnd, TellsItsOwnFailuresApart) {
  const Outcome own = Igloo({"run", "--env", "shell", "--project", "/no/such/place", "true"});
  EXPECT_EQ(own.status, 125);
  const Outcome not_program = Igloo({"run", "--env", "shell", "--", "/etc/passwd"});
  EXPECT_EQ(not_program.status, 126);
  EXPECT_THAT(not_program.err, HasSubstr("cannot start '/etc/passwd'"));
  const Outcome missing = Igloo({"run", "--env", "shell", "--", "/no/such/program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("hint: "));
}

TEST(RunEnd, InterruptsCodeAtItsTimeLimit) {
  const Outcome outcome =
      Igloo({"run", "--env", "python", "--timeout", "3", Interruptible("sys.exit(0)")});
  EXPECT_EQ(outcome.out, "ready\ninterrupted\n");
  // It ended with 0, but only because it was stopped.
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.err, HasSubstr("stopped at its time limit of 3 s"));
}

TEST(RunEnd, NamesTheTimeLimitThatWasGiven) {
  const Outcome outcome = Igloo({"run", "--env", "shell", "--timeout", "0.25", "sleep 1000"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.err, HasSubstr("time limit of 0.25 s"));
}

TEST(RunEnd, KillsCodeThatIgnoresTheInterrupt) {
  const std::string marker = UniqueMarker();
  const Outcome outcome =
      Igloo({"run", "--env", "shell", "--timeout", "1", "--json", "--", "/bin/bash", "-c",
             "trap '' INT; echo started; while :; do sleep 1; done; echo never", marker});
  EXPECT_EQ(outcome.status, 124);
  const auto document = boost::json::parse(outcome.out);
  EXPECT_EQ(document.at("verdict"), "timeout");
  EXPECT_EQ(document.at("signal"), SIGKILL);
  EXPECT_EQ(document.at("stdout").at("text"), "started\n");
  EXPECT_THAT(FindMarked(marker), IsEmpty());
}

TEST(RunEnd, HandsTheInterruptToTheCode) {
  Running igloo = StartIgloo({"run", "--env", "python", Interruptible("sys.exit(3)")});
  ASSERT_TRUE(igloo.WaitForOutput("ready\n")) << igloo.Finish().err;
  igloo.Signal(SIGINT);
  const Outcome outcome = igloo.Finish();
  EXPECT_EQ(outcome.out, "ready\ninterrupted\n");
  EXPECT_EQ(outcome.status, 3);
}

TEST(RunEnd, DiesAsTheInterruptedCodeDoes) {
  Running igloo = StartIgloo({"run", "--env", "shell", "echo ready; sleep 1000"});
  ASSERT_TRUE(igloo.WaitForOutput("ready\n")) << igloo.Finish().err;
  igloo.Signal(SIGINT);
  EXPECT_EQ(igloo.Finish().status, 128 + SIGINT);
}

TEST(RunEnd, KillsStubbornCodeAtTheSecondInterrupt) {
  Running igloo = StartIgloo({"run", "--env", "python", kStubborn});
  ASSERT_TRUE(igloo.WaitForOutput("ready\n")) << igloo.Finish().err;
  igloo.Signal(SIGINT);
  ASSERT_TRUE(igloo.WaitForOutput("not yet\n")) << "the first interrupt must reach the code";
  igloo.Signal(SIGINT);
  const Outcome outcome = igloo.Finish();
  EXPECT_EQ(outcome.status, 128 + SIGKILL);
  EXPECT_EQ(outcome.out, "ready\nnot yet\n");
}

TEST(RunEnd, EndsEverythingWhenItIsTerminated) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const std::string marker = UniqueMarker();
    Running igloo =
        StartIgloo({"run", "--env", "shell", "--", "/bin/bash", "-c",
                    "trap '' INT TERM HUP; echo ready; while :; do sleep 1; done", marker});
    ASSERT_TRUE(igloo.WaitForOutput("ready\n")) << igloo.Finish().err;
    ASSERT_THAT(FindMarked(marker), Not(IsEmpty()));
    const auto family = DescendantsOf(igloo.pid());
    ASSERT_GE(family.size(), 3U) << "launcher, init and the code";
    igloo.Signal(signal);
    EXPECT_EQ(igloo.Finish().status, 128 + SIGKILL);
    for (const ProcessInfo& each : family) {
      EXPECT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.pid << " " << each.name;
    }
  }
}

TEST(RunEnd, NamesTheVerdict) {
  const auto verdict = [](const Outcome& outcome) {
    return std::string(boost::json::parse(outcome.out).at("verdict").as_string());
  };
  EXPECT_EQ(verdict(Igloo({"run", "--env", "shell", "--json", "true"})), "ok");
  EXPECT_EQ(verdict(Igloo({"run", "--env", "shell", "--json", "exit 1"})), "exit");
  EXPECT_EQ(verdict(Igloo({"run", "--env", "shell", "--json", "kill -9 $$"})), "signal");
}

/// A reader that does not read must not make igloo deaf.
TEST(RunEnd, SignalsAreHeardWhileTheReaderSleeps) {
  for (const int signal : {SIGTERM, SIGINT}) {
    FdPair pipe = MakePipe().value();
    Child igloo = Spawn({.program = BinDirectory() + "/igloo",
                         .argv = {"igloo", "run", "--env", "shell", "yes"},
                         .env = {"PATH=/usr/bin:/bin"},
                         .fds = {{pipe.second.get(), 1}}})
                      .value();
    const auto full = [&] {
      int waiting = 0;
      ::ioctl(pipe.first.get(), FIONREAD, &waiting);
      return waiting >= (1 << 16);
    };
    ASSERT_TRUE(WaitFor(full)) << "control: the pipe must be full";
    pollfd ended{igloo.pidfd(), POLLIN, 0};
    // Ctrl-C again and again: the first one asks the code, a later one gives up the output, too.
    EXPECT_TRUE(WaitFor([&] {
      igloo.Signal(signal);
      return ::poll(&ended, 1, 0) == 1;
    })) << signal;
  }
}

TEST(RunEnd, ASlowReaderGetsEverything) {
  Running igloo = StartIgloo({"run", "--env", "shell", "head -c 1000000 /dev/zero"});
  EXPECT_EQ(igloo.Finish().out.size(), 1000000U);
}

}  // namespace
}  // namespace igloo::testing
