#include "service/setup.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "environment/host.h"

namespace igloo::service {
namespace {

/// What the host's own /usr offers, as this configuration has it.
std::shared_ptr<const Setup> SetupOf(config::Config config) {
  const auto read = [](const config::Config& c) {
    return config::Catalogue(c, {.registry = {environment::ReadHostLayout(), {}}});
  };
  const auto lookup = [](const std::string& name) -> std::optional<std::string> {
    return name == "INHERITED" ? std::optional<std::string>("value") : std::nullopt;
  };
  const auto secret = [](const config::SecretSource& source) -> Result<std::string> {
    if (source.value == "THERE") return "some value";
    return Fail(Errc::kNotFound, "there is no such secret");
  };
  return std::make_shared<Setup>(std::move(config), read, config::Caller{lookup, secret});
}

config::Config WithProject(environment::ProjectMode mode) {
  config::Config config;
  config.project = {.path = "/home/ada/code", .mode = mode, .inherit = {"INHERITED", "OTHER"}};
  return config;
}

TEST(RightsTest, AreReadFromThePolicy) {
  sandbox::Policy policy;
  EXPECT_TRUE(RightsOf(policy).harmless());
  policy.run = {sandbox::HostTree{.source = "/a", .target = "/a"},
                sandbox::OverlayTree{.source = "/b", .target = "/b"},
                sandbox::MemoryTree{.target = "/c"}};
  EXPECT_TRUE(RightsOf(policy).harmless()) << "what is written to a view never reaches the host";
  policy.environment = {
      sandbox::HostTree{.source = "/d", .target = "/d", .access = sandbox::Access::kReadWrite}};
  EXPECT_EQ(RightsOf(policy), (Rights{.writable_host = true}));
  policy.network = sandbox::HostNetwork("test");
  EXPECT_EQ(RightsOf(policy), (Rights{.network = true, .writable_host = true}));
}

TEST(SetupTest, EveryEnvironmentIsOfferedOrSaysWhyNot) {
  const auto setup = SetupOf({});
  const Offered* python = setup->Find("python3");
  ASSERT_NE(python, nullptr);
  EXPECT_EQ(python->name, "python");
  EXPECT_TRUE(python->rights.harmless());
  EXPECT_EQ(setup->Find("cobol"), nullptr);
  for (const Unusable& each : setup->unusable()) EXPECT_NE(each.why.what, "") << each.name;
}

TEST(SetupTest, AnOrderHasWhatTheConfigurationSays) {
  const auto setup = SetupOf(WithProject(environment::ProjectMode::kReadOnly));
  const auto order = setup->OrderFor({}, "shell", {.what = environment::Code{"x"}});
  ASSERT_TRUE(order) << order.error().what;
  ASSERT_TRUE(order->request.project);
  EXPECT_EQ(order->request.project->path, "/home/ada/code");
  EXPECT_EQ(order->request.variables, (std::map<std::string, std::string>{{"INHERITED", "value"}}));
  EXPECT_FALSE(setup->OrderFor({}, "cobol", {}));
  EXPECT_EQ(order->request.network.principal, "");
  const auto of_alice = setup->OrderFor({.principal = "alice"}, "shell", {});
  ASSERT_TRUE(of_alice) << of_alice.error().what;
  EXPECT_EQ(of_alice->request.network.principal, "alice");
}

TEST(SetupTest, AnEnvironmentWhoseSecretIsNotThereIsNotOffered) {
  config::Config config;
  for (const std::string name : {"THERE", "GONE"}) {
    config.secrets[name] = {.name = name,
                            .inside = name,
                            .source = {config::SecretSource::Kind::kVariable, name},
                            .hosts = {"example.org"},
                            .header = "Authorization"};
    config.environments[name] = {.name = name,
                                 .source = {config::SourceKind::kPreset, "shell"},
                                 .network = {.level = network::Level::kAllow, .secrets = {name}}};
  }
  const auto setup = SetupOf(config);
  ASSERT_NE(setup->Find("THERE"), nullptr);
  EXPECT_EQ(setup->Find("GONE"), nullptr);
  const auto gone = std::ranges::find(setup->unusable(), "GONE", &Unusable::name);
  ASSERT_NE(gone, setup->unusable().end());
  EXPECT_EQ(gone->why.what, "the secret 'GONE': there is no such secret");
  // Calls of one configuration are alike, so that what waits for one serves the next.
  const auto first = setup->OrderFor({}, "THERE", {}), second = setup->OrderFor({}, "THERE", {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->request.network, second->request.network);
  EXPECT_EQ(first->request.variables, second->request.variables);
}

}  // namespace
}  // namespace igloo::service
