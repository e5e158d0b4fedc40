#include "network/wanted.h"

#include <gtest/gtest.h>

namespace igloo::network {
namespace {

std::string Refusal(const Wanted& wanted) {
  const auto checked = Check(wanted);
  return checked ? "" : checked.error().what;
}

TEST(WantedTest, PortsNeedNoLevel) {
  EXPECT_FALSE(Wanted{}.connected());
  const Wanted ports{.publish = {{8080, 80}, {8081, 80}}, .reach = {5432}};
  EXPECT_TRUE(ports.connected());
  EXPECT_EQ(Refusal(ports), "");
}

TEST(WantedTest, APortLeadsToOnePlace) {
  EXPECT_EQ(Refusal({.reach = {5432, 5432}}), "port 5432 is to be reached twice");
  EXPECT_EQ(Refusal({.publish = {{80, 1}, {80, 2}}}), "port 80 of the host is published twice");
  EXPECT_EQ(Refusal({.publish = {{80, 5432}}, .reach = {5432}}),
            "port 5432 of the sandbox cannot be published: igloo listens on it inside");
  EXPECT_EQ(Refusal({.level = Level::kAllow, .reach = {kProxyPort}}),
            "port 3128 cannot be reached: igloo's proxy listens on it inside");
  EXPECT_EQ(Refusal({.reach = {kProxyPort}}), "");
}

TEST(WantedTest, LevelsHaveNames) {
  for (const Level level : {Level::kNone, Level::kAllow, Level::kInternet, Level::kHost}) {
    EXPECT_EQ(FindLevel(ToText(level)), level);
  }
  EXPECT_EQ(FindLevel("Internet"), std::nullopt);
  EXPECT_EQ(FindLevel(""), std::nullopt);
}

TEST(WantedTest, APublishedPortIsOneNumberOrTwo) {
  EXPECT_EQ(*ParsePublished("8080:80"), (PublishedPort{8080, 80}));
  EXPECT_EQ(*ParsePublished("8080"), (PublishedPort{8080, 8080}));
  EXPECT_EQ(ToText(PublishedPort{8080, 80}), "8080:80");
  for (const char* text :
       {"", ":", "80:", ":80", "0:1", "1:0", "1:2:3", "65536", "+1", " 1", "a"}) {
    EXPECT_FALSE(ParsePublished(text)) << text;
  }
}

TEST(WantedTest, RulesAndSecretsNeedTheProxy) {
  EXPECT_EQ(Refusal({.rules = {"pypi.org"}}), "rules are of no use with the network 'none'");
  EXPECT_EQ(Refusal({.level = Level::kHost, .rules = {"pypi.org"}}),
            "rules are of no use with the network 'host'");
  EXPECT_EQ(Refusal({.level = Level::kAllow, .rules = {"pypi.org"}}), "");
  EXPECT_NE(Refusal({.level = Level::kAllow, .rules = {"pypi.org/simple"}}), "");
  EXPECT_EQ(Refusal({.level = Level::kHost, .reach = {80}}),
            "a sandbox in the host's network has all ports of the host already");
}

TEST(WantedTest, RawSocketsNeedTheLevelThatHasADevice) {
  for (const Level level : {Level::kNone, Level::kAllow, Level::kHost}) {
    EXPECT_EQ(Refusal({.level = level, .raw_sockets = true}),
              "raw sockets are of no use with the network '" + std::string(ToText(level)) +
                  "': they need a device");
  }
  EXPECT_EQ(Refusal({.level = Level::kInternet, .raw_sockets = true}), "");
}

}  // namespace
}  // namespace igloo::network
