// Sessions that begin as copies of others, through the server.

#include <gmock/gmock.h>

#include "support/mcp_sessions.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class McpFork : public McpSessions {
 protected:
  JsonObject Fork(std::string_view session, std::string_view of, std::string_view env,
                  std::string_view code) {
    return In(session, env, code, {{"fork_of", of}});
  }
};

TEST_F(McpFork, APythonSessionGoesTwoWays) {
  Text("a", "python",
       "import os\nx = 1\nos.mkdir('d'); os.chdir('d'); open('f', 'w').write('one')");
  const JsonObject fork =
      Fork("b", "a", "python", "x += 1\nprint(x, open('f').read(), os.getcwd())");
  EXPECT_THAT(TextOf(fork), AllOf(StartsWith("2 one /workspace/d\n"),
                                  HasSubstr("this is a copy of session 'a'")));
  EXPECT_FALSE(IsError(fork));
  Text("b", "python", "open('f', 'w').write('two'); open('g', 'w').write('x')");
  EXPECT_THAT(Text("a", "python", "print(x, open('f').read(), os.listdir())"),
              StartsWith("1 one ['f']\n"));
  EXPECT_THAT(Text("b", "python", "print(x, open('f').read())"), StartsWith("2 two\n"));
  // It lives on when the other one ends.
  client_.Call("run", {{"session_action", "close"}, {"session", "a"}});
  EXPECT_THAT(Text("b", "python", "print(x)"), StartsWith("2\n"));
  EXPECT_THAT(TextOf(Fork("c", "b", "python", "print(x)")), StartsWith("2\n"));
}

TEST_F(McpFork, LeavesASessionAliveThatWaitsForEveryChildItself) {
  Text("a", "python", "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nx = 5");
  EXPECT_THAT(TextOf(Fork("b", "a", "python", "print(x)")), StartsWith("5\n"));
  EXPECT_THAT(Text("a", "python", "print(x)"), StartsWith("5\n"));
  Text("c", "python",
       "import os, signal\ndef reap(*_):\n  try:\n    while os.waitpid(-1, os.WNOHANG)[0]: pass\n"
       "  except ChildProcessError: pass\nsignal.signal(signal.SIGCHLD, reap)\nx = 6");
  EXPECT_THAT(TextOf(Fork("d", "c", "python", "print(x)")), StartsWith("6\n"));
  EXPECT_THAT(Text("c", "python", "print(x)"), StartsWith("6\n"));
}

TEST_F(McpFork, IsNoCopyOfAnotherChild) {
  Text("a", "python", R"py(
import os
x, busy = 5, []
def hook():
    if busy: return
    busy.append(1)
    if os.fork() == 0: os._exit(0)
    os.wait()
    busy.clear()
os.register_at_fork(before=hook)
)py");
  const JsonObject fork = Fork("b", "a", "python", "print(x)");
  EXPECT_TRUE(IsError(fork));
  EXPECT_THAT(TextOf(fork), HasSubstr("the session's own code forked at the same time"));
  EXPECT_THAT(Text("a", "python", "print(x)"), StartsWith("5\n"));
}

TEST_F(McpFork, WithoutANameItGetsOne) {
  Text("a", "python", "x = 5");
  const JsonObject fork = client_.Run("python", "print(x)", {{"fork_of", "a"}});
  EXPECT_THAT(TextOf(fork), AllOf(StartsWith("5\n"), HasSubstr("this is session s-")));
}

TEST_F(McpFork, ABashSessionGoesTwoWays) {
  EXPECT_FALSE(IsError(In("a", "shell", R"sh(
x='a "quoted" $value'; declare -A map=([k]=v); list=(1 'two words' 3); readonly fixed=7; export seen=yes
greet() { echo "hi $1"; }
alias ll='echo listed'
set -o pipefail; shopt -s nullglob; umask 077
mkdir d; cd d; echo content > file
)sh")));
  EXPECT_THAT(
      TextOf(Fork("b", "a", "shell", R"sh(
echo "$x ${map[k]} ${list[1]} $fixed $(env | grep -c '^seen=yes')"; greet you; ll
set -o | grep pipefail; shopt nullglob; umask; pwd; cat file; x=changed
)sh")),
      StartsWith("a \"quoted\" $value v two words 7 1\nhi you\nlisted\npipefail       \ton\n"
                 "nullglob       \ton\n0077\n/workspace/d\ncontent\n"));
  EXPECT_THAT(Text("a", "shell", "echo \"$x\""), StartsWith("a \"quoted\" $value\n"));
  EXPECT_THAT(Text("b", "shell", "echo \"$x\""), StartsWith("changed\n"));
}

TEST_F(McpFork, ABashSessionKeepsItsVariablesWithAnotherIfs) {
  Text("a", "shell", "a=1; b='2 3'; IFS=:; names=; names=$(compgen -v)");
  EXPECT_THAT(TextOf(Fork("b", "a", "shell", "echo \"[$a][$b][$IFS]\"")),
              StartsWith("[1][2 3][:]\n"));
  // Nothing of the copying stays behind.
  EXPECT_THAT(Text("a", "shell", "[[ $names == \"$(compgen -v)\" ]] && echo \"same [$IFS]\""),
              StartsWith("same [:]\n"));
}

TEST_F(McpFork, ABashSessionKeepsWhatIsNotAVariable) {
  Text("a", "shell", R"sh(
f() { echo exported; }; export -f f
set -- 'p q' r; COMP_X=3; BASH_Y=4; EPOCHX=5; OPTIND=3
mkdir one two; cd one; pushd ../two >/dev/null
trap 'echo a
echo b' USR1
shopt -s extglob)sh");
  Text("a", "shell", R"sh(
match() { case $1 in +(a|b)) echo matched ;; esac; }
greet() { word there; }; alias word='echo hi'; cd() { builtin cd "$@"; }; declare() { false; })sh");
  EXPECT_THAT(TextOf(Fork("b", "a", "shell", R"sh(
bash -c f; echo "$# [$1][$2][$COMP_X][$BASH_Y][$EPOCHX] $OPTIND"; dirs -l; popd >/dev/null; pwd
kill -USR1 $$; match ab; word you; type -t cd declare; shopt -q -o errtrace || echo no errtrace)sh")),
              StartsWith("exported\n2 [p q][r][3][4][5] 3\n/workspace/two /workspace/one\n"
                         "/workspace/one\na\nb\nmatched\nhi you\nfunction\nfunction\n"
                         "no errtrace\n"));
  Text("c", "shell", "set -eux; readonly fixed=5; declare -n name=fixed");
  EXPECT_THAT(TextOf(Fork("d", "c", "shell", "echo \"$name ${-//[!eux]/}\" 2>/dev/null")),
              HasSubstr("5 eux\n"));
}

TEST_F(McpFork, WhatCannotBeForkedSaysSo) {
  Text("n", "node", "let x = 1");
  EXPECT_THAT(TextOf(Fork("m", "n", "node", "x")), HasSubstr("sessions of Node cannot be forked"));
  EXPECT_THAT(TextOf(Fork("m", "nobody", "python", "1")),
              HasSubstr("there is no session 'nobody'"));
  EXPECT_THAT(TextOf(Fork("m", "n", "python", "1")), HasSubstr("belongs to environment 'node'"));
  Text("p", "python", "x = 1");
  Text("q", "python", "x = 2");
  EXPECT_THAT(TextOf(Fork("q", "p", "python", "print(x)")), HasSubstr("session 'q' lives already"));
  EXPECT_THAT(Text("q", "python", "print(x)"), StartsWith("2\n"));
  // None of these began.
  EXPECT_THAT(TextOf(client_.Call("run", {{"session_action", "list"}})),
              ::testing::Not(HasSubstr("m:")));
}

TEST_F(McpFork, WaitsForTheCallUnderWay) {
  Text("a", "python", "x = 1");
  const std::int64_t slow = client_.Send(
      "tools/call", {{"name", "run"},
                     {"arguments", JsonObject{{"env", "python"},
                                              {"session", "a"},
                                              {"code", "import time\ntime.sleep(0.3)\nx = 2"}}}});
  EXPECT_THAT(TextOf(Fork("b", "a", "python", "print(x)")), StartsWith("2\n"));
  client_.Wait(slow);
}

}  // namespace
}  // namespace igloo::testing
