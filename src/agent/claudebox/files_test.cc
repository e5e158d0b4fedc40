#include "agent/claudebox/files.h"

#include <gmock/gmock.h>

namespace igloo::agent::claudebox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ClaudeboxSettings, LaterOnesAddOrBeatTheEarlier) {
  auto global = ParseSettings("# mine\ncmd = codex\nmount_home = .cache/a\n\n", "config");
  const auto own = ParseSettings("cmd=bash\nmount_home = .cache/b\npath_add=/opt/x/bin", "own");
  ASSERT_TRUE(global && own);
  Add(*own, *global);
  EXPECT_EQ(global->program, "bash");
  EXPECT_THAT(global->home, ElementsAre(".cache/a", ".cache/b"));
  EXPECT_THAT(global->path, ElementsAre("/opt/x/bin"));
}

TEST(ClaudeboxSettings, SayWhichLineIsWrong) {
  EXPECT_THAT(ParseSettings("cmd = a\nnonsense\n", "f").error().what, HasSubstr("f:2:"));
  EXPECT_THAT(ParseSettings("network = none\n", "f").error().what, HasSubstr("'network'"));
  EXPECT_FALSE(ParseSettings("cmd =\n", "f"));
}

TEST(ClaudeboxVariables, AreNamesAndValues) {
  const auto variables =
      ParseVariables("A=1\n# no\nexport B = \"two words\"\nC='x=y'\nD=\n", "env");
  ASSERT_TRUE(variables);
  EXPECT_THAT(*variables,
              ElementsAre(Pair("A", "1"), Pair("B", "two words"), Pair("C", "x=y"), Pair("D", "")));
  EXPECT_FALSE(ParseVariables("1A=2\n", "env"));
  EXPECT_FALSE(ParseVariables("A\n", "env"));
}

TEST(ClaudeboxProfile, HasVariablesMountsAndANetwork) {
  const auto profile =
      ParseProfile(R"({"env": {"A": "1"}, "mounts": [".cache"], "network": "none"})", "p");
  ASSERT_TRUE(profile);
  EXPECT_THAT(profile->set, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(profile->home, ElementsAre(".cache"));
  EXPECT_EQ(profile->network, "none");
  EXPECT_THAT(ParseProfile(R"({"env": ["A", "B"]})", "p")->passed, ElementsAre("A", "B"));
}

TEST(ClaudeboxProfile, IsRefusedIfItSaysAnythingElse) {
  for (const char* text :
       {"", "[]", "{", R"({"env": 1})", R"({"env": {"A B": "1"}})", R"({"env": {"A": 1}})",
        R"({"mounts": [1]})", R"({"network": 1})", R"({"privileged": true})"}) {
    EXPECT_FALSE(ParseProfile(text, "p")) << text;
  }
  EXPECT_FALSE(ParseProfile(std::string(100, '['), "p"));
}

}  // namespace
}  // namespace igloo::agent::claudebox
