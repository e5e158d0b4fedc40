// `igloo shell`, driven through a real terminal.

#include <gmock/gmock.h>
#include <signal.h>

#include <cstring>

#include "support/host.h"
#include "support/igloo.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Terminal StartShell(std::vector<std::string> more = {}, const std::string& environment = "shell") {
  std::vector<std::string> args = {"shell", "--env", environment};
  args.insert(args.end(), more.begin(), more.end());
  return Terminal(BinDirectory() + "/igloo", std::move(args));
}

/// Commands are written so that the echo of what is typed is never taken for their output.
constexpr const char* kPrompt = "[igloo shell] ";

bool SameHabits(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
         a.c_lflag == b.c_lflag && std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

TEST(Shell, IsAnInteractiveShellInTheEnvironment) {
  Terminal shell = StartShell();
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("echo $((6 * 7))-$(id -un)-$PWD-$TERM\r");
  EXPECT_TRUE(shell.WaitForOutput("42-user-/workspace-xterm\r\n")) << shell.output();
  shell.Type("exit 7\r");
  EXPECT_EQ(shell.Finish(), 7) << shell.output();
  EXPECT_THAT(shell.output(), Not(HasSubstr("no job control")));
}

TEST(Shell, HasJobControl) {
  Terminal shell = StartShell();
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("echo be''gun; cat\r");
  // Keys typed earlier would still be read by the shell's own line editor.
  ASSERT_TRUE(shell.WaitForOutput("begun\r\n")) << shell.output();
  shell.Type("hel''lo\r");
  ASSERT_TRUE(shell.WaitForOutput("hel''lo\r\nhel''lo\r\n")) << "cat runs: " << shell.output();
  shell.Type("\x1a");  // Ctrl-Z
  ASSERT_TRUE(shell.WaitForOutput("Stopped")) << shell.output();
  shell.Type("jobs | wc -l | sed s/^/count:/\r");
  ASSERT_TRUE(shell.WaitForOutput("count:1\r\n")) << shell.output();
  shell.Type("fg\r");
  ASSERT_TRUE(shell.WaitForOutput("cat")) << shell.output();
  shell.Type("aga''in\r");
  ASSERT_TRUE(shell.WaitForOutput("aga''in\r\naga''in\r\n")) << shell.output();
  shell.Type("\x03");  // Ctrl-C ends cat, not the shell
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("echo status:$?\r");
  EXPECT_TRUE(shell.WaitForOutput("status:130\r\n")) << shell.output();
  // Between two lines the terminal itself would take the key, and nobody would see it.
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("\x04");  // Ctrl-D
  EXPECT_EQ(shell.Finish(), 0) << "the status of the last command: " << shell.output();
}

TEST(Shell, FollowsTheSizeOfTheWindow) {
  Terminal python = StartShell({"--", "/usr/bin/python3", "-uc",
                                "import os, signal\n"
                                "size = lambda: print(*os.get_terminal_size(0))\n"
                                "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})\n"
                                "size(); signal.sigwait({signal.SIGWINCH}); size()\n"},
                               "python");
  ASSERT_TRUE(python.WaitForOutput("80 24\r\n")) << python.output();
  python.Resize(50, 132);
  EXPECT_TRUE(python.WaitForOutput("132 50\r\n")) << python.output();
  EXPECT_EQ(python.Finish(), 0);
}

TEST(Shell, LeavesTheTerminalAsItWas) {
  Terminal shell = StartShell();
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  EXPECT_EQ(shell.Habits().c_lflag & (ICANON | ECHO | ISIG), 0U) << "raw while it lasts";
  shell.Type("exit\r");
  EXPECT_EQ(shell.Finish(), 0);
  const Terminal untouched("/bin/true", {});
  EXPECT_TRUE(SameHabits(shell.Habits(), untouched.Habits()));
}

TEST(Shell, LeavesTheTerminalAsItWasWhenASignalEndsIt) {
  const Terminal untouched("/bin/true", {});
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM}) {
    const std::string marker = UniqueMarker();
    Terminal shell = StartShell({"--", "/bin/bash", "-c", "echo rea''dy; cat; true", marker});
    ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
    ASSERT_NE(WaitForMarked(marker), 0) << "control: it is there";
    shell.Signal(signal);
    EXPECT_EQ(shell.Finish(), 137) << signal << shell.output();
    EXPECT_TRUE(SameHabits(shell.Habits(), untouched.Habits())) << signal;
    EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); })) << signal;
  }
}

TEST(Shell, LeavesTheTerminalAsItWasWhenItCannotStart) {
  const Terminal untouched("/bin/true", {});
  Terminal shell = StartShell({"--", "/no/such/program"});
  EXPECT_EQ(shell.Finish(), 127) << shell.output();
  EXPECT_THAT(shell.output(), HasSubstr("cannot start '/no/such/program'"));
  EXPECT_TRUE(SameHabits(shell.Habits(), untouched.Habits()));
}

TEST(Shell, InterruptsWhatRunsInTheForeground) {
  Terminal shell = StartShell();
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("echo be''gun; cat\r");
  ASSERT_TRUE(shell.WaitForOutput("begun\r\n")) << shell.output();
  shell.Type("x\r");
  ASSERT_TRUE(shell.WaitForOutput("x\r\nx\r\n")) << shell.output();
  shell.Signal(SIGINT);
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("echo al''ive; exit\r");
  EXPECT_TRUE(shell.WaitForOutput("alive\r\n")) << shell.output();
}

TEST(Shell, NeverHasTheCallersTerminal) {
  Terminal shell = StartShell();
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type(
      "test -t 0 && echo in''side:$(readlink /proc/self/fd/0 /proc/self/fd/2); ls -A /dev/pts; "
      "echo e''nd\r");
  ASSERT_TRUE(shell.WaitForOutput("inside:")) << shell.output();
  const std::size_t begin = shell.output().find("inside:");
  ASSERT_TRUE(shell.WaitForOutput("end\r\n")) << shell.output();
  const std::string said = shell.output().substr(begin);
  EXPECT_THAT(said, Not(HasSubstr(shell.name() + "\r"))) << "a terminal, but not the caller's";
  EXPECT_THAT(said, Not(HasSubstr(shell.name() + " ")));
  EXPECT_THAT(said, HasSubstr("cannot access '/dev/pts'"));
}

TEST(Shell, CannotTypeOnItsTerminal) {
  Terminal python =
      StartShell({"--", "/usr/bin/python3", "-c",
                  "import errno, fcntl, termios\n"
                  "print('size', len(fcntl.ioctl(0, termios.TIOCGWINSZ, b'x' * 8)))\n"
                  "try:\n"
                  "  fcntl.ioctl(0, termios.TIOCSTI, b'x'); print('typed')\n"
                  "except OSError as e: print('refused', errno.errorcode[e.errno])\n"},
                 "python");
  EXPECT_EQ(python.Finish(), 0) << python.output();
  EXPECT_THAT(python.output(), HasSubstr("size 8\r\n")) << "control: other requests work";
  EXPECT_THAT(python.output(), HasSubstr("refused EPERM\r\n"));
}

TEST(Shell, PassesLongInputOnWithoutLoss) {
  Terminal shell = StartShell({"--", "/bin/bash", "-c",
                               "stty raw -echo; echo ready; "
                               "head -c 200000 | md5sum"});
  ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
  shell.Type(std::string(200'000, 'k'));
  EXPECT_TRUE(shell.WaitForOutput("  -")) << shell.output();
  const Outcome expected = RunProgram(
      {.program = "/bin/sh", .args = {"-c", "head -c 200000 /dev/zero | tr '\\0' k | md5sum"}});
  EXPECT_THAT(shell.output(), HasSubstr(expected.out.substr(0, 32)));
}

TEST(Shell, EndsWhenIglooIsKilled) {
  const std::string marker = UniqueMarker();
  {
    Terminal shell = StartShell({"--", "/bin/bash", "-c", "echo rea''dy; cat; true", marker});
    ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
    ASSERT_NE(WaitForMarked(marker), 0) << "control: it is there";
  }
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
}

TEST(Shell, ShowsAProject) {
  Terminal shell = StartShell({"--project", "/usr/share/doc:ro"});
  ASSERT_TRUE(shell.WaitForOutput(kPrompt)) << shell.output();
  shell.Type("cd /project && ls -d bash && touch x 2>&1 | grep -c Read-only\r");
  EXPECT_TRUE(shell.WaitForOutput("bash\r\n1\r\n")) << shell.output();
}

TEST(Shell, NeedsATerminal) {
  const Outcome outcome = Igloo({"shell", "--env", "shell"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("needs a terminal on standard input and output"));
  EXPECT_THAT(outcome.err, HasSubstr("igloo run --env NAME -- PROGRAM"));
}

TEST(Shell, AnswersMistakesWithAdvice) {
  const auto said = [](std::vector<std::string> more) {
    std::vector<std::string> args = {"shell", "--dry-run"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = Igloo(args);
    EXPECT_EQ(outcome.status, 125) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(said({}), HasSubstr("no environment is named"));
  EXPECT_THAT(said({"--env", "shel"}), HasSubstr("did you mean 'shell'?"));
  EXPECT_THAT(said({"--env", "shell", "ls"}), HasSubstr("takes no code"));
  EXPECT_THAT(said({"--env", "shell", "--network", "host", "--reach", "80"}),
              HasSubstr("has all ports of the host already"));
  const Outcome plan = Igloo({"shell", "--dry-run", "--env", "shell"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("terminal   one of its own, relayed by igloo\n"));
  EXPECT_THAT(plan.out, HasSubstr("time       not limited\n"));
}

}  // namespace
}  // namespace igloo::testing
