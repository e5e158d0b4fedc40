#include "agent/keys.h"

#include <gmock/gmock.h>

#include <map>

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

using Variables = std::map<std::string, std::string>;

const auto kSignedOut = [](std::string_view) { return false; };

KeyPlan Plan(const Variables& variables, network::Level level = network::Level::kInternet,
             const std::string& profile = "claude") {
  const Lookup lookup = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return PlanKeys(*FindProfile(profile), {.level = level}, {}, lookup, kSignedOut);
}

TEST(PlanKeys, AKeyStaysOutsideAndRequestsGoToTheProxy) {
  const KeyPlan plan = Plan({{"ANTHROPIC_API_KEY", "sk"}});
  ASSERT_THAT(plan.secrets, SizeIs(1));
  EXPECT_EQ(plan.secrets[0].source.value, "ANTHROPIC_API_KEY");
  EXPECT_EQ(plan.secrets[0].inside, "IGLOO_ANTHROPIC_KEY") << "or else it asks about each new one";
  ASSERT_THAT(plan.files, SizeIs(1));
  EXPECT_THAT(plan.files[0].text, HasSubstr("printenv IGLOO_ANTHROPIC_KEY"));
  EXPECT_THAT(plan.secrets[0].hosts, ElementsAre("api.anthropic.com"));
  EXPECT_THAT(plan.variables, ElementsAre(Pair("ANTHROPIC_BASE_URL",
                                               "http://127.0.0.1:3128/https/api.anthropic.com")));
  EXPECT_THAT(plan.passed, IsEmpty());
}

TEST(PlanKeys, AnotherProviderGetsTheKeyInstead) {
  const KeyPlan plan =
      Plan({{"ANTHROPIC_API_KEY", "sk"}, {"ANTHROPIC_BASE_URL", "https://gate.example.org/v1"}});
  ASSERT_THAT(plan.secrets, SizeIs(1));
  EXPECT_THAT(plan.secrets[0].hosts, ElementsAre("gate.example.org"));
  EXPECT_THAT(plan.variables, ElementsAre(Pair("ANTHROPIC_BASE_URL",
                                               "http://127.0.0.1:3128/https/gate.example.org/v1")));
}

TEST(PlanKeys, AKeyThatTheProxyCannotPlaceGoesInAndIsSaid) {
  for (const Variables& variables :
       {Variables{{"ANTHROPIC_API_KEY", "sk"}, {"ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"}},
        Variables{{"ANTHROPIC_API_KEY", "sk"}, {"ANTHROPIC_BASE_URL", "https://x.org:8443"}}}) {
    const KeyPlan plan = Plan(variables);
    EXPECT_THAT(plan.secrets, IsEmpty());
    EXPECT_THAT(plan.passed, ElementsAre("ANTHROPIC_API_KEY"));
    EXPECT_THAT(plan.remarks, SizeIs(1));
  }
  EXPECT_THAT(Plan({{"ANTHROPIC_API_KEY", "sk"}}, network::Level::kHost).passed, SizeIs(1));
}

TEST(PlanKeys, AnAgentWithoutAVariableForItFindsTheAddressInAFile) {
  const KeyPlan plan = Plan({{"OPENAI_API_KEY", "sk"}, {"OPENAI_BASE_URL", "https://example.org"}},
                            network::Level::kAllow, "codex");
  ASSERT_THAT(plan.secrets, SizeIs(1));
  EXPECT_THAT(plan.variables, IsEmpty());
  ASSERT_THAT(plan.files, SizeIs(1));
  EXPECT_EQ(plan.files[0].path, "/etc/codex/config.toml");
  EXPECT_THAT(plan.files[0].text,
              HasSubstr("base_url = \"http://127.0.0.1:3128/https/api.openai.com/v1\"\n"));
  EXPECT_THAT(Plan({{"OPENAI_API_KEY", "sk"}}, network::Level::kHost, "codex").files, IsEmpty());
}

TEST(PlanKeys, AKeyThatTheAgentDoesNotUseStaysOutside) {
  std::string asked;
  const KeyPlan plan = PlanKeys(
      *FindProfile("codex"), {.level = network::Level::kInternet}, {},
      [](const std::string&) { return std::optional<std::string>("sk"); },
      [&](std::string_view path) {
        asked = path;
        return true;
      });
  EXPECT_EQ(asked, ".codex/auth.json");
  EXPECT_THAT(plan.secrets, IsEmpty());
  EXPECT_THAT(plan.passed, IsEmpty());
  EXPECT_THAT(plan.remarks, ElementsAre(HasSubstr("the sign-in in ~/.codex/auth.json counts")));
}

TEST(PlanKeys, AKeyGoesInAsItIsWhereTheAgentWouldTakeNoOtherAddress) {
  const Variables variables = {{"GEMINI_API_KEY", "sk"}};
  const KeyPlan plan = Plan(variables, network::Level::kAllow, "gemini");
  EXPECT_THAT(plan.secrets, IsEmpty());
  EXPECT_THAT(plan.passed, ElementsAre("GEMINI_API_KEY"));
  EXPECT_THAT(plan.remarks,
              ElementsAre(HasSubstr("only with settings in ~/.gemini/settings.json")));
  const KeyPlan told = PlanKeys(
      *FindProfile("gemini"), {.level = network::Level::kAllow}, {},
      [](const std::string& name) {
        return name == "GEMINI_API_KEY" ? std::optional<std::string>("sk") : std::nullopt;
      },
      [](std::string_view path) { return path == ".gemini/settings.json"; });
  EXPECT_THAT(told.secrets, SizeIs(1));
  EXPECT_THAT(told.passed, IsEmpty());
}

TEST(PlanKeys, WithoutAKeyNothingIsPlanned) {
  const KeyPlan plan = Plan({{"ANTHROPIC_API_KEY", ""}});
  EXPECT_THAT(plan.secrets, IsEmpty());
  EXPECT_THAT(plan.passed, IsEmpty());
  EXPECT_THAT(plan.variables, IsEmpty());
}

TEST(PlanKeys, WhatSomebodyNamedAlreadyIsLeftAlone) {
  const std::vector<config::SecretConfig> named = {
      {.name = "mine", .inside = "ANTHROPIC_API_KEY", .hosts = {"example.org"}}};
  const KeyPlan plan = PlanKeys(
      *FindProfile("claude"), {.level = network::Level::kInternet}, named,
      [](const std::string&) { return std::optional<std::string>("x"); }, kSignedOut);
  EXPECT_THAT(plan.secrets, IsEmpty());
  EXPECT_THAT(plan.passed, IsEmpty());
}

}  // namespace
}  // namespace igloo::agent
