#include "tools/setup.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "environment/host.h"
#include "tools/instructions.h"
#include "tools/original.h"
#include "tools/run_contract.h"

namespace igloo::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(RunContractTest, HintsTellTheTruth) {
  boost::asio::io_context loop;
  Runner runner(loop, {}, {});
  Store store;
  Sessions sessions(loop, runner, {});
  const RunContract contract({runner, sessions, store});
  const auto tools = contract.Tools(*SetupOf(WithProject(environment::ProjectMode::kOverlay)));
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].name, "run");
  EXPECT_EQ(
      tools[0].hints,
      (mcp::ToolHints{
          .read_only = true, .destructive = false, .idempotent = false, .open_world = false}));
  const auto writing = contract.Tools(*SetupOf(WithProject(environment::ProjectMode::kReadWrite)));
  ASSERT_EQ(writing.size(), 1U);
  EXPECT_EQ(writing[0].name, "run_connected");
  EXPECT_EQ(
      writing[0].hints,
      (mcp::ToolHints{
          .read_only = false, .destructive = true, .idempotent = false, .open_world = false}));
  config::Config connected;
  connected.environments["web"] = {.name = "web",
                                   .source = {config::SourceKind::kPreset, "shell"},
                                   .network = {.level = network::Level::kAllow}};
  const auto both = contract.Tools(*SetupOf(connected));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].hints, tools[0].hints) << "what others have is none of its";
  EXPECT_EQ(both[1].name, "run_connected");
  EXPECT_EQ(both[1].hints,
            (mcp::ToolHints{
                .read_only = false, .destructive = true, .idempotent = false, .open_world = true}))
      << "code can delete what it reaches";
  const auto none = contract.Tools(*Setup::Nothing());
  ASSERT_EQ(none.size(), 1U) << "a tool that says why it cannot run anything";
  EXPECT_EQ(none[0].name, "run");
  for (const auto& tool : {tools[0], writing[0], none[0]}) {
    EXPECT_LE(tool.description.size(), 4000U);
  }
}

mcp::Tool RunTool(std::string_view name) {
  return {.name = std::string(name), .output_schema = mcp::JsonObject{}};
}

TEST(InstructionsTest, NameTheToolsThatThereAre) {
  const auto setup = SetupOf({});
  const mcp::Tool other{.name = "run"};
  const std::string run = Instructions(*setup, {RunTool(kRun)});
  EXPECT_THAT(run, HasSubstr("Call run(code, env): it starts afresh"));
  EXPECT_THAT(run, HasSubstr("session=NAME"));
  EXPECT_THAT(run, Not(HasSubstr("run_connected")));
  EXPECT_THAT(run, Not(HasSubstr("other tools")));
  EXPECT_THAT(Instructions(*setup, {RunTool(kConnected)}),
              HasSubstr("Call run_connected(code, env): it starts afresh"));
  EXPECT_THAT(Instructions(*setup, {RunTool(kRun), RunTool(kConnected)}),
              HasSubstr("Call run(code, env), or run_connected for environments"));
  EXPECT_THAT(Instructions(*setup, {RunTool(kRun), other}), HasSubstr("The other tools"));
  const std::string each = Instructions(*setup, {other});
  EXPECT_THAT(each, HasSubstr("Each tool runs code"));
  EXPECT_THAT(each, Not(HasSubstr("session")));
  EXPECT_THAT(each, Not(HasSubstr("- python")));
}

TEST(InstructionsTest, SayWhatThereIsAndFit) {
  const auto setup = SetupOf(WithProject(environment::ProjectMode::kReadOnly));
  const std::string text = Instructions(*setup, {RunTool(kRun)});
  EXPECT_THAT(text, HasSubstr("- python (or "));
  EXPECT_THAT(text, HasSubstr("mounted at /project (read-only)"));
  EXPECT_THAT(Instructions(*SetupOf({}), {RunTool(kRun)}), Not(HasSubstr("/project")));
  EXPECT_LE(text.size(), 4000U);
  std::string much;
  for (int i = 0; i < 500; ++i) much += "- environment " + std::to_string(i) + "\n";
  const std::string fit = FitToClients(much);
  EXPECT_LE(fit.size(), 4000U);
  EXPECT_THAT(fit, HasSubstr("more lines"));
}

TEST(InstructionsTest, OfTheOlderToolNameTheProjectAsItIsAndItsShell) {
  const auto of = [](environment::ProjectMode mode, bool flake) {
    config::Config config = WithProject(mode);
    config.project.use_flake = flake;
    // As if Nix had made it.
    if (flake) {
      config.environments["project"] = {.name = "project",
                                        .source = {config::SourceKind::kPreset, "shell"}};
    }
    return OriginalInstructions(*SetupOf(std::move(config)), {});
  };
  using enum environment::ProjectMode;
  EXPECT_THAT(of(kReadOnly, true),
              HasSubstr("Project directory mounted at /project (read-only).\n"
                        "Project's devShell available as 'project' environment.\n"));
  EXPECT_THAT(of(kReadOnly, false), Not(HasSubstr("devShell")));
  const std::string writable = of(kReadWrite, false);
  EXPECT_THAT(writable, HasSubstr("mounted at /project (read-write"));
  EXPECT_THAT(writable, HasSubstr("- shell: "));
  EXPECT_THAT(OriginalInstructions(*SetupOf({}), {}), Not(HasSubstr("Project")));
}

}  // namespace
}  // namespace igloo::tools
