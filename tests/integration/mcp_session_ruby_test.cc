// Sessions of Ruby, which a driver keeps alive, and of Perl, of which every call is a program.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "support/mcp_sessions.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class McpSessionRuby : public McpSessions {
 protected:
  JsonObject Do(std::string_view code, JsonObject more = {}) {
    return In("r", "ruby", code, std::move(more));
  }
  std::string Says(std::string_view code) { return TextOf(Do(code)); }
};

TEST_F(McpSessionRuby, RemembersLocalsMethodsAndTheDirectory) {
  EXPECT_FALSE(
      IsError(Do("require 'json'\nx = 40\ndef f(y) = y + 2\nclass A; end; Dir.mkdir 'd'\n"
                 "Dir.chdir 'd'\n@y = ->(z) { x += z }")));
  EXPECT_THAT(Says("puts f(x), A.new.class, @y.(1), x, Dir.pwd, JSON.generate([nil])"),
              StartsWith("42\nA\n41\n41\n/workspace/d\n[null]\n"));
}

TEST_F(McpSessionRuby, ShowsTheLastValue) {
  const JsonObject value = Do("x = 40\nx * 2");
  EXPECT_THAT(TextOf(value), StartsWith("80\n"));
  EXPECT_EQ(value.at("structuredContent").at("value").as_string(), "80");
  EXPECT_FALSE(Do("x = 5").at("structuredContent").as_object().contains("value"));
  EXPECT_FALSE(Do("x", {{"echo", false}}).at("structuredContent").as_object().contains("value"));
}

TEST_F(McpSessionRuby, AnErrorKeepsVariables) {
  Says("x = 7");
  const JsonObject failed = Do("y = x + 1\nnil.missing\ny = 0");
  EXPECT_TRUE(IsError(failed));
  EXPECT_THAT(TextOf(failed), AllOf(HasSubstr("<run 2>:2:in `<main>'"), HasSubstr("NoMethodError"),
                                    Not(HasSubstr("driver.rb"))));
  EXPECT_THAT(Says("puts [x, y].inspect"), StartsWith("[7, 8]\n"));
}

TEST_F(McpSessionRuby, ATimeOutInterruptsAndKeepsVariables) {
  Says("x = 7");
  for (const char* code : {"loop { sleep 0.01 }", "system 'sleep 1000'", "loop {}"}) {
    const JsonObject result = Do(code, {{"timeout_seconds", 0.3}});
    EXPECT_TRUE(result.at("structuredContent").at("timed_out").as_bool()) << code;
    EXPECT_THAT(TextOf(result), HasSubstr("variables are kept: the code was interrupted")) << code;
    EXPECT_THAT(Says("puts x"), StartsWith("7\n")) << code;
  }
}

TEST_F(McpSessionRuby, CodeThatWillNotStopIsKilled) {
  Says("x = 7");
  const JsonObject result =
      Do("trap('INT') {}\nFile.write('kept', 'here')\nloop {}", {{"timeout_seconds", 0.3}});
  EXPECT_THAT(TextOf(result), HasSubstr("variables are lost, files are kept"));
  EXPECT_THAT(Says("puts defined?(x).inspect, File.read('kept')"), StartsWith("nil\nhere\n"));
}

TEST_F(McpSessionRuby, KeepsTheOrderOfOutput) {
  EXPECT_THAT(Says("print 1; system('printf 2'); puts 3; pid = fork { print 4 }; Process.wait pid; "
                   "$stdout.write \"5\\n\"; nil"),
              StartsWith("123\n45\n"));
}

TEST_F(McpSessionRuby, AnInterpreterThatEndsTakesVariablesButNotFiles) {
  Says("x = 1; File.write('f', 'kept')");
  EXPECT_THAT(Says("at_exit { puts 'bye' }; exit 3"),
              AllOf(StartsWith("bye\n"), HasSubstr("ended with exit code 3")));
  EXPECT_THAT(Says("puts defined?(x).inspect, File.read('f')"),
              AllOf(StartsWith("nil\nkept\n"), HasSubstr("variables were lost")));
}

TEST_F(McpSessionRuby, OutputCannotDisturbTheChannel) {
  EXPECT_THAT(Says("$stdout.write \"done 1 2\\n{}\"; system 'echo sub; echo err >&2'; nil"),
              HasSubstr("done 1 2\n{}sub\n"));
  EXPECT_THAT(Says("gets.inspect"), StartsWith("\"nil\"\n"));
  const JsonObject forged =
      Do("(3..64).each { |fd| IO.for_fd(fd, 'w').syswrite('nonsense ' * 100) rescue nil }");
  EXPECT_TRUE(IsError(forged));
  EXPECT_THAT(Says("puts 'anew'"), StartsWith("anew\n"));
}

TEST_F(McpSessionRuby, FindsFilesOfItsDirectoryAndIsTheProgram) {
  EXPECT_THAT(Says("File.write('own.rb', 'def own = 5')\nrequire 'own'\n"
                   "puts own if __FILE__ == $0"),
              StartsWith("5\n"));
}

TEST_F(McpSessionRuby, CannotBeForked) {
  Says("x = 1");
  EXPECT_THAT(TextOf(In("copy", "ruby", "x", {{"fork_of", "r"}})),
              HasSubstr("sessions of Ruby cannot be forked"));
}

TEST_F(McpSessionRuby, ProgramsStartFromNothing) {
  Says("x = 1; File.write('f', 'x')");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(TextOf(client_.Run("ruby", "puts defined?(x).inspect, Dir.children('.').inspect")),
                StartsWith("nil\n[]\n"));
  }
}

TEST_F(McpSessionRuby, PerlKeepsFilesAlone) {
  EXPECT_THAT(Text("p", "perl", "our $x = 1; open my $f, '>', 'f'; print $f 'kept'; print 'hi'"),
              StartsWith("hi"));
  EXPECT_THAT(Text("p", "perl", "open my $f, '<', 'f'; print <$f>, defined $x ? 1 : 0, qq(\\n)"),
              AllOf(StartsWith("kept0\n"), Not(HasSubstr("lost"))));
  EXPECT_THAT(Text("p", "perl", "die qq(no\\n)"), HasSubstr("no\n"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(TextOf(client_.Run("perl", "print 6 * 7, qq(\\n)")), StartsWith("42\n"));
  }
}

}  // namespace
}  // namespace igloo::testing
