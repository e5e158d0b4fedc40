#include "tools/run_contract.h"

#include <gmock/gmock.h>

#include "environment/host.h"
#include "tools/instructions.h"
#include "tools/original.h"

namespace igloo::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What the host's own /usr offers, as this configuration has it.
std::shared_ptr<const service::Setup> SetupOf(config::Config config) {
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
  return std::make_shared<service::Setup>(std::move(config), read, config::Caller{lookup, secret});
}

config::Config WithProject(environment::ProjectMode mode) {
  config::Config config;
  config.project = {.path = "/home/ada/code", .mode = mode, .inherit = {"INHERITED", "OTHER"}};
  return config;
}

TEST(RunContractTest, HintsTellTheTruth) {
  boost::asio::io_context loop;
  service::Runner runner(loop, {}, {});
  service::OutputStore store;
  service::Sessions sessions(loop, runner, {});
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
  const auto none = contract.Tools(*service::Setup::Nothing());
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
