#include "agent/profile.h"

#include <gmock/gmock.h>

#include "agent/registry.h"
#include "agent/state/guarded.h"
#include "environment/names.h"
#include "network/rule.h"
#include "network/secret.h"

namespace igloo::agent {
namespace {

class EveryProfile : public ::testing::TestWithParam<const Profile*> {};

TEST_P(EveryProfile, SaysWhatItIsAndHowToGetIt) {
  const Profile& profile = *GetParam();
  EXPECT_FALSE(profile.title.empty());
  EXPECT_FALSE(profile.program.empty());
  EXPECT_FALSE(profile.install.empty());
  EXPECT_TRUE(CheckBoxName(profile.name)) << "boxes are called after it";
  EXPECT_EQ(FindProfile(profile.name), &profile);
}

TEST_P(EveryProfile, HasDomainsThatAreRules) {
  for (const std::string_view domain : GetParam()->domains) {
    EXPECT_TRUE(network::ParseRule(std::string(domain))) << domain;
  }
}

TEST_P(EveryProfile, HasKeysThatTheProxyCanPlace) {
  for (const ApiKey& key : GetParam()->keys) {
    EXPECT_TRUE(environment::IsVariableName(std::string(key.variable))) << key.variable;
    EXPECT_TRUE(network::Name::Parse(std::string(key.host))) << key.host;
    EXPECT_TRUE(network::ParseHeaderNames(std::string(key.header))) << key.header;
    EXPECT_TRUE(key.can_be_placed()) << key.variable;
    EXPECT_TRUE(key.path.empty() || key.path.starts_with('/')) << key.path;
    EXPECT_EQ(key.file.path.empty(), key.file.text.empty()) << key.variable;
    EXPECT_TRUE(key.inside.empty() || key.file.text.contains(key.inside)) << key.variable;
  }
}

TEST_P(EveryProfile, HasFilesThatIglooKnows) {
  EXPECT_NE(FindAgentFiles(GetParam()->files_of), nullptr) << GetParam()->files_of;
}

INSTANTIATE_TEST_SUITE_P(Agents, EveryProfile, ::testing::ValuesIn(Profiles()),
                         [](const auto& each) { return std::string(each.param->name); });

TEST(FindProfile, KnowsNoOther) { EXPECT_EQ(FindProfile("clause"), nullptr); }

}  // namespace
}  // namespace igloo::agent
