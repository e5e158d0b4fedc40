#include "language/prompt.h"

#include <gmock/gmock.h>

#include "language/language.h"

namespace igloo::language {
namespace {

using ::testing::HasSubstr;

TEST(PromptTest, PythonBlocksEndWithAnEmptyLine) {
  const auto whole = [](std::string_view text) { return IsWhole(PromptOf("python"), text); };
  for (const char* text : {"1 + 1\n", "x = {'a': 1}\n", "print(':')\n", "# if x:\n", "\n",
                           "x = 'it''s'\n", "for i in x:\n  print(i)\n\n", "if x: y\n\n",
                           "\"\"\"a\nb\"\"\"\n", "d = {\n 1: 2\n}\n", "s = 'unterminated\n"}) {
    EXPECT_TRUE(whole(text)) << text;
  }
  for (const char* text : {"for i in x:\n", "for i in x:\n  print(i)\n", "f(1,\n", "x = '''a\n",
                           "x = 1 + \\\n", "@cache\n", "class A:  # why\n", "d = {'(': [\n"}) {
    EXPECT_FALSE(whole(text)) << text;
  }
}

TEST(PromptTest, NodeAsksForBrackets) {
  const auto whole = [](std::string_view text) { return IsWhole(PromptOf("node"), text); };
  for (const char* text :
       {"1\n", "f({a: [1]})\n", "'('\n", "`a\nb`\n", "x // (\n", "/* ( */ 1\n"}) {
    EXPECT_TRUE(whole(text)) << text;
  }
  for (const char* text : {"function f() {\n", "[1,\n", "`a\n", "/* x\n"}) {
    EXPECT_FALSE(whole(text)) << text;
  }
}

TEST(PromptTest, TheShellAsksForTheEndsOfItsWords) {
  const auto whole = [](std::string_view text) { return IsWhole(PromptOf("bash"), text); };
  for (const char* text :
       {"ls\n", "if true; then ls; fi\n", "for i in 1 2; do echo $i; done\n", "f() { ls; }\n",
        "echo if do case\n", "echo 'a\nb'\n", "cat <<EOF\nx\nEOF\n", "case x in x) ls;; esac\n",
        "echo a#b\n", "echo ${x}\n"}) {
    EXPECT_TRUE(whole(text)) << text;
  }
  for (const char* text : {"if true; then\n", "for i in 1 2\ndo\n", "f() {\n", "echo 'a\n",
                           "ls |\n", "true &&\n", "cat <<EOF\nx\n", "case x in\n", "echo a \\\n"}) {
    EXPECT_FALSE(whole(text)) << text;
  }
}

TEST(PromptTest, RubyAsksForItsEnds) {
  const auto whole = [](std::string_view text) { return IsWhole(PromptOf("ruby"), text); };
  for (const char* text : {"1 + 1\n",
                           "def f\n  1\nend\n",
                           "def f(x) = x + 1\n",
                           "puts 1 if true\n",
                           "[1].each do |x|\n  p x\nend\n",
                           "[1].each { |x| p x }\n",
                           "x = if y then 1 else 2 end\n",
                           "while x do y end\n",
                           "while x\n y\nend\n",
                           "a.end.begin\n",
                           "{end: 1, if: 2}\n",
                           "x = :class\n",
                           "begin; 1; rescue; 2; end\n",
                           "'def'\n",
                           "# def\n",
                           "x # if\n",
                           "puts <<~TEXT\n  a\nTEXT\n",
                           "list << x\n",
                           "loop do break end\n",
                           "x = y if z\n",
                           "\"a\nb\"\n",
                           "case x when 1 then 2 end\n",
                           "x.each_slice(2).map do |a| a end\n",
                           "save! if x\n",
                           "[1].map { |y| y } if z\n",
                           "f(1) unless x.nil?\n",
                           "return if x\n",
                           "'a' if b\n"}) {
    EXPECT_TRUE(whole(text)) << text;
  }
  for (const char* text :
       {"def f\n", "def f(x = 1)\n", "class A\n  def f\n  end\n", "if x\n", "x = if y\n",
        "[1].each do |x|\n", "[1].each { |x|\n", "while x do\n", "begin\n", "f(1,\n", "x.\n",
        "\"a\n", "puts <<~TEXT\n  a\n", "x = 1 + \\\n", "a = b &&\n", "case x\nwhen 1\n",
        "unless x\n y\nelse\n"}) {
    EXPECT_FALSE(whole(text)) << text;
  }
}

TEST(PromptTest, ProgramsEndWithAnEmptyLine) {
  EXPECT_FALSE(IsWhole(PromptOf("command"), "package main\n"));
  EXPECT_TRUE(IsWhole(PromptOf("command"), "package main\n\n"));
}

TEST(PromptTest, OnlyNamesAreCompleted) {
  EXPECT_EQ(WordAtEnd(PromptOf("python"), "print(os.pa"), "os.pa");
  EXPECT_EQ(WordAtEnd(PromptOf("bash"), "cat data/in-1.t"), "data/in-1.t");
  EXPECT_EQ(WordAtEnd(PromptOf("node"), "x + $a.b"), "$a.b");
  EXPECT_EQ(WordAtEnd(PromptOf("python"), "f("), "");
  EXPECT_THAT(CompletionCode(PromptOf("python"), "os.pa"), HasSubstr("'os.pa'"));
  EXPECT_EQ(CompletionCode(PromptOf("python"), "'); evil('"), "");
  EXPECT_EQ(CompletionCode(PromptOf("bash"), "$(rm)"), "");
  EXPECT_EQ(CompletionCode(PromptOf("python"), ""), "");
  EXPECT_EQ(CompletionCode(PromptOf("node"), "a.b.c"),
            "{ for (let o = (a.b); o != null; o = Object.getPrototypeOf(o)) "
            "for (const n of Object.getOwnPropertyNames(Object(o))) console.log('a.b.' + n) }");
  EXPECT_THAT(CompletionCode(PromptOf("node"), "glob"), HasSubstr("(globalThis)"));
  EXPECT_THAT(CompletionCode(PromptOf("ruby"), "text.le"), HasSubstr("'text', 'text.')"));
  EXPECT_EQ(CompletionCode(PromptOf("bash"), "ls"),
            "builtin compgen -A function -A variable -A builtin -A command -A file -- ls");
  EXPECT_EQ(CompletionCode(PromptOf("command"), "x"), "");
}

}  // namespace
}  // namespace igloo::language
