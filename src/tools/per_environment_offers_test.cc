#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "config/sandbox_mcp_builtin.h"
#include "environment/host.h"
#include "tools/hints.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using config::SandboxSpec;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// A machine with every program that environments name.
environment::HostLayout FullHost() {
  environment::HostLayout layout;
  for (const auto& row : environment::HostEnvironments()) {
    for (const auto& program : row.needs) layout.programs.emplace(program.path);
  }
  return layout;
}

/// All tools of a machine with `scan` as the user's sandboxes and `toml` as igloo's configuration.
std::vector<EnvironmentTool> ToolsOf(const config::SandboxScan& scan = {},
                                     Uncovered uncovered = Uncovered::kLeaveOut,
                                     const environment::HostLayout& host = FullHost(),
                                     std::string_view toml = "") {
  const config::Config config = config::Parse(toml, {.file = "c.toml", .directory = "/"}).value();
  const config::Catalogue catalogue(config, {.registry = {host, {}}});
  return MakeEnvironmentTools(scan, catalogue, uncovered);
}

std::vector<std::string> Ids(const std::vector<EnvironmentTool>& tools) {
  std::vector<std::string> ids;
  for (const EnvironmentTool& tool : tools) ids.push_back(tool.spec.id);
  return ids;
}

const EnvironmentTool& Find(const std::vector<EnvironmentTool>& tools, std::string_view id) {
  for (const EnvironmentTool& tool : tools) {
    if (tool.spec.id == id) return tool;
  }
  throw std::out_of_range(std::string(id));
}

SandboxSpec Mine(std::string id) {
  return {.id = std::move(id), .entrypoint = "main.sh", .command = {"sh", "main.sh"}};
}

SandboxSpec Builtin(std::string_view id) {
  for (const SandboxSpec& spec : config::BuiltinSandboxes()) {
    if (spec.id == id) return spec;
  }
  throw std::out_of_range(std::string(id));
}

TEST(PerEnvironmentOffers, TheEightAreThereInTheirOrder) {
  const auto tools = ToolsOf();
  EXPECT_THAT(Ids(tools), ElementsAre("shell", "go", "python", "javascript", "rust", "java",
                                      "network-tools", "apisix"));
  const std::vector<std::string> environments = {"shell", "go", "python", "node", "rust", "java"};
  for (std::size_t i = 0; i < environments.size(); ++i) {
    EXPECT_EQ(tools[i].environment, environments[i]);
    EXPECT_FALSE(tools[i].unavailable) << tools[i].spec.id << ": " << tools[i].unavailable->what;
  }
}

TEST(PerEnvironmentOffers, PythonIsTheOneWithLibrariesWhereThereIsOne) {
  const auto tools = ToolsOf({}, Uncovered::kServe, FullHost(),
                             "[environments.python-data]\npreset = \"python\"\n");
  const EnvironmentTool& python = Find(tools, "python");
  EXPECT_EQ(python.environment, "python-data");
  EXPECT_EQ(python.spec.resources.memory_mb, 512U);
  EXPECT_EQ(std::ranges::count(Ids(tools), "python"), 1);
}

TEST(PerEnvironmentOffers, WhatNeedsANetworkIsServedAndAnImageThatIsNotThereSaysSo) {
  const auto tools = ToolsOf();
  EXPECT_FALSE(Find(tools, "network-tools").unavailable);
  ASSERT_TRUE(Find(tools, "apisix").unavailable);
  EXPECT_THAT(Find(tools, "apisix").unavailable->what,
              HasSubstr("needs the environment 'apisix', which is not there"));
}

TEST(PerEnvironmentOffers, NothingPointsToAHomeThatIsNotThere) {
  const auto tools =
      ToolsOf({}, Uncovered::kServe, FullHost(), "[environments.mine]\npreset = \"go\"\n");
  EXPECT_EQ(Find(tools, "mine").variables.at("GOPATH"), "/tmp/go");
  EXPECT_EQ(Find(tools, "go").variables.at("GOCACHE"), "/tmp/.cache/go-build");
  EXPECT_EQ(Find(tools, "python").variables.at("PYTHONPATH"), "/sandbox");
  EXPECT_FALSE(Find(tools, "go").variables.contains("PATH"));
}

TEST(PerEnvironmentOffers, AMissingProgramIsNamedWithItsPackage) {
  const auto tools = ToolsOf({}, Uncovered::kServe, {});
  ASSERT_TRUE(Find(tools, "java").unavailable);
  EXPECT_THAT(Find(tools, "java").unavailable->hint, HasSubstr("apt install"));
}

TEST(PerEnvironmentOffers, TheUsersBeatsIgloosAndStandsInItsPlace) {
  SandboxSpec own = Mine("python");
  own.image = "sandbox-mcp/shell:latest";
  SandboxSpec other = Mine("other");
  other.image = "shell";
  const auto tools = ToolsOf({.found = {{"/s/other", other}, {"/s/python", own}}});
  EXPECT_THAT(Ids(tools), ElementsAre("shell", "go", "python", "javascript", "rust", "java",
                                      "network-tools", "apisix", "other"));
  EXPECT_EQ(Find(tools, "python").spec.entrypoint, "main.sh");
  EXPECT_EQ(Find(tools, "python").environment, "shell");
  EXPECT_EQ(Find(tools, "other").environment, "shell");
}

TEST(PerEnvironmentOffers, AnUnknownImageIsListedWithTheFix) {
  SandboxSpec own = Mine("mine");
  own.image = "docker.io/library/alpine:3";
  const auto tools = ToolsOf({.found = {{"/s", own}}});
  ASSERT_TRUE(Find(tools, "mine").unavailable);
  EXPECT_THAT(Find(tools, "mine").unavailable->what, HasSubstr("'docker.io/library/alpine:3'"));
  EXPECT_THAT(
      Find(tools, "mine").unavailable->hint,
      AllOf(HasSubstr("igloo env pull docker.io/library/alpine:3"), HasSubstr("igloo env list")));
}

/// What runs in another Python than the one that was named is worse than what does not run.
TEST(PerEnvironmentOffers, AnImageIsNeverAnEnvironmentOfALikeName) {
  for (const char* image : {"python:3.12-slim", "python:3", "library/python", "python@sha256:00",
                            "docker.io/python", "node:20", "alpine:latest", "shell:latest"}) {
    SandboxSpec own = Mine("mine");
    own.image = image;
    const auto tools = ToolsOf({.found = {{"/s", own}}});
    const EnvironmentTool& mine = Find(tools, "mine");
    EXPECT_EQ(mine.environment, "") << image;
    ASSERT_TRUE(mine.unavailable) << image;
    EXPECT_THAT(mine.unavailable->what, HasSubstr("not pulled yet")) << image;
    EXPECT_THAT(mine.unavailable->hint, HasSubstr("igloo env pull " + std::string(image)));
  }
  // Control: these name environments.
  for (const char* image : {"python", "sandbox-mcp/python:latest", "sandbox-mcp/python"}) {
    SandboxSpec own = Mine("mine");
    own.image = image;
    const auto tools = ToolsOf({.found = {{"/s", own}}});
    EXPECT_EQ(Find(tools, "mine").environment, "python") << image;
  }
}

TEST(PerEnvironmentOffers, EnvironmentsThatNoSandboxCoversGetOne) {
  const std::string_view toml = "[environments.\"my.data\"]\npreset = \"python\"\n";
  EXPECT_THAT(Ids(ToolsOf({}, Uncovered::kLeaveOut, FullHost(), toml)),
              Not(IsSupersetOf({"my_data"})));
  const auto tools = ToolsOf({}, Uncovered::kServe, FullHost(), toml);
  const EnvironmentTool& mine = Find(tools, "my_data");
  EXPECT_EQ(mine.environment, "my.data");
  EXPECT_EQ(mine.spec.entrypoint, "main.py");
  EXPECT_THAT(mine.spec.command, ElementsAre("/usr/bin/python3", "main.py"));
  EXPECT_EQ(mine.spec.timeout_seconds, 30U);
  EXPECT_EQ(mine.spec.resources.memory_mb, 512U);
  EXPECT_EQ(Find(tools, "ruby").spec.entrypoint, "main.rb");
  // node is covered by javascript, and all others but ruby and perl by themselves.
  EXPECT_EQ(tools.size(), 11U);
}

// BUG-B6: 64 MB are less than Java and Rust need to start, also where a file from then says it.
TEST(PerEnvironmentOffers, LimitsAreOnesThatWork) {
  SandboxSpec old = Builtin("java");
  old.resources = {.cpu = 1, .memory_mb = 64, .processes = 64, .files = 96};
  const auto tools = ToolsOf({.found = {{"/s/java", old}}});
  EXPECT_EQ(Find(tools, "java").spec.resources.memory_mb, 512U);
  EXPECT_EQ(Find(tools, "rust").spec.resources.memory_mb, 512U);
  EXPECT_EQ(Find(tools, "go").spec.resources.memory_mb, 512U);
  EXPECT_EQ(Find(tools, "shell").spec.resources.memory_mb, 64U);
  EXPECT_THAT(Describe(Find(tools, "java"), {.cores = 2}).description,
              HasSubstr("with 2 CPU cores, 512 MB RAM, and 128 processes."));
  // Where that is kept, the file's own number counts, and never more than there are.
  EXPECT_THAT(Describe(Find(tools, "java"), {.cores = 2, .limits_cpus = true}).description,
              HasSubstr("with 1 CPU core, 512 MB RAM"));
}

TEST(PerEnvironmentOffers, MoreThanTheLeastStays) {
  SandboxSpec own = Builtin("java");
  own.resources.memory_mb = 2048;
  EXPECT_EQ(Find(ToolsOf({.found = {{"/s", own}}}), "java").spec.resources.memory_mb, 2048U);
}

TEST(PerEnvironmentOffers, WhatTheFileDoesNotLimitTheEnvironmentDoes) {
  SandboxSpec own = Mine("mine");
  own.image = "shell";
  const auto tools = ToolsOf({.found = {{"/s", own}}});
  EXPECT_EQ(Find(tools, "mine").spec.resources,
            (SandboxSpec::Resources{.memory_mb = 512, .processes = 256, .files = 512}));
}

// BUG-B1: users, networks, capabilities and limits were read and then ignored.
TEST(PerEnvironmentOffers, LessWallIsRefusedAndNotIgnored) {
  const auto refused = [](auto change) {
    SandboxSpec spec = Mine("mine");
    change(spec);
    const auto fine = CheckWall(spec);
    return fine ? "" : fine.error().what + "; " + fine.error().hint;
  };
  EXPECT_EQ(refused([](SandboxSpec&) {}), "");
  EXPECT_EQ(refused([](SandboxSpec& s) { s.user = "1000:1000"; }), "");
  EXPECT_EQ(refused([](SandboxSpec& s) { s.security.cap_drop = {"ALL"}; }), "");
  EXPECT_EQ(refused([](SandboxSpec& s) { s.security.options = {"no-new-privileges"}; }), "");
  EXPECT_EQ(refused([](SandboxSpec& s) { s.security.options = {}; }), "");
  for (const char* user : {"root", "0", "0:0", "root:root", "00"}) {
    EXPECT_THAT(refused([&](SandboxSpec& s) { s.user = user; }), HasSubstr("the user")) << user;
  }
  EXPECT_THAT(refused([](SandboxSpec& s) { s.security.cap_drop = {}; }), HasSubstr("capabilities"));
  EXPECT_THAT(refused([](SandboxSpec& s) { s.security.cap_drop = {"NET_RAW"}; }),
              HasSubstr("\"capDrop\": [\"all\"]"));
  for (const char* option : {"no-new-privileges:false", "seccomp=unconfined", "apparmor:unconfined",
                             "label=disable", "seccomp=/p.json"}) {
    EXPECT_THAT(refused([&](SandboxSpec& s) { s.security.options = {option}; }), HasSubstr(option));
  }
  for (const char* network : {"host", "container:x", "mine"}) {
    EXPECT_THAT(refused([&](SandboxSpec& s) { s.security.network = network; }), HasSubstr(network));
  }
}

TEST(PerEnvironmentDescribe, SaysWhatTheContractSays) {
  const auto tools = ToolsOf();
  const mcp::Tool shell = Describe(Find(tools, "shell"), {.cores = 1});
  EXPECT_EQ(shell.name, "shell");
  EXPECT_EQ(shell.title, "Linux Shell");
  EXPECT_EQ(
      shell.description,
      "Run a shell script with the usual command line tools of Linux. This sandbox uses Igloo "
      "isolation with 1 CPU core, 64 MB RAM, and 64 processes. It has no network access and "
      "read-only filesystem permissions. It supports uploading additional files. The execution "
      "is limited to 60 seconds.");
  const std::string go = Describe(Find(tools, "go"), {.cores = 4}).description;
  EXPECT_THAT(go, HasSubstr("read-write filesystem permissions. It requires a `go.mod` file (The "
                            "module's file, for example `module sandbox`) and supports uploading "
                            "additional files."));
  EXPECT_THAT(Describe(Find(tools, "network-tools"), {.cores = 4}).description,
              AllOf(HasSubstr("It has bridge network access"),
                    HasSubstr("It cannot make raw sockets (tcpdump, nmap -sS): these need network "
                              "= \"internet\" and raw_sockets = true in "
                              "[environments.network-tools]")));
  EXPECT_THAT(Describe(Find(tools, "network-tools"), {.cores = 4}).description,
              Not(HasSubstr("It cannot be used at present")));
}

TEST(PerEnvironmentDescribe, SeveralRequiredFilesAreListed) {
  SandboxSpec spec = Mine("x");
  spec.name = "";
  spec.files = {{"a", "first"}, {"b", ""}, {"c", ""}};
  const mcp::Tool tool = Describe({.spec = spec}, {.cores = 1});
  EXPECT_EQ(tool.title, "x");
  EXPECT_THAT(tool.description,
              HasSubstr("It requires the following files: `a` (first), `b` and `c`."));
}

TEST(PerEnvironmentDescribe, ALongDescriptionLeavesRoomForTheLimits) {
  SandboxSpec spec = Mine("x");
  spec.description = std::string(10'000, 'x');
  const std::string text = Describe({.spec = spec}, {}).description;
  EXPECT_LT(text.size(), 4000U);
  EXPECT_THAT(text, ::testing::EndsWith("limited to 60 seconds."));
}

TEST(PerEnvironmentDescribe, ParametersAreTheFiles) {
  const auto tools = ToolsOf();
  EXPECT_EQ(
      boost::json::serialize(Describe(Find(tools, "go"), {.cores = 1}).input_schema),
      R"({"type":"object","properties":{"main_go":{"type":"string","description":"Code to be )"
      R"(stored in a file named `main.go` and executed with the command `go run main.go`."},)"
      R"("go_mod":{"type":"string","description":"The module's file, for example `module )"
      R"(sandbox`"},"files":{"type":"array","description":"Files to be included in the )"
      R"(sandbox","items":{"type":"object","properties":{"filename":{"type":"string",)"
      R"("description":"Name of the file, without directories"},"content":{"type":"string",)"
      R"("description":"What is in it"}},"required":["filename","content"]}}},)"
      R"("required":["main_go","go_mod"]})");
  SandboxSpec plain = Mine("x");
  EXPECT_FALSE(Describe({.spec = plain}, {.cores = 1})
                   .input_schema.at("properties")
                   .as_object()
                   .contains("files"));
}

TEST(PerEnvironmentDescribe, HintsFollowFromTheSettings) {
  SandboxSpec spec = Mine("x");
  EXPECT_EQ(HintsOf(spec, {}), (mcp::ToolHints{false, false, true, false}));
  spec.mount.read_only = true;
  EXPECT_EQ(HintsOf(spec, {}), (mcp::ToolHints{true, false, true, false}));
  spec = Mine("x");
  spec.security.read_only = true;
  EXPECT_EQ(HintsOf(spec, {}), (mcp::ToolHints{true, false, true, false}));
  spec.hints = {.read_only = false, .destructive = true, .idempotent = false, .external = true};
  EXPECT_EQ(HintsOf(spec, {}), (mcp::ToolHints{false, true, false, true}));
}

TEST(PerEnvironmentDescribe, HintsNeverClaimLessThanTheTruth) {
  SandboxSpec spec = Mine("x");
  spec.security.network = "bridge";
  spec.mount.read_only = spec.security.read_only = true;
  spec.hints = {.read_only = true, .destructive = false, .idempotent = true, .external = false};
  EXPECT_EQ(HintsOf(spec, {}), (mcp::ToolHints{false, true, false, true}));
  spec.security.network = "none";
  EXPECT_EQ(HintsOf(spec, {}), (mcp::ToolHints{true, false, true, false}));
  EXPECT_EQ(HintsOf(spec, {.network = true}), (mcp::ToolHints{false, true, false, true}));
  for (const service::Rights& rights :
       {service::Rights{.network = true}, service::Rights{.writable_host = true},
        service::Rights{.network = true, .writable_host = true}}) {
    EXPECT_EQ(HintsOf(spec, rights), HintsOf(rights)) << "the same as for igloo's own tools";
  }
  EXPECT_EQ(HintsOf(spec, {.writable_host = true}), (mcp::ToolHints{false, true, false, false}));
  EXPECT_THAT(Describe({.spec = spec}, {.rights = {.writable_host = true}}).description,
              HasSubstr("can change the files of the user's project"));
}

}  // namespace
}  // namespace igloo::tools
