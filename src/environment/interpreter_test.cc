#include "environment/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::environment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StartForTest, CodeIsAnArgumentBehindMinusCOrMinusE) {
  for (const char* flag : {"-c", "-e"}) {
    const Start start = StartFor({"lua", flag});
    EXPECT_THAT(start.interpreter, ElementsAre("lua", flag));
    EXPECT_EQ(start.passing, CodePassing::kArgument);
    EXPECT_EQ(start.language, "");
  }
}

TEST(StartForTest, CodeIsInputOtherwise) {
  EXPECT_EQ(StartFor({"lua"}),
            (Start{.interpreter = {"lua"}, .passing = CodePassing::kInput, .code_file = "code"}));
  EXPECT_EQ(StartFor({"sh", "-s"}).passing, CodePassing::kInput);
  EXPECT_EQ(StartFor({"python3", "tool.py"}).passing, CodePassing::kInput)
      << "this one reads something, and not Python";
}

TEST(StartForTest, WhatIglooKeepsAliveGetsAFile) {
  EXPECT_EQ(StartFor({"python3", "-c"}),
            (Start{.interpreter = {"python3"}, .code_file = "main.py", .language = "python"}));
  EXPECT_EQ(
      StartFor({"/bin/python", "-I", "-"}),
      (Start{.interpreter = {"/bin/python", "-I"}, .code_file = "main.py", .language = "python"}));
  EXPECT_EQ(StartFor({"node", "-e"}),
            (Start{.interpreter = {"node"}, .code_file = "main.js", .language = "node"}));
  EXPECT_EQ(StartFor({"bash", "-s"}),
            (Start{.interpreter = {"bash"}, .code_file = "main.sh", .language = "bash"}));
  EXPECT_EQ(StartFor({"bash"}).language, "bash");
  EXPECT_EQ(StartFor({"/usr/bin/ruby", "-e"}),
            (Start{.interpreter = {"/usr/bin/ruby"}, .code_file = "main.rb", .language = "ruby"}));
  EXPECT_EQ(StartFor({"perl", "-e"}).passing, CodePassing::kArgument)
      << "igloo knows it, and cannot keep it alive";
}

/// What a command that gets the path of a file with `code` prints.
std::string Printed(const Environment& environment, const std::string& code) {
  const TempDir directory = TempDir::Make(igloo::testing::TempParent()).value();
  const std::string file = directory.path() + "/code";
  std::ofstream(file) << code;
  std::vector<std::string> words = FileCommand(environment);
  words.push_back(file);
  const std::string program = words.front();
  words.erase(words.begin());
  return igloo::testing::RunProgram(
             {.program = program, .args = words, .env = {"PATH=/usr/bin:/bin"}})
      .out;
}

TEST(FileCommandTest, EveryWayOfPassingRunsAFile) {
  const std::string code = "a 'quoted' $word `x` \\n\n\n";
  EXPECT_EQ(
      Printed({.interpreter = {"/usr/bin/printf", "%s|"}, .passing = CodePassing::kArgument}, code),
      code + "|");
  EXPECT_EQ(Printed({.interpreter = {"/bin/cat"}, .passing = CodePassing::kInput}, code), code);
  EXPECT_EQ(Printed({.interpreter = {"/bin/cat"}}, code), code);
}

TEST(CheckArgumentTest, SaysWhatAnArgumentCannotHold) {
  const Environment environment{.interpreter = {"lua", "-e"}, .passing = CodePassing::kArgument};
  EXPECT_TRUE(CheckArgument(environment, std::string(kMaxArgument, 'x')));
  const auto large = CheckArgument(environment, std::string(kMaxArgument + 1, 'x'));
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().what, HasSubstr("131072 bytes, and 'lua -e'"));
  EXPECT_THAT(large.error().what, HasSubstr("131071"));
  const auto zero = CheckArgument(environment, std::string("a\0b", 3));
  ASSERT_FALSE(zero);
  EXPECT_THAT(zero.error().what, HasSubstr("zero byte"));
}

}  // namespace
}  // namespace igloo::environment
