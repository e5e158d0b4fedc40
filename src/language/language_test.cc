#include "language/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace igloo::language {
namespace {

TEST(LanguageTest, EveryRowIsWhole) {
  std::set<std::string_view> seen;
  for (const Language& row : All()) {
    EXPECT_TRUE(seen.insert(row.name).second) << row.name << " is there twice";
    EXPECT_FALSE(row.title.empty()) << row.name;
    EXPECT_TRUE(row.code_file.starts_with("main.")) << row.name;
    ASSERT_FALSE(row.programs.empty()) << row.name;
    EXPECT_THAT(row.shortest, ::testing::HasSubstr("igloo-ok")) << row.name;
    EXPECT_EQ(Find(row.name), &row);
    for (const std::string_view program : row.programs) EXPECT_EQ(FindByProgram(program), &row);
    EXPECT_TRUE(!row.in_artifacts || row.driver) << row.name << ": artifacts have sessions";
    if (!row.driver) continue;
    EXPECT_EQ(row.driver->interpreter, row.name);
    EXPECT_EQ(FindDriver(row.name), &*row.driver);
    EXPECT_EQ(row.driver->fork == Fork::kText, !row.driver->snapshot.empty()) << row.name;
    EXPECT_NE(row.prompt.whole, Whole::kEmptyLine) << row.name;
    EXPECT_FALSE(CompletionCode(row.prompt, "word").empty()) << row.name;
  }
}

TEST(LanguageTest, OthersAreNone) {
  for (const char* name : {"", "cobol", "python3"}) EXPECT_EQ(Find(name), nullptr) << name;
  for (const char* name : {"", "cobol", "/usr/bin/node"}) {
    EXPECT_EQ(FindByProgram(name), nullptr) << name;
  }
  EXPECT_EQ(FindByEnding("cob"), nullptr);
  EXPECT_EQ(FindByEnding("rb"), Find("ruby"));
  EXPECT_EQ(PromptOf("command").whole, Whole::kEmptyLine);
}

TEST(LanguageTest, SomeProgramsWaitForTheirFile) {
  for (const char* program :
       {"bash", "dash", "sh", "node", "perl", "python", "python3", "python3.11"}) {
    EXPECT_TRUE(Waits(program)) << program;
  }
  for (const char* program : {"ruby", "zsh", "python2", "python3-config", "perl5.36", "go", ""}) {
    EXPECT_FALSE(Waits(program)) << program;
  }
}

TEST(LanguageTest, ArtifactsNameThreeTypes) {
  for (const char* name : {"python", "bash", "node"}) EXPECT_TRUE(IsInterpreterType(name)) << name;
  for (const char* name : {"ruby", "perl", "sh", "", "python3"}) {
    EXPECT_FALSE(IsInterpreterType(name)) << name;
  }
}

}  // namespace
}  // namespace igloo::language
