#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/driven.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BashDriver : public ::testing::Test {
 protected:
  /// The code prints "go" and then waits for ever.
  void ExpectInterruptible(const std::string& code) {
    driven_.Begin(code);
    ASSERT_TRUE(driven_.WaitForOutput("go\n")) << code;
    driven_.Interrupt();
    const DrivenRun run = driven_.End();
    EXPECT_EQ(run.status, 130) << code;
    EXPECT_TRUE(run.interrupted) << code;
    EXPECT_EQ(run.out, "go\n") << code;
    EXPECT_EQ(driven_.Run("echo $kept").out, "yes\n") << code;
  }

  std::string Out(std::string_view code) { return driven_.Run(code).out; }

  Driven driven_ = Driven("bash");
};

TEST_F(BashDriver, KeepsWhatCodeMade) {
  driven_.Run(
      "x=1; declare y=2; declare -A map=([a]=3); export z=4; f() { echo \"f $1\"; }\n"
      "alias word='echo alias'; cd /usr; umask 027; shopt -s extglob");
  EXPECT_EQ(Out("echo $x $y ${map[a]}; f 5; word 6; pwd; umask; sh -c 'echo $z'; echo +(no)"),
            "1 2 3\nf 5\nalias 6\n/usr\n0027\n4\n+(no)\n");
}

TEST_F(BashDriver, LooksLikeAShell) {
  EXPECT_EQ(Out("echo $0 $# $LINENO $- ${BASH_SOURCE[0]}"), "bash 0 1 hB bash\n");
  EXPECT_EQ(Out("declare -p OLDPWD BASH_EXECUTION_STRING 2>&1"),
            "declare -x OLDPWD\nbash: line 1: declare: BASH_EXECUTION_STRING: not found\n");
  EXPECT_EQ(driven_.Run("(exit 7)").status, 7);
  EXPECT_EQ(Out("echo $?"), "7\n");
  EXPECT_EQ(Out("echo $?"), "0\n");
}

TEST_F(BashDriver, IsTheProgramForWhoeverAsks) {
  EXPECT_EQ(Out("main() { echo main; }\nif [[ \"${BASH_SOURCE[0]}\" == \"$0\" ]]; then main; fi\n"
                "[ \"$0\" = \"$BASH_SOURCE\" ] && main\n"
                "(return 0 2>/dev/null) || main"),
            "main\nmain\nmain\n");
  // And what it sources is not.
  EXPECT_EQ(Out("echo '[[ ${BASH_SOURCE[0]} == \"$0\" ]] || echo library' >$HOME/lib; . $HOME/lib"),
            "library\n");
  EXPECT_EQ(Out("f() { echo ${FUNCNAME[@]} ${BASH_SOURCE[@]}; }\nf"), "f main bash bash\n");
  EXPECT_EQ(driven_.Run("f() {\n  nosuch\n}\nf").err, "bash: line 2: nosuch: command not found\n");
}

TEST_F(BashDriver, NamesTheUsersLines) {
  const DrivenRun run = driven_.Run("echo one\nno_such_program\ncd /nowhere\n");
  EXPECT_THAT(run.err, StartsWith("bash: line 2: no_such_program: command not found\n"));
  EXPECT_THAT(run.err, HasSubstr("bash: line 3: cd: /nowhere: "));
  EXPECT_EQ(run.status, 1);
}

TEST_F(BashDriver, AnswersOpenQuotesAndSyntaxErrors) {
  for (const std::string code :
       {"echo \"open", "echo 'open", "if true; then", "cat <<(", "f() {"}) {
    const DrivenRun run = driven_.Run(code);
    EXPECT_EQ(run.status, 2) << code;
    EXPECT_THAT(run.err, StartsWith("bash: ")) << code;
    EXPECT_FALSE(run.ended);
  }
  EXPECT_EQ(Out("echo fine"), "fine\n");
}

TEST_F(BashDriver, StopsARunAtAFailureUnderErrexitAndLives) {
  driven_.Run("kept=yes");
  DrivenRun run = driven_.Run("set -e\necho a\n(exit 4)\necho not reached");
  EXPECT_EQ(run.status, 4);
  EXPECT_EQ(run.out, "a\n");
  EXPECT_FALSE(run.ended);
  // It still holds, also in functions and loops, and where a failure is asked for it is none.
  run = driven_.Run(
      "f() { false; echo not reached; }\ng() { for i in 1 2; do f; echo no; done; }\n"
      "if false; then :; fi; false || echo $kept; x=$(false || echo sub); echo $x; g; echo no");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "yes\nsub\n");
  run = driven_.Run("( false; echo not reached ); echo not reached");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(Out("set +e; false; echo on"), "on\n");
}

TEST_F(BashDriver, SurvivesWhatCodeDoesToItsShell) {
  driven_.Run("set -euf; IFS='0123456789,r '; LANG=C; LC_ALL=C; set -a; set -o pipefail; set -C");
  EXPECT_EQ(Out("echo one"), "one\n");
  driven_.Run("printf() { echo mine; }; read() { :; }; exit_() { :; }; trap_() { :; }; local_=1");
  EXPECT_EQ(Out("echo two"), "two\n");
  driven_.Run("exec 4>&1 1>&-");
  EXPECT_EQ(driven_.Run("echo lost").status, 1);
  EXPECT_EQ(Out("exec 1>&4; echo three"), "three\n");
  driven_.Run("exec 2>&-");
  EXPECT_EQ(Out("echo four"), "four\n");
  EXPECT_EQ(driven_.Run("break 2").status, 0);
  EXPECT_EQ(driven_.Run("continue 9").status, 0);
  EXPECT_EQ(Out("while :; do break; done; echo five"), "five\n");
}

TEST_F(BashDriver, CallsNoFunctionOfTheUsers) {
  driven_.Run(
      "for name in : eval printf read set shopt true false test exit declare return local trap "
      "'['; do\n"
      "  builtin eval \"$name() { command printf 'called %s\\\\n' '$name'; }\"\ndone");
  EXPECT_EQ(Out("echo one"), "one\n");
  EXPECT_EQ(driven_.Run("nothing_like_this").status, 127);
  driven_.Run("builtin set -e");
  EXPECT_EQ(driven_.Run("echo two; (builtin exit 4); echo three").out, "two\n");
  EXPECT_EQ(Out(":"), "called :\n");
}

TEST_F(BashDriver, DoesNotExportTheCodeWithAllexport) {
  driven_.Run("set -a");
  const std::string large = "# " + std::string(300'000, 'x') + "\n/bin/echo works";
  EXPECT_EQ(Out(large), "works\n");
}

TEST_F(BashDriver, KeepsTracingToTheUsersCommands) {
  EXPECT_EQ(driven_.Run("set -x").err, "");
  EXPECT_EQ(driven_.Run("echo a").err, "++ echo a\n");
  driven_.Run("set +x");
  EXPECT_EQ(driven_.Run("echo a").err, "");
}

TEST_F(BashDriver, LetsARedirectionOfTheShellStand) {
  driven_.Run("exec 5>&1 >" + driven_.directory() + "/file; printf one");
  EXPECT_EQ(Out("printf two"), "");
  EXPECT_EQ(Out("exec >&5; cat " + driven_.directory() + "/file"), "onetwo");
}

TEST_F(BashDriver, KeepsTrapsOfTheUser) {
  driven_.Run("trap 'echo err' ERR; trap 'echo usr' USR1");
  EXPECT_EQ(Out("false; kill -USR1 $$; true"), "err\nusr\n");
  EXPECT_EQ(Out("true"), "");  // nothing of the driver's own fails
  driven_.Run("trap 'echo int' INT");
  driven_.Begin("sh -c 'echo go; exec sleep 1000'; echo after");
  ASSERT_TRUE(driven_.WaitForOutput("go\n"));
  driven_.Interrupt();
  const DrivenRun run = driven_.End();
  EXPECT_THAT(run.out, ::testing::AllOf(HasSubstr("int\n"), HasSubstr("after\n")));
  EXPECT_FALSE(run.interrupted);
}

TEST_F(BashDriver, RunsTheExitTrapWhenCodeExits) {
  driven_.Run("trap 'echo bye' EXIT");
  const DrivenRun run = driven_.Run("exit 5");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 5);
  EXPECT_EQ(run.out, "bye\n");
}

TEST_F(BashDriver, IsInterruptedWhereverItIs) {
  driven_.Run("kept=yes");
  const std::string wait = "sh -c 'echo go; exec sleep 1000'";
  ExpectInterruptible("echo go; while :; do :; done; echo no");
  ExpectInterruptible(
      "f() { echo go; while :; do :; done; echo no; }\n"
      "g() { for i in 1 2; do f; echo no; done; }\ng\necho no");
  ExpectInterruptible(wait + "\necho no");
  ExpectInterruptible("f() { " + wait + "; echo no; }; f; echo no");
  ExpectInterruptible("f() { " + wait + "; }\nf\necho no");
  ExpectInterruptible("f() { " + wait + "; }\nwhile f; do :; done; echo no");
  ExpectInterruptible("exec 6>&1; x=$(sh -c 'echo go >&6; exec sleep 1000'); echo no");
  ExpectInterruptible(wait + " | cat; echo no");
  ExpectInterruptible("(echo go; while :; do :; done); echo no");
  ExpectInterruptible("sleep 1000 & echo go; wait; echo no");
  ExpectInterruptible("set -e; f() { " + wait + "; echo no; }; f; echo no");
}

TEST_F(BashDriver, LetsBackgroundJobsGoOn) {
  const std::string pipe = driven_.directory() + "/pipe";
  EXPECT_EQ(Out("mkfifo " + pipe + "; (read x <" + pipe + "; echo \"late $x\") & echo started"),
            "started\n");
  EXPECT_EQ(Out("echo word >" + pipe + "; wait"), "late word\n");
}

TEST_F(BashDriver, EndsWhenTheShellBecomesAnotherProgram) {
  const DrivenRun run = driven_.Run("exec sh -c 'echo other; exit 6'");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 6);
  EXPECT_EQ(run.out, "other\n");
}

TEST_F(BashDriver, RefusesANulByteInsteadOfWaiting) {
  const DrivenRun run = driven_.Run(std::string_view("echo a\0b", 8));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.error, HasSubstr("NUL"));
  EXPECT_EQ(Out("echo fine"), "fine\n");
}

}  // namespace
}  // namespace igloo::language
