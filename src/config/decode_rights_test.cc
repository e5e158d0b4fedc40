// What a file may say about others' rights and values.

#include <gmock/gmock.h>

#include "config/decode_testing.h"
#include "config/schema.h"

namespace igloo::config {
namespace {

using ::testing::ElementsAre;
using testing::Fine;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Problems;

TEST(DecodeTest, InheritedVariablesAreNamesAndNoErrorRepeatsAValue) {
  EXPECT_THAT(Fine("[project]\ninherit_env.vars = ['LANG']\n").project.inherit,
              ElementsAre("LANG"));
  const auto problems = Problems(
      "[project]\ninherit_env.vars = ['TOKEN=hunter2']\n"
      "[environments.node]\nenv = { TOKEN = ['hunter2'] }\n"
      "inherit_env = { vars = ['A', 'B=hunter2'] }\n");
  EXPECT_THAT(problems,
              ElementsAre("2:21: 'vars' holds names, not values | write the name alone; its value "
                          "is read when a run starts",
                          "4:17: 'TOKEN' cannot be a list | write text in quotes: TOKEN = \"...\"",
                          HasSubstr("5:30: 'vars' holds names, not values")));
  for (const std::string& each : problems) EXPECT_THAT(each, Not(HasSubstr("hunter2")));
  EXPECT_THAT(Problems("[project]\ninherit_env.vars = ['1A', 'B']\n"),
              ElementsAre("2:21: 'vars' cannot hold \"1A\" | write a list of names of environment "
                          "variables, for example vars = [\"LANG\", \"TZ\"]"));
}

TEST(DecodeTest, AgentsAreTheUsersOwnAffair) {
  const std::string text =
      "[agents.mine]\nbase = 'claude'\nprogram = 'my-agent'\narguments = ['-x']\n"
      "pass = ['MODEL']\nhome = ['.mine']\nallow = ['api.example.com']\n";
  const Config config = Fine(text);
  const AgentConfig expected{.name = "mine",
                             .where = config.agents.at("mine").where,
                             .base = "claude",
                             .program = "my-agent",
                             .arguments = {"-x"},
                             .pass = {"MODEL"},
                             .home = {".mine"},
                             .allow = {"api.example.com"}};
  EXPECT_EQ(config.agents.at("mine"), expected);
  EXPECT_EQ(Problems(text, Origin::kProject).size(), 6U) << "each of them is refused";
  EXPECT_THAT(Problems("[agents.mine]\npass = ['A=b']\nallow = ['http://']\n"),
              ElementsAre(HasSubstr("'pass' holds names, not values"),
                          HasSubstr("the network rule 'http://'")));
}

TEST(DecodeTest, AProjectsOwnFileGrantsNothing) {
  const std::string never =
      ", which a project's own file never does | move it to your own "
      "configuration; 'igloo config path' says where that is";
  EXPECT_THAT(
      Problems("[environments.web]\npreset = 'python'\nnetwork = 'internet'\n"
               "secrets = ['github']\nmounts = ['/:/host']\nbackend = 'bubblewrap'\n"
               "inherit_env.vars = ['AWS_SECRET_ACCESS_KEY']\npreload = ['numpy']\n"
               "env = { LD_PRELOAD = '/project/x.so' }\nmemory_mb = 64\n[limits]\nprocesses = 3\n",
               Origin::kProject),
      ElementsAre(
          "3:1: 'environments.web.network' opens the network" + never,
          "4:1: 'environments.web.secrets' hands out secrets or variables of yours" + never,
          "5:1: 'environments.web.mounts' shows directories of the host" + never,
          "6:1: 'environments.web.backend' chooses the wall" + never,
          "7:13: 'environments.web.inherit_env.vars' hands out secrets or variables of "
          "yours" +
              never,
          "8:1: 'environments.web.preload' decides what an interpreter loads or sees before "
          "its code" +
              never,
          "9:1: 'environments.web.env' decides what an interpreter loads or sees before its "
          "code" +
              never,
          "10:1: 'environments.web.memory_mb' sets limits" + never,
          "12:1: 'limits.processes' concerns more than its own environments" + never));
}

TEST(DecodeTest, EveryKeyThatGrantsIsRefusedInAProjectsFile) {
  for (const Key& key : Keys()) {
    std::string path(key.path);
    if (const std::size_t at = path.find("NAME"); at != std::string::npos) {
      path.replace(at, 4, "node");
    }
    const std::string line =
        path + " = " + std::string(key.example.empty() ? key.fallback : key.example) + "\n";
    const auto problems = Problems(line, Origin::kProject);
    EXPECT_EQ(problems.empty(), key.grant == Grant::kNothing)
        << line << ::testing::PrintToString(problems);
  }
}

}  // namespace
}  // namespace igloo::config
