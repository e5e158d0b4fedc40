#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "language/language.h"
#include "language/prompt.h"
#include "support/driven.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class RubyDriver : public ::testing::Test {
 protected:
  std::string Value(std::string_view code) { return driven_.Run(code).value; }
  std::string Out(std::string_view code) { return driven_.Run(code, "-").out; }

  Driven driven_ = Driven("ruby");
};

TEST_F(RubyDriver, KeepsWhatCodeDefined) {
  driven_.Run(
      "a = 1; @b = 2; $c = 3; D = 4\nclass E\n  def f = 5\nend\ndef g(x)\n  x * 2\nend\n"
      "h = ->(x) { a += x }");
  EXPECT_EQ(Value("[a, @b, $c, D, E.new.f, g(3), h.(10), a]"), "[1, 2, 3, 4, 5, 6, 11, 11]");
  EXPECT_EQ(Value("[self, binding.local_variables]"), "[main, [:a, :h]]")
      << "nothing of the driver's is a variable of the code";
}

TEST_F(RubyDriver, EchoesTheLastValueWhenAsked) {
  EXPECT_EQ(driven_.Run("1 + 1").value, "2");
  EXPECT_EQ(driven_.Run("1 + 1", "-").value, "");
  EXPECT_EQ(Value("'text'"), "\"text\"");
  EXPECT_EQ(Value("\"\\u00fc \\xff\\u0001\""), "\"\xc3\xbc \\xFF\\u0001\"");
  EXPECT_EQ(Value("Struct.new(:a).new(:b)"), "#<struct a=:b>");
  EXPECT_EQ(Value("BasicObject.new"), "#<BasicObject>");
  EXPECT_EQ(Value("'x'\n.upcase # why\n"), "\"X\"");
  EXPECT_THAT(Value("'x' * 20000"), AllOf(SizeIs(10'000U), HasSubstr("... [20002 characters]")));
  EXPECT_EQ(Value("Class.new { def inspect = \"\\xff\\\"\".b }.new"), "\xef\xbf\xbd\"");
}

TEST_F(RubyDriver, ShowsNoValueOfDefinitionsAndAssignments) {
  for (const char* code :
       {"nil", "x = 5", "x += 1", "@x = 5", "$x ||= 5", "a, b = 1, 2", "X = 5", "h = {}\nh[1] = 2",
        "def f = 1", "class C; end", "module M; end", "alias g f", "puts"}) {
    EXPECT_EQ(Value(code), "") << code;
  }
  EXPECT_EQ(Value("x"), "6");
}

TEST_F(RubyDriver, IsTheProgramForWhoeverAsks) {
  EXPECT_EQ(Out("puts 'main' if __FILE__ == $0\nputs 'name' if __FILE__ == $PROGRAM_NAME\np ARGV"),
            "main\nname\n[]\n");
}

TEST_F(RubyDriver, ShowsErrorsWithTheUsersLinesOnly) {
  driven_.Run("def inner(x)\n  x.y\nend");
  const DrivenRun run = driven_.Run("\ninner(nil)");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.error, "NoMethodError: undefined method `y' for nil:NilClass");
  EXPECT_EQ(run.err,
            "<run 1>:2:in `inner': undefined method `y' for nil:NilClass (NoMethodError)\n"
            "\tfrom <run 2>:2:in `<main>'\n");
  const DrivenRun both = driven_.Run("begin; raise 'a'; rescue; raise ArgumentError, 'b'; end");
  EXPECT_THAT(both.err, AllOf(HasSubstr("b (ArgumentError)"), HasSubstr("a (RuntimeError)"),
                              Not(HasSubstr("driver.rb"))));
}

TEST_F(RubyDriver, ShowsSyntaxErrorsWithTheirPlace) {
  const DrivenRun run = driven_.Run("a = 1\nb = )");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("<run 1>:2: syntax error"), Not(HasSubstr("driver.rb"))));
  EXPECT_EQ(Value("defined?(a).inspect"), "\"nil\"");
}

TEST_F(RubyDriver, ReportsWhateverIsRaised) {
  driven_.Run("kept = 1");
  EXPECT_EQ(driven_.Run("raise Class.new(StandardError) { def message = raise('no') }").status, 1);
  EXPECT_EQ(driven_.Run("throw :nobody").error, "UncaughtThrowError: uncaught throw :nobody");
  EXPECT_EQ(driven_.Run("def deep = deep\ndeep").error, "SystemStackError: stack level too deep");
  EXPECT_EQ(driven_.Run("raise NotImplementedError, \"a\\nb\"").error, "NotImplementedError: a b");
  EXPECT_EQ(driven_.Run("Thread.new { raise 'in a thread' }.join").error,
            "RuntimeError: in a thread");
  EXPECT_EQ(driven_.Run("raise 'x'.b + \"\\xff\"").status, 1);
  EXPECT_EQ(Value("kept"), "1");
}

TEST_F(RubyDriver, ReturnsFromTheTopLevel) {
  const DrivenRun run = driven_.Run("puts 1\nreturn if true\nputs 2");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "1\n");
  EXPECT_EQ(driven_.Run("def f = yield\nf { return }").error, "LocalJumpError: unexpected return");
}

TEST_F(RubyDriver, KeepsTheOrderOfOutput) {
  EXPECT_EQ(Out("print 1; system('printf 2'); $stdout.write('3'); `true`; STDOUT.print 4; "
                "pid = fork { print 5 }; Process.wait pid; puts 6"),
            "123456\n");
}

TEST_F(RubyDriver, SurvivesWhatCodeDoesToItsInterpreter) {
  driven_.Run(
      "kept = 1\ndef eval(*) = 1\ndef raise(*) = 2\ndef exit(*) = 3\ndef puts(*) = 4\n"
      "def proc = 5\ndef report(x) = 6\ndef format(*) = 7\ndef execute(*) = 8\ndef loop = 9\n"
      "def say(*) = 10\ndef trap(*) = 11");
  EXPECT_EQ(Value("kept + 1"), "2");
  EXPECT_EQ(driven_.Run("Kernel.raise 'x'").error, "RuntimeError: x");
  driven_.Run("$VERBOSE = nil; $, = '-'; $; = 'k'; $/ = 'r'; $\\ = '!'");
  EXPECT_EQ(Value("kept + 2"), "3");
  driven_.Run("$stdout = nil.to_s.then { require 'stringio'; StringIO.new }; STDERR.close");
  EXPECT_EQ(driven_.Run("nothing.like_this").status, 1);
  EXPECT_EQ(Value("kept + 3"), "4");
  EXPECT_EQ(Value("$stdout = STDOUT; STDOUT.sync = false; print 'x'\n5"), "5");
}

TEST_F(RubyDriver, LetsNoForkOfTheCodeAnswer) {
  const DrivenRun run = driven_.Run(
      "at_exit { STDOUT.write('end ') }\npid = fork\nProcess.wait(pid) if pid\n"
      "STDOUT.write(pid ? 'parent' : 'child ')",
      "-");
  EXPECT_EQ(run.out, "child end parent");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(RubyDriver, RunsExitHandlersWhenCodeExits) {
  const DrivenRun run = driven_.Run("at_exit { puts 'bye' }\nbegin; exit 4; ensure; puts 'x'; end");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 4);
  EXPECT_EQ(run.out, "x\nbye\n");
}

TEST_F(RubyDriver, LetsThreadsGoOnBetweenRuns) {
  driven_.Run("queue = Queue.new; late = Thread.new { queue.pop * 2 }");
  EXPECT_EQ(Value("queue << 21; late.value"), "42");
}

TEST_F(RubyDriver, IsInterruptedWhereverItIs) {
  driven_.Run("kept = 1");
  for (const std::string code :
       {"puts 'go'; loop {}", "puts 'go'; sleep", "begin; puts 'go'; sleep; ensure; loop {}; end",
        "puts 'go'; `sleep 1000`; puts 'no'", "Thread.new { puts 'go'; sleep }.join",
        "puts 'go'; $stdin = IO.pipe; $stdin[0].read"}) {
    driven_.Begin(code);
    ASSERT_TRUE(driven_.WaitForOutput("go\n")) << code;
    const DrivenRun run = driven_.EndByInterrupts();
    EXPECT_EQ(run.status, 130) << code;
    EXPECT_TRUE(run.interrupted) << code;
    EXPECT_THAT(run.err, Not(HasSubstr("driver.rb"))) << code;
    EXPECT_FALSE(run.ended) << code;
  }
  EXPECT_EQ(Value("kept"), "1");
}

TEST_F(RubyDriver, LeavesAnInterruptToTheUsersTrap) {
  driven_.Run("trap('INT') { puts 'mine' }");
  driven_.Begin("puts 'go'; system('sleep 1000'); puts 'after'");
  ASSERT_TRUE(driven_.WaitForOutput("go\n"));
  DrivenRun run = driven_.EndByInterrupts();
  EXPECT_THAT(run.out, AllOf(HasSubstr("mine\n"), HasSubstr("after\n")));
  EXPECT_FALSE(run.interrupted);
  driven_.Run("trap('INT', 'DEFAULT')");
  driven_.Begin("puts 'go'; sleep");
  ASSERT_TRUE(driven_.WaitForOutput("go\n"));
  run = driven_.EndByInterrupts();
  EXPECT_TRUE(run.interrupted);
  EXPECT_FALSE(run.ended);
}

TEST_F(RubyDriver, CompletesNamesWithoutCallingAnything) {
  driven_.Run("longer_name = 'x'\ndef never_called = exit(9)");
  const auto names = [&](const char* word) { return Out(CompletionCode(PromptOf("ruby"), word)); };
  EXPECT_THAT(names("longer"), HasSubstr("longer_name\n"));
  EXPECT_THAT(names("longer_name.up"), HasSubstr("longer_name.upcase\n"));
  EXPECT_THAT(names("File.ba"), HasSubstr("File.basename\n"));
  EXPECT_THAT(names("never"), HasSubstr("never_called\n"));
  EXPECT_EQ(names("never_called.x"), "");
  EXPECT_EQ(Value("binding.local_variables"), "[:longer_name]");
}

}  // namespace
}  // namespace igloo::language
