#include "cli/net/network_options.h"

#include <gmock/gmock.h>

#include "config/decode.h"

namespace igloo::cli {
namespace {

using config::SecretConfig;
using config::SecretSource;
using network::Level;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Flag kFlags[] = {kNetworkFlag, kAllowFlag,  kPublishFlag,
                           kReachFlag,   kSecretFlag, kRawSocketsFlag};

constexpr std::string_view kFile = R"([network]
allow = ["pypi.org"]
[secrets.token]
variable = "TOKEN"
hosts = ["example.org"]
header = "Authorization"
[environments.web]
preset = "python"
network = "allow"
allow = ["example.org"]
publish = [80]
secrets = ["token"]
[environments.closed]
preset = "python"
[environments.open]
preset = "python"
network = "internet"
raw_sockets = true
[environments.host]
preset = "python"
network = "host"
)";

/// The environment as the file has it and the command line wants it.
Result<config::Configured> Take(const std::string& environment, std::vector<std::string> words) {
  constexpr std::string_view kPresets[] = {"python"};
  IGLOO_ASSIGN(const config::Config config,
               config::Parse(kFile, {.file = "c.toml", .directory = "/", .presets = kPresets}));
  const Command command{.name = "run",
                        .summary = "",
                        .usage = "",
                        .flags = kFlags,
                        .words = {},
                        .details = "",
                        .run = nullptr};
  IGLOO_ASSIGN(const ParsedArgs args, ParseArgs(command, words));
  config::Configured configured{.environment = {.name = environment},
                                .network = config::NetworkFor(config, environment),
                                .secrets = config::SecretsFor(config, environment)};
  IGLOO_TRY(TakeNetwork(args, config, configured));
  return configured;
}

Level LevelOf(const std::string& environment, std::vector<std::string> words) {
  const auto taken = Take(environment, std::move(words));
  EXPECT_TRUE(taken) << taken.error().what;
  return taken ? taken->network.level : Level::kNone;
}

TEST(TakeNetworkTest, NothingChangesNothing) {
  const auto web = Take("web", {});
  ASSERT_TRUE(web) << web.error().what;
  EXPECT_EQ(web->network, (network::Wanted{.level = Level::kAllow,
                                           .rules = {"pypi.org", "example.org"},
                                           .publish = {{80, 80}}}));
  EXPECT_EQ(web->secrets.size(), 1U);
  EXPECT_FALSE(Take("closed", {})->network.connected());
}

TEST(TakeNetworkTest, WhatIsAddedIsAdded) {
  const auto web = Take("web", {"--allow", "a.example", "--allow=*.b.example:8443", "--publish",
                                "8080:81", "--publish", "90", "--reach", "5432", "--reach", "6379",
                                "--secret", "KEY=X@c.example:X-Key"});
  ASSERT_TRUE(web) << web.error().what;
  EXPECT_EQ(web->network,
            (network::Wanted{.level = Level::kAllow,
                             .rules = {"pypi.org", "example.org", "a.example", "*.b.example:8443"},
                             .publish = {{80, 80}, {8080, 81}, {90, 90}},
                             .reach = {5432, 6379}}));
  ASSERT_EQ(web->secrets.size(), 2U);
  EXPECT_EQ(web->secrets[1].name, "KEY");
}

TEST(TakeNetworkTest, AllowOpensWhatIsClosedAndNothingMore) {
  EXPECT_EQ(LevelOf("closed", {"--allow", "a.example"}), Level::kAllow);
  EXPECT_THAT(Take("closed", {"--allow", "a.example"})->network.rules,
              ElementsAre("pypi.org", "a.example"));
  EXPECT_EQ(LevelOf("open", {"--allow", "10.1.2.3"}), Level::kInternet);
  EXPECT_EQ(LevelOf("host", {"--allow", "a.example"}), Level::kHost) << "refused when it is used";
  EXPECT_EQ(LevelOf("closed", {"--network", "none", "--allow", "a.example"}), Level::kNone)
      << "likewise";
}

TEST(TakeNetworkTest, TheLevelOfTheCommandLineBeatsTheFiles) {
  for (const char* level : {"none", "host"}) {
    const auto taken = Take("web", {"--network", level});
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->network, network::Wanted{.level = *network::FindLevel(level)});
    EXPECT_THAT(taken->secrets, IsEmpty());
  }
  EXPECT_THAT(Take("web", {"--network", "internet"})->network.rules, ElementsAre("example.org"));
  EXPECT_THAT(Take("closed", {"--network=allow"})->network.rules, ElementsAre("pypi.org"));
  EXPECT_EQ(Take("web", {"--network", "bridge"}).error(),
            (Error{.code = Errc::kInvalidArgument,
                   .what = "there is no network 'bridge'",
                   .hint = "choose none, allow, internet or host"}));
}

TEST(TakeNetworkTest, RawSocketsAreNamedAndGoWithTheirLevel) {
  EXPECT_TRUE(Take("open", {})->network.raw_sockets);
  EXPECT_TRUE(Take("open", {"--network", "internet"})->network.raw_sockets);
  for (const char* lower : {"none", "allow", "host"}) {
    EXPECT_FALSE(Take("open", {"--network", lower})->network.raw_sockets) << lower;
  }
  EXPECT_FALSE(Take("closed", {"--network", "internet"})->network.raw_sockets);
  EXPECT_TRUE(Take("closed", {"--network", "internet", "--raw-sockets"})->network.raw_sockets);
}

TEST(TakeNetworkTest, ErrorsSayWhatToWrite) {
  EXPECT_THAT(Take("closed", {"--allow", "a.example/x"}).error().what, HasSubstr("'--allow'"));
  EXPECT_THAT(Take("closed", {"--publish", "x"}).error().hint, HasSubstr("HOST:BOX"));
  for (const char* port : {"0", "65536", "x", "1:2", ""}) {
    const auto taken = Take("closed", {"--reach", port});
    ASSERT_FALSE(taken) << port;
    EXPECT_THAT(taken.error().hint, HasSubstr("--reach 5432"));
  }
  EXPECT_THAT(Take("closed", {"--network", "none", "--network", "none"}).error().what,
              HasSubstr("given twice"));
}

TEST(TakeNetworkTest, ASecretOfTheSameVariableGivesWay) {
  const auto web = Take("web", {"--secret", "TOKEN=env:OTHER@other.example:X-Key"});
  ASSERT_TRUE(web);
  ASSERT_EQ(web->secrets.size(), 1U);
  EXPECT_EQ(web->secrets[0].source.value, "OTHER");
}

TEST(ParseSecretTest, TakesEverySource) {
  using Kind = SecretSource::Kind;
  const auto source = [](const std::string& text) {
    const auto parsed = ParseSecret("KEY=" + text + "@example.org:X-Key,X-Other");
    EXPECT_TRUE(parsed) << text;
    return parsed ? parsed->source : SecretSource{};
  };
  EXPECT_EQ(source("MY_KEY"), (SecretSource{Kind::kVariable, "MY_KEY"}));
  EXPECT_EQ(source("env:MY_KEY"), (SecretSource{Kind::kVariable, "MY_KEY"}));
  EXPECT_EQ(source("file:/a@b/c"), (SecretSource{Kind::kFile, "/a@b/c"}));
  EXPECT_EQ(source("command:pass show me@x"), (SecretSource{Kind::kCommand, "pass show me@x"}));
  EXPECT_EQ(*ParseSecret("KEY=X@api.example.org:X-Api-Key"),
            (SecretConfig{.name = "KEY",
                          .inside = "KEY",
                          .source = {Kind::kVariable, "X"},
                          .hosts = {"api.example.org"},
                          .header = "X-Api-Key"}));
}

TEST(ParseSecretTest, NoErrorRepeatsWhatMayBeTheSecret) {
  for (const char* text :
       {"hunter2", "KEY", "KEY=hunter2", "KEY=hunter-2@example.org", "KEY=env:hunter 2@example.org",
        "KEY=@example.org", "KEY=file:@example.org", "KEY=X@", "KEY=X@hunter2.example/x",
        "KEY=X@*.example.org", "KEY=X@example.org:X-Key,", "KEY=X@example.org:X-Key,hunter 2",
        "KEY=X@example.org:", "KEY=X@example.org:hunter 2", "hunter-2=X@example.org",
        "=X@example.org"}) {
    const auto parsed = ParseSecret(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(parsed.error().what, Not(HasSubstr("hunter"))) << text;
    EXPECT_THAT(parsed.error().hint, HasSubstr("NAME=SOURCE@HOST:HEADER"));
  }
}

TEST(ParseSecretTest, ASecretNamesItsHeader) {
  const auto parsed = ParseSecret("KEY=hunter2@api.example.org");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().what, "'--secret KEY=...' names no header that it may stand in");
  EXPECT_THAT(parsed.error().hint,
              HasSubstr("write --secret KEY=SOURCE@api.example.org:Authorization"));
  EXPECT_THAT(parsed.error().hint, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace igloo::cli
