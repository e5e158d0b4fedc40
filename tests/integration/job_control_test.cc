// A box is a job of the shell that it was started from: Ctrl-Z stops it, fg lets it go on.

#include <gmock/gmock.h>
#include <termios.h>

#include "base/text.h"
#include "support/agent_box.h"
#include "support/host.h"
#include "support/tmux.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCtrlZ = "\x1a";

class JobControl : public AgentBox {
 protected:
  std::vector<std::string> ShellWords() const {
    std::vector<std::string> words = Variables();
    words.insert(words.begin(), {"-i", "TERM=xterm", "PS1=status=$? > "});
    words.insert(words.end(), {"/bin/bash", "--norc", "--noprofile", "-i"});
    return words;
  }
  Terminal Shell() const { return Terminal("/usr/bin/env", ShellWords()); }
  /// A command line that starts a box.
  std::string Line(const std::string& script) const {
    const Invocation box = Script(script);
    std::string line = ShellQuote(box.program);
    for (const std::string& each : box.args) line += " " + ShellQuote(each);
    return line;
  }
  static bool IsRaw(const Terminal& terminal) {
    return (terminal.Habits().c_lflag & (ICANON | ECHO)) == 0;
  }
};

TEST_F(JobControl, CtrlZStopsIglooAndFgLetsItGoOn) {
  Terminal shell = Shell();
  shell.Type(Line("echo rea''dy; exec cat") + "\r");
  ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
  EXPECT_TRUE(WaitFor([&] { return IsRaw(shell); })) << "control: the keys go inside";
  for (int round = 0; round < 2; ++round) {
    shell.Type(kCtrlZ);
    ASSERT_TRUE(shell.WaitForOutput("Stopped")) << shell.output();
    shell.Type("echo out''side; jobs\r");
    ASSERT_TRUE(shell.WaitForOutput("outside")) << shell.output();
    ASSERT_TRUE(shell.WaitForOutput("Stopped")) << shell.output();
    shell.Type("fg\r");
    ASSERT_TRUE(shell.WaitForOutput("igloo")) << shell.output();
    EXPECT_TRUE(WaitFor([&] { return IsRaw(shell); }));
    shell.Type("word\r");
    ASSERT_TRUE(shell.WaitForOutput("word\r\nword")) << shell.output();
  }
  shell.Type("\x03");
  EXPECT_TRUE(shell.WaitForOutput("status=130")) << shell.output();
  shell.Type("exit\r");
  shell.Finish();
}

TEST_F(JobControl, AScriptThatStartedIglooStopsWithIt) {
  Terminal shell = Shell();
  shell.Type("sh -c " + ShellQuote(Line("echo rea''dy; exec cat") + "; echo af''ter") + "\r");
  ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
  shell.Type(kCtrlZ);
  ASSERT_TRUE(shell.WaitForOutput("Stopped")) << shell.output();
  shell.Type("fg\r");
  ASSERT_TRUE(shell.WaitForOutput("sh -c")) << shell.output();
  shell.Type("word\r");
  ASSERT_TRUE(shell.WaitForOutput("word\r\nword")) << shell.output();
  shell.Type("\x04");
  EXPECT_TRUE(shell.WaitForOutput("after")) << shell.output();
}

TEST_F(JobControl, WithoutAShellThatCouldLetItGoOnItGoesOnByItself) {
  Terminal box = AtTerminal(Script("echo rea''dy; exec cat"));
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
  box.Type(kCtrlZ);
  box.Type("word\r");
  EXPECT_TRUE(box.WaitForOutput("word\r\nword")) << box.output();
  box.Type("\x04");
  EXPECT_EQ(box.Finish(), 0) << box.output();
}

TEST_F(JobControl, AShellInTheBoxKeepsItsOwnJobs) {
  Terminal box = AtTerminal(
      Agent({"--cmd", "bash", "--yes", "--network", "none", "--", "--norc", "--noprofile", "-i"}));
  box.Type("PS1=; sh -c \"echo rea''dy; exec cat\"\r");
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
  box.Type(kCtrlZ);
  ASSERT_TRUE(box.WaitForOutput("Stopped")) << box.output();
  box.Type("echo in''side; fg\r");
  ASSERT_TRUE(box.WaitForOutput("inside")) << box.output();
  box.Type("word\r");
  ASSERT_TRUE(box.WaitForOutput("word\r\nword")) << box.output();
  box.Type("\x04");
  box.Type("exit 6\r");
  EXPECT_EQ(box.Finish(), 6) << box.output();
}

TEST_F(JobControl, InTmuxTheScreenIsRestoredAndASizeThatChangedMeanwhileArrives) {
  // As editors and agents do: another screen, raw keys, and SIGTSTP to its own group at Ctrl-Z.
  Write("home/code/project/screen.py",
        "import os, signal, sys, termios, tty\n"
        "habits = termios.tcgetattr(0)\n"
        "def enter(*ignored):\n"
        "  tty.setraw(0)\n"
        "  os.write(1, b'\\x1b[?1049h\\x1b[Hfull screen %d %d\\r\\n' % os.get_terminal_size(0))\n"
        "def leave():\n"
        "  os.write(1, b'\\x1b[?1049l')\n"
        "  termios.tcsetattr(0, termios.TCSADRAIN, habits)\n"
        "signal.signal(signal.SIGCONT, enter)\n"
        "signal.signal(signal.SIGWINCH, enter)\n"
        "enter()\n"
        "while True:\n"
        "  key = os.read(0, 1)\n"
        "  if key == b'\\x1a': leave(); os.kill(0, signal.SIGTSTP)\n"
        "  if key == b'\\x03': leave(); sys.exit(5)\n");
  Tmux tmux(ShellWords());
  tmux.Type("echo be''fore; " + Line("exec python3 screen.py") + "\r");
  ASSERT_TRUE(tmux.WaitFor("full screen 80 24")) << tmux.Screen();
  EXPECT_THAT(tmux.Screen(), Not(HasSubstr("before")));
  tmux.Keys({"C-z"});
  ASSERT_TRUE(tmux.WaitFor("Stopped")) << tmux.Screen();
  EXPECT_THAT(tmux.Screen(), HasSubstr("before")) << "the screen is the shell's again";
  EXPECT_THAT(tmux.Screen(), Not(HasSubstr("full screen")));
  tmux.Type("clear; echo a''nd; jobs\r");
  ASSERT_TRUE(tmux.WaitFor("and\n")) << tmux.Screen();
  ASSERT_TRUE(tmux.WaitFor("Stopped")) << tmux.Screen();
  tmux.Resize(100, 30);
  tmux.Type("fg\r");
  ASSERT_TRUE(tmux.WaitFor("full screen 100 30")) << tmux.Screen();
  tmux.Resize(90, 25);
  ASSERT_TRUE(tmux.WaitFor("full screen 90 25")) << tmux.Screen();
  tmux.Keys({"C-c"});
  EXPECT_TRUE(tmux.WaitFor("status=5")) << tmux.Screen();
}

}  // namespace
}  // namespace igloo::testing
