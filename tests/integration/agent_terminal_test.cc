// Boxes of a person at a terminal.

#include <gmock/gmock.h>
#include <signal.h>

#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AgentTerminal : public AgentBox {
 protected:
  Terminal Start(const std::string& script, bool yes = true) const {
    Invocation invocation = Script(script);
    if (!yes) std::erase(invocation.args, "--yes");
    return AtTerminal(invocation);
  }
};

TEST_F(AgentTerminal, APersonSeesWhatTheBoxGetsAndSaysYes) {
  Terminal box = Start("echo star''ted", false);
  ASSERT_TRUE(box.WaitForOutput("Proceed? [Y/n] ")) << box.output();
  EXPECT_THAT(box.output(), HasSubstr(project()));
  EXPECT_THAT(box.output(), Not(HasSubstr("started")));
  box.Type("y\r");
  EXPECT_TRUE(box.WaitForOutput("started")) << box.output();
  EXPECT_EQ(box.Finish(), 0);
}

TEST_F(AgentTerminal, APersonSaysNoAndNothingIsStarted) {
  Terminal box = Start("echo star''ted", false);
  ASSERT_TRUE(box.WaitForOutput("Proceed? [Y/n] ")) << box.output();
  box.Type("n\r");
  EXPECT_EQ(box.Finish(), 1);
  EXPECT_THAT(box.output(), HasSubstr("nothing was started"));
  EXPECT_THAT(box.output(), Not(HasSubstr("started\r\nstarted")));
}

TEST_F(AgentTerminal, CtrlCReachesTheProgramAndNotIgloo) {
  Terminal box = Start(
      "python3 -uc 'import signal, sys\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\n"
      "print(\"ready\"); signal.sigwait({signal.SIGINT}); print(\"caught\"); sys.exit(5)'");
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
  box.Type("\x03");
  EXPECT_TRUE(box.WaitForOutput("caught")) << box.output();
  EXPECT_EQ(box.Finish(), 5);
}

TEST_F(AgentTerminal, FollowsTheSizeOfTheWindow) {
  Terminal box = Start(
      "python3 -uc 'import os, signal\n"
      "size = lambda: print(*os.get_terminal_size(0))\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})\n"
      "size(); signal.sigwait({signal.SIGWINCH}); size()'");
  ASSERT_TRUE(box.WaitForOutput("80 24\r\n")) << box.output();
  box.Resize(50, 132);
  EXPECT_TRUE(box.WaitForOutput("132 50\r\n")) << box.output();
  EXPECT_EQ(box.Finish(), 0);
}

TEST_F(AgentTerminal, CannotTypeOnAnyTerminal) {
  Terminal box = Start(
      "python3 -c 'import errno, fcntl, termios\n"
      "print(\"size\", len(fcntl.ioctl(0, termios.TIOCGWINSZ, b\"x\" * 8)))\n"
      "try:\n"
      "  fcntl.ioctl(0, termios.TIOCSTI, b\"x\"); print(\"typed\")\n"
      "except OSError as e: print(\"refused\", errno.errorcode[e.errno])'");
  EXPECT_EQ(box.Finish(), 0) << box.output();
  EXPECT_THAT(box.output(), HasSubstr("size 8\r\n")) << "control: other requests work";
  EXPECT_THAT(box.output(), HasSubstr("refused EPERM\r\n"));
}

TEST_F(AgentTerminal, EndsWithTheTerminal) {
  const std::string marker = UniqueMarker();
  {
    Terminal box = Start("echo rea''dy; exec -a " + marker + " sleep 1000");
    ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
    ASSERT_NE(WaitForMarked(marker), 0) << "control: it is there";
    box.Signal(SIGHUP);
    box.Finish();
  }
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
}

TEST_F(AgentTerminal, AShellInARunningBoxIsBehindTheSameWall) {
  Write("home/.ssh/id_ed25519", "canary");
  Running box(Script("echo of-the-box > /tmp/mine; echo up; sleep 1000", {"--name", "one"}));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  Terminal shell = AtTerminal(Agent({"enter", "one", "--", "/bin/bash", "--norc"}));
  shell.Type("PS1=; cat /tmp/mine; pwd; echo $IGLOO_BOX; cat ~/.ssh/id_ed25519; tty >&2\r");
  ASSERT_TRUE(shell.WaitForOutput("of-the-box\r\n")) << shell.output();
  EXPECT_TRUE(shell.WaitForOutput(project() + "\r\none\r\n")) << shell.output();
  shell.Type(
      "grep -c . /proc/self/status | sed s/^.*$/se''en/; grep -E '^(Seccomp|NoNewPrivs|CapEff):' "
      "/proc/self/status; exit 7\r");
  EXPECT_EQ(shell.Finish(), 7) << shell.output();
  EXPECT_THAT(shell.output(), HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(shell.output(), HasSubstr("Seccomp:\t2"));
  EXPECT_THAT(shell.output(), HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(shell.output(), Not(HasSubstr("canary")));
  EXPECT_THAT(RunProgram(Agent({"list"})).out, HasSubstr("one")) << "the box goes on";
}

TEST_F(AgentTerminal, AShellInABoxEndsWithIt) {
  Running box(Script("echo up; sleep 1000", {"--name", "one"}));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  Terminal shell =
      AtTerminal(Agent({"enter", "one", "--", "/bin/bash", "-c", "echo rea''dy; cat"}));
  ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
  EXPECT_EQ(RunProgram(Agent({"stop", "one"})).status, 0);
  EXPECT_NE(shell.Finish(), 0) << shell.output();
}

TEST_F(AgentTerminal, WhatCannotBeStartedInABoxIsSaidAndTheBoxGoesOn) {
  Running box(Script("echo up; sleep 1000", {"--name", "one"}));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  Terminal shell = AtTerminal(Agent({"enter", "one", "--", "/no/such/program"}));
  EXPECT_NE(shell.Finish(), 0);
  EXPECT_THAT(shell.output(), HasSubstr("cannot start '/no/such/program'"));
  Terminal none = AtTerminal(Agent({"enter", "two"}));
  EXPECT_NE(none.Finish(), 0);
  EXPECT_THAT(none.output(), HasSubstr("there is no box 'two'"));
  EXPECT_THAT(RunProgram(Agent({"list"})).out, HasSubstr("one"));
}

}  // namespace
}  // namespace igloo::testing
