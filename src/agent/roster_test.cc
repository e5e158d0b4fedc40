#include "agent/roster.h"

#include <gmock/gmock.h>

namespace igloo::agent {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

Result<Roster> Make(config::AgentConfig agent) {
  config::Config config;
  config.agents[agent.name] = std::move(agent);
  return Roster::Make(config);
}

TEST(Roster, HasTheAgentsThatIglooKnows) {
  const auto roster = Roster::Make({});
  ASSERT_TRUE(roster);
  EXPECT_EQ(roster->all().size(), Profiles().size());
  EXPECT_EQ(roster->Find("claude"), FindProfile("claude"));
  EXPECT_EQ(roster->Find("mine"), nullptr);
}

TEST(Roster, HasAnAgentOfTheUsersOwn) {
  auto roster = Make({.name = "mine",
                      .program = "my-agent",
                      .arguments = {"--read", "{notice}"},
                      .pass = {"MY_MODEL"},
                      .home = {".my-agent"},
                      .allow = {"api.example.com"}});
  ASSERT_TRUE(roster) << roster.error().what;
  const Roster moved = *std::move(roster);
  const Profile* mine = moved.Find("mine");
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(mine->title, "mine");
  EXPECT_EQ(mine->program, "my-agent");
  EXPECT_THAT(mine->arguments, ElementsAre("--read", "{notice}"));
  EXPECT_THAT(mine->variables, ElementsAre("MY_MODEL"));
  EXPECT_THAT(mine->domains, ElementsAre("api.example.com"));
  EXPECT_THAT(mine->home, ElementsAre(".my-agent"));
  EXPECT_EQ(mine->files_of, "");
  EXPECT_EQ(moved.all().back(), mine);
}

TEST(Roster, AnAgentCanStartFromOneThatIglooKnows) {
  const auto roster = Make({.name = "work", .base = "claude", .arguments = {"--model", "opus"}});
  ASSERT_TRUE(roster) << roster.error().what;
  const Profile* work = roster->Find("work");
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(work->program, "claude");
  EXPECT_THAT(work->arguments, Contains("--dangerously-skip-permissions"));
  EXPECT_EQ(work->arguments.back(), "opus") << "the user's own stand last";
  EXPECT_EQ(work->keys.size(), FindProfile("claude")->keys.size());
  EXPECT_EQ(work->files_of, "claude") << "the same settings and sign-in";
  EXPECT_NE(roster->Find("claude"), nullptr);
}

TEST(Roster, WhatIsSaidAboutAKnownNameIsAddedToIt) {
  const auto roster = Make({.name = "codex", .allow = {"mirror.example.com"}});
  ASSERT_TRUE(roster) << roster.error().what;
  EXPECT_EQ(roster->all().size(), Profiles().size());
  const Profile* codex = roster->Find("codex");
  ASSERT_NE(codex, nullptr);
  EXPECT_EQ(codex->title, "Codex");
  EXPECT_THAT(codex->domains, AllOf(Contains("api.openai.com"), Contains("mirror.example.com")));
}

TEST(Roster, WhatCannotBeUsedIsRefusedWithAdvice) {
  struct Case {
    config::AgentConfig agent;
    const char* what;
    const char* hint;
  };
  const Case cases[] = {
      {{.name = "mine"}, "[agents.mine] names no program", "base with one of claude"},
      {{.name = "mine", .base = "clod"}, "starts from 'clod'", "igloo knows claude"},
      {{.name = "stop", .program = "x"}, "is a command of 'igloo agent'", "another name"},
      {{.name = "mine", .program = "x", .home = {"/etc"}}, "'/etc' is no directory below home", ""},
      {{.name = "mine", .program = "x", .home = {"../x"}}, "'../x'", "relative to home"},
      {{.name = "mine", .program = "x", .home = {"a/../.ssh"}}, "'a/../.ssh'", "relative to home"},
  };
  for (const Case& each : cases) {
    const auto roster = Make(each.agent);
    ASSERT_FALSE(roster) << each.what;
    EXPECT_THAT(roster.error().what, HasSubstr(each.what));
    EXPECT_THAT(roster.error().hint, HasSubstr(each.hint));
  }
}

}  // namespace
}  // namespace igloo::agent
