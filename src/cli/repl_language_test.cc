#include "cli/repl_language.h"

#include <gmock/gmock.h>

namespace igloo::cli {
namespace {

using ::testing::HasSubstr;

TEST(ReplLanguageTest, PythonBlocksEndWithAnEmptyLine) {
  const auto whole = [](std::string_view text) { return IsWhole(Language::kPython, text); };
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

TEST(ReplLanguageTest, NodeAsksForBrackets) {
  const auto whole = [](std::string_view text) { return IsWhole(Language::kNode, text); };
  for (const char* text :
       {"1\n", "f({a: [1]})\n", "'('\n", "`a\nb`\n", "x // (\n", "/* ( */ 1\n"}) {
    EXPECT_TRUE(whole(text)) << text;
  }
  for (const char* text : {"function f() {\n", "[1,\n", "`a\n", "/* x\n"}) {
    EXPECT_FALSE(whole(text)) << text;
  }
}

TEST(ReplLanguageTest, TheShellAsksForTheEndsOfItsWords) {
  const auto whole = [](std::string_view text) { return IsWhole(Language::kShell, text); };
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

TEST(ReplLanguageTest, ProgramsEndWithAnEmptyLine) {
  EXPECT_FALSE(IsWhole(Language::kOther, "package main\n"));
  EXPECT_TRUE(IsWhole(Language::kOther, "package main\n\n"));
}

TEST(ReplLanguageTest, OnlyNamesAreCompleted) {
  EXPECT_EQ(WordAtEnd(Language::kPython, "print(os.pa"), "os.pa");
  EXPECT_EQ(WordAtEnd(Language::kShell, "cat data/in-1.t"), "data/in-1.t");
  EXPECT_EQ(WordAtEnd(Language::kNode, "x + $a.b"), "$a.b");
  EXPECT_EQ(WordAtEnd(Language::kPython, "f("), "");
  EXPECT_THAT(CompletionCode(Language::kPython, "os.pa"), HasSubstr("'os.pa'"));
  EXPECT_EQ(CompletionCode(Language::kPython, "'); evil('"), "");
  EXPECT_EQ(CompletionCode(Language::kShell, "$(rm)"), "");
  EXPECT_EQ(CompletionCode(Language::kPython, ""), "");
  EXPECT_EQ(CompletionCode(Language::kOther, "x"), "");
}

}  // namespace
}  // namespace igloo::cli
