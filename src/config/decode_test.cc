#include "config/decode.h"

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
using testing::Options;
using ::testing::Pair;
using testing::Problems;
using ::testing::UnorderedElementsAre;

TEST(DecodeTest, AnEmptyFileIsAllDefaults) {
  Config expected;
  expected.file = "c.toml";
  EXPECT_EQ(Fine(""), expected);
}

TEST(DecodeTest, TheAuditLogIsKeptWithoutCodeUnlessTheFileSaysOtherwise) {
  EXPECT_EQ(Fine("").audit, (AuditConfig{true, false, 16U << 20, 4}));
  EXPECT_EQ(Fine("[audit]\nenabled = false\ncode = true\nrotate_mb = 1\nkeep = 99\n").audit,
            (AuditConfig{false, true, 1U << 20, 99}));
  EXPECT_THAT(Problems("[audit]\nkeep = 0\nrotate_mb = 0\n"),
              ElementsAre(HasSubstr("2:"), HasSubstr("3:")));
  EXPECT_THAT(Problems("[audit]\nenabled = false\n", Origin::kProject),
              ElementsAre(HasSubstr("concerns more than its own environments")));
}

TEST(DecodeTest, ValuesComeInMillisecondsAndBytes) {
  const Config config = Fine(R"(
[defaults]
backend = "bubblewrap"
timeout_seconds = 2.5
memory_mb = 64
[limits]
cpu_seconds = 10
processes = 7
open_files = 100
file_mb = 1
disk_mb = 2
disk_files = 99
output_mb = 3
)");
  EXPECT_EQ(config.backend, wall::Find("bubblewrap"));
  EXPECT_EQ(config.limits, (Limits{.time_ms = 2500,
                                   .memory_bytes = 64U << 20,
                                   .cpu_ms = 10'000,
                                   .processes = 7,
                                   .open_files = 100,
                                   .file_bytes = 1U << 20,
                                   .disk_bytes = 2U << 20,
                                   .disk_files = 99,
                                   .output_bytes = 3U << 20}));
}

TEST(DecodeTest, AnEnvironmentIsUnderstoodAsAWhole) {
  const Config config = Fine(R"([environments.data]
path = "artifacts/data"
description = "for data"
backend = "bubblewrap"
timeout_seconds = 60
memory_mb = 1024
env = { TZ = "UTC", EMPTY = "" }
inherit_env.vars = ["LANG", "_x1"]
limits.processes = 3
)");
  ASSERT_THAT(config.environments, ElementsAre(Pair("data", ::testing::_)));
  EXPECT_EQ(
      config.environments.at("data"),
      (EnvironmentConfig{.name = "data",
                         .file = "c.toml",
                         .where = {1, 15},
                         .source = {SourceKind::kArtifact, "/etc/igloo/artifacts/data"},
                         .description = "for data",
                         .backend = wall::Find("bubblewrap"),
                         .limits = {.time_ms = 60'000, .memory_bytes = 1ULL << 30, .processes = 3},
                         .variables = {{"EMPTY", ""}, {"TZ", "UTC"}},
                         .inherit = {"LANG", "_x1"}}));
  EXPECT_THAT(config.unavailable, IsEmpty());
}

TEST(DecodeTest, ANameThatIglooBringsAlongNeedsNoPreset) {
  const Config config = Fine("[environments.python]\ntimeout_seconds = 60\n");
  EXPECT_EQ(config.environments.at("python").source, (Source{SourceKind::kPreset, "python", true}));
}

TEST(DecodeTest, PathsAreRelativeToTheFileThatNamesThem) {
  const auto path = [](std::string_view written) {
    return Fine("[project]\npath = '" + std::string(written) + "'\n").project.path;
  };
  EXPECT_EQ(path("."), "/etc/igloo");
  EXPECT_EQ(path("app/"), "/etc/igloo/app");
  EXPECT_EQ(path("../x"), "/etc/x");
  EXPECT_EQ(path("/srv/./app"), "/srv/app");
  EXPECT_EQ(path("/"), "/");
  EXPECT_EQ(path("~"), "/home/ada");
  EXPECT_EQ(path("~/code"), "/home/ada/code");
  EXPECT_THAT(Problems("[project]\npath = '~root/x'\n"),
              ElementsAre("2:8: 'path' names another user's home directory | "
                          "write the path in full"));
  DecodeOptions homeless = Options();
  homeless.home.clear();
  EXPECT_EQ(Decode("[project]\npath = '~/x'\n", homeless).problems.at(0).what,
            "'path' begins with '~', and HOME is not set");
}

TEST(DecodeTest, UnknownKeysComeWithASuggestion) {
  EXPECT_THAT(Problems("[defaults]\ntimout_seconds = 3\n[enviroments.x]\npreset = 'node'\n"),
              ElementsAre("2:1: unknown key 'timout_seconds' in [defaults] | "
                          "did you mean 'timeout_seconds'?",
                          "3:2: there is no section 'enviroments' | "
                          "did you mean 'environments'?"));
  EXPECT_THAT(Problems("[environments.node]\ntimeout = 3\nlimits.procs = 1\n"),
              ElementsAre("2:1: unknown key 'timeout' in [environments.node] | "
                          "did you mean 'timeout_seconds'?",
                          "3:8: unknown key 'procs' in [environments.node.limits] | known here: "
                          "cpu_seconds, cpus, processes, open_files, file_mb, disk_mb, disk_files, "
                          "output_mb"));
  EXPECT_THAT(Problems("[artifacts]\n\"\\u001b\" = 1\n"),
              ElementsAre("2:1: unknown key '\\x1b' in [artifacts] | known here: directory"));
}

TEST(DecodeTest, LimitsOfZeroNegativeAndHugeAreRefused) {
  const std::string right = " | write whole megabytes from 16 to 1048576, for example ";
  EXPECT_THAT(Problems("[defaults]\nmemory_mb = 0"),
              ElementsAre("2:13: 'memory_mb' cannot be 0" + right + "memory_mb = 512"));
  EXPECT_THAT(Problems("[defaults]\nmemory_mb = -1"),
              ElementsAre("2:13: 'memory_mb' cannot be -1" + right + "memory_mb = 512"));
  EXPECT_THAT(
      Problems("[environments.node]\nmemory_mb = 9223372036854775807"),
      ElementsAre("2:13: 'memory_mb' cannot be 9223372036854775807" + right + "memory_mb = 1024"));
  for (const char* number : {"0", "-1", "-0.5", "0.0", "nan", "inf", "-inf", "86401", "1e300"}) {
    EXPECT_THAT(Problems("[defaults]\ntimeout_seconds = " + std::string(number)),
                ElementsAre(HasSubstr(
                    " | write seconds above 0 and up to 86400, for example timeout_seconds = 30")))
        << number;
  }
  EXPECT_EQ(Fine("[defaults]\ntimeout_seconds = 0.0001").limits.time_ms, 1U);
  EXPECT_EQ(Fine("[defaults]\ntimeout_seconds = 86400").limits.time_ms, 86'400'000U);
  EXPECT_FALSE(Problems("[defaults]\nmemory_mb = 99999999999999999999").empty())
      << "a number that TOML itself cannot hold";
}

TEST(DecodeTest, EveryLimitRefusesWhatIsOutside) {
  for (const Key& key : Keys()) {
    if (!key.path.starts_with("limits.")) continue;
    const std::string name(LastPart(key.path));
    for (const std::string& number :
         {std::string("0"), std::string("-3"), std::to_string(key.shape.most + 1)}) {
      EXPECT_EQ(Problems("[limits]\n" + name + " = " + number).size(), 1U) << name << number;
      EXPECT_EQ(Problems("[environments.node.limits]\n" + name + " = " + number).size(), 1U);
    }
  }
}

TEST(DecodeTest, WrongTypesSayWhatIsRight) {
  EXPECT_THAT(
      Problems("[defaults]\ntimeout_seconds = \"30\"\nmemory_mb = 1.5\nbackend = true\n"),
      ElementsAre("2:19: 'timeout_seconds' cannot be text | write seconds above 0 and up to "
                  "86400, for example timeout_seconds = 30",
                  "3:13: 'memory_mb' cannot be a number | write whole megabytes from 16 to "
                  "1048576, for example memory_mb = 512",
                  "4:11: 'backend' cannot be true or false | write \"jail\", \"bubblewrap\", "
                  "\"container\" or \"microvm\", for example backend = \"jail\""));
  EXPECT_THAT(Problems("[project]\npath = 3\nuse_flake = 'yes'\n"),
              ElementsAre("2:8: 'path' cannot be a whole number | write a path, for example path "
                          "= \"~/code/app\"",
                          "3:13: 'use_flake' cannot be text | write true or false, for example "
                          "use_flake = true"));
  EXPECT_THAT(Problems("environments = 3\n[limits.processes]\n"),
              ElementsAre("1:16: 'environments' is a section, not a value | write "
                          "[environments] and its keys below",
                          HasSubstr("'processes' cannot be a table")));
  EXPECT_THAT(Problems("[[environments]]\n"), ElementsAre(HasSubstr("is a section, not a value")));
  EXPECT_THAT(Problems("[environments]\npython = 3\n"),
              ElementsAre("2:10: 'environments.python' is a section, not a value | write "
                          "[environments.python] and its keys below"));
  EXPECT_THAT(Problems("[environments.node]\ndescription = 1979-05-27\npublish = [0]\n"),
              ElementsAre(HasSubstr("'description' cannot be a date or time"),
                          HasSubstr("3:12: 'publish' cannot hold 0 | write a list of ports")));
}

TEST(DecodeTest, AWordThatIsNearlyRightIsRecognised) {
  EXPECT_THAT(Problems("[defaults]\nbackend = 'jial'\n[project]\nmode = 'rw'\n"),
              ElementsAre("2:11: 'backend' cannot be \"jial\" | did you mean \"jail\"?",
                          HasSubstr("write \"readonly\", \"overlay\" or \"readwrite\"")));
}

TEST(DecodeTest, TextsAreNotEmptyAndWhole) {
  EXPECT_THAT(Problems("[project]\npath = ''\n"), ElementsAre(HasSubstr("2:8: 'path' is empty")));
  EXPECT_THAT(Problems("[project]\npath = \"a\\u0000b\"\n"),
              ElementsAre(HasSubstr("'path' holds a zero byte")));
  EXPECT_THAT(Problems("[environments.node]\nenv.A = \"a\\u0000b\"\n"),
              ElementsAre(HasSubstr("'A' holds a zero byte")));
}

TEST(DecodeTest, NamesOfEnvironmentsArePlain) {
  for (const char* name : {"a b", "", "../x", "-x", "a/b", "é", "a\\u001bb"}) {
    EXPECT_THAT(Problems("[environments.\"" + std::string(name) + "\"]\npreset = 'node'\n"),
                ElementsAre(HasSubstr("cannot be a name | names have up to 64 letters")))
        << name;
  }
  EXPECT_EQ(Problems("[environments." + std::string(65, 'a') + "]\npreset = 'node'\n").size(), 1U);
  Fine("[environments.\"python-3.12_x\"]\npreset = 'python'\n");
}

TEST(DecodeTest, AnEnvironmentIsMadeFromExactlyOneThing) {
  EXPECT_THAT(Problems("[environments.web]\ntimeout_seconds = 3\n"),
              ElementsAre("1:15: Environment 'web' must specify 'preset' or 'flake' (or 'path', "
                          "'alias', 'image') | it does not say what it is made from: add, for "
                          "example, preset = \"python\""));
  EXPECT_THAT(Problems("[environments.web]\nflake = 'x'\npreset = 'node'\n"),
              ElementsAre("3:1: environment 'web' is made from 'flake' already | keep either "
                          "'flake' or 'preset'"));
  EXPECT_THAT(Problems("[environments.web]\npreset = 'pyton'\n"),
              ElementsAre("2:10: Unknown preset: pyton | did you mean 'python'?"));
}

TEST(DecodeTest, AliasesLeadSomewhere) {
  const Config config = Fine(
      "[environments.py]\nalias = 'python'\ndescription = 'short'\n"
      "[environments.p]\nalias = 'py'\n");
  EXPECT_EQ(Resolve(config, "p"), "python");
  EXPECT_THAT(Problems("[environments.py]\nalias = 'pythn'\n"),
              ElementsAre("1:15: environment 'py' is an alias of 'pythn', which does not exist | "
                          "did you mean 'python'?"));
  EXPECT_THAT(Problems("[environments.py]\nalias = 'python'\nmemory_mb = 64\n"),
              ElementsAre("3:1: environment 'py' is an alias and has no settings of its own | "
                          "move 'memory_mb' to [environments.python]"));
}

TEST(DecodeTest, AliasesDoNotGoRoundInACircle) {
  const char* hint = " | let one of them say what it is made from";
  EXPECT_THAT(Problems("[environments.a]\nalias = 'a'\n"),
              ElementsAre(std::string("1:15: aliases go round in a circle: a -> a") + hint));
  EXPECT_THAT(Problems("[environments.x]\nalias = 'c'\n[environments.c]\nalias = 'b'\n"
                       "[environments.b]\nalias = 'c'\n"),
              ElementsAre(std::string("5:15: aliases go round in a circle: b -> c -> b") + hint));
}

TEST(DecodeTest, WhatIsNotAvailableYetIsListedAndTheRestServes) {
  const Config config = Fine(R"([backends.microvm]
hypervisor = "firecracker"
[environments.web]
preset = "python"
sessions = false
limits.processes = 3
[environments.data]
preset = "node"
mounts = ["/srv:/data"]
[environments.vm]
preset = "node"
backend = "container"
)");
  EXPECT_THAT(
      config.unavailable,
      ElementsAre(Unavailable{"backends",
                              "backends.microvm.hypervisor",
                              "backends.microvm.hypervisor = \"firecracker\" is not "
                              "available yet",
                              "c.toml",
                              {2, 1}},
                  Unavailable{"environments.web",
                              "environments.web.sessions",
                              "'environments.web.sessions' is not available yet",
                              "c.toml",
                              {5, 1}},
                  Unavailable{"environments.data",
                              "environments.data.mounts",
                              "'environments.data.mounts' is not available yet",
                              "c.toml",
                              {9, 1}},
                  Unavailable{"environments.vm",
                              "environments.vm.backend",
                              "environments.vm.backend = \"container\" is not available yet",
                              "c.toml",
                              {12, 1}}));
  EXPECT_EQ(config.environments.at("web").limits.processes, 3U);
}

TEST(DecodeTest, WhatNixMakesIsTakenAsItIsWritten) {
  const Config config = Fine(R"([nix]
program = "/opt/nix"
store = "~/store"
nixpkgs = "github:NixOS/nixpkgs"
[project]
path = "app"
use_flake = true
[environments.rg]
flake = "nixpkgs#ripgrep"
interpreter = " ruby  -e "
)");
  EXPECT_EQ(config.nix, (NixConfig{"/opt/nix", "/home/ada/store", "github:NixOS/nixpkgs"}));
  EXPECT_TRUE(config.project.use_flake);
  const EnvironmentConfig& own = config.environments.at("rg");
  EXPECT_EQ(own.source, (Source{SourceKind::kFlake, "nixpkgs#ripgrep"}));
  EXPECT_THAT(own.interpreter, ElementsAre("ruby", "-e"));
}

TEST(DecodeTest, WhatIsNotAvailableYetIsFineAtItsDefault) {
  EXPECT_THAT(Fine(R"([backends.microvm]
hypervisor = "qemu"
[project]
use_flake = false
[backends.jail]
[environments.web]
preset = "python"
sessions = true
mounts = []
)")
                  .unavailable,
              IsEmpty());
}

TEST(DecodeTest, TheServersOwnKeys) {
  EXPECT_EQ(Fine("").daemon, (DaemonConfig{.tools = Tools::kRun, .always_load = true}));
  EXPECT_EQ(Fine("").session,
            (SessionConfig{.idle_ms = 300'000, .lifetime_ms = 3'600'000, .most = 16}));
  const Config config = Fine(R"([daemon]
tools = "both"
always_load = false
transport = "http"
listen = "unix:/run/igloo"
log_level = "debug"
terminal_sequences = "keep"
[session]
idle_timeout_seconds = 0.5
max_lifetime_seconds = 7200
limit = 3
)");
  EXPECT_EQ(config.daemon, (DaemonConfig{.tools = Tools::kBoth,
                                         .always_load = false,
                                         .transport = "http",
                                         .listen = "unix:/run/igloo",
                                         .log_level = "debug",
                                         .terminal_sequences = "keep"}));
  EXPECT_TRUE(config.daemon.keeps_sequences());
  EXPECT_FALSE(DaemonConfig().keeps_sequences());
  EXPECT_EQ(config.session,
            (SessionConfig{.idle_ms = 500, .lifetime_ms = 7'200'000, .most = 3, .given = true}));
  EXPECT_THAT(config.unavailable, IsEmpty());
  EXPECT_EQ(Fine("[daemon]\ntools = 'per-environment'\n").daemon.tools, Tools::kPerEnvironment);
}

TEST(DecodeTest, ProcessorsCanBeFractions) {
  const Config config = Fine("[limits]\ncpus = 2\n[environments.node.limits]\ncpus = 0.25\n");
  EXPECT_EQ(config.limits.millicpus, 2000U);
  EXPECT_EQ(LimitsFor(config, "node").millicpus, 250U);
  EXPECT_EQ(LimitsFor(config, "python").millicpus, 2000U);
  EXPECT_EQ(Fine("[limits]\ncpus = 0.01\n").limits.millicpus, 10U);
  EXPECT_THAT(Problems("[limits]\ncpus = 0\n"), ElementsAre(HasSubstr("'cpus' cannot be 0")));
  EXPECT_THAT(Problems("[limits]\ncpus = 0.009\n"), ElementsAre(HasSubstr("cannot be 0.009")));
  EXPECT_THAT(Problems("[limits]\ncpus = 1025\n"),
              ElementsAre(HasSubstr("write processors from 0.01 to 1024, for example cpus = 2")));
  EXPECT_THAT(Problems("[limits]\ncpus = 'all'\n"), ElementsAre(HasSubstr("cannot be text")));
}

TEST(DecodeTest, WhatIsNotAvailableYetIsCheckedLikeTheRest) {
  EXPECT_THAT(
      Problems("[daemon]\nlog_level = 'loud'\n[session]\nlimit = 0\n"
               "[environments.node]\nwarm = 65\n"),
      ElementsAre(HasSubstr("2:13: 'log_level' cannot be \"loud\""),
                  HasSubstr("4:9: 'limit' cannot be 0"), HasSubstr("6:8: 'warm' cannot be 65")));
}

TEST(ParseTest, GivesTheFirstProblemAndCountsTheRest) {
  EXPECT_EQ(Parse("[limits]\nprocesses = 0\n", Options()).error(),
            (Error{.code = Errc::kInvalidArgument,
                   .what = "c.toml:2:13: 'processes' cannot be 0",
                   .hint = "write a whole number from 1 to 1000000, for example processes = 256"}));
  EXPECT_THAT(Parse("[limits]\nprocesses = 0\nx = 1\ny = 2\n", Options()).error().hint,
              HasSubstr("\n        2 more: 'igloo config check c.toml' lists them"));
}

}  // namespace
}  // namespace igloo::config
