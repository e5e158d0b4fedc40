#include "config/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/decode.h"

namespace igloo::config {
namespace {

using environment::Artifact;
using environment::ArtifactScan;
using environment::Environment;
using environment::Listing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kPresets[] = {"shell", "python", "node", "java"};

environment::HostLayout Host() {
  environment::HostLayout layout;
  for (const auto& row : environment::HostEnvironments()) {
    for (const auto& program : row.needs) layout.programs.emplace(program.path);
  }
  return layout;
}

Artifact MakeArtifact(const std::string& name, const std::string& directory) {
  return {
      .directory = directory,
      .metadata = {
          .name = name, .description = "found", .interpreter_type = "bash", .timeout_seconds = 7}};
}

class CatalogueTest : public ::testing::Test {
 protected:
  Catalogue Read(std::string_view text, ArtifactScan scan = {}) {
    auto parsed = Parse(text, {.file = "c.toml", .directory = "/etc", .presets = kPresets});
    EXPECT_TRUE(parsed) << parsed.error().what;
    config_ = parsed ? *std::move(parsed) : Config{};
    Found found{.registry = {Host(), std::move(scan), [](const Artifact& artifact) {
                               return Result<Environment>(environment::OutlineOf(artifact));
                             }}};
    for (const auto& each : config_.environments) {
      const Source& source = each.second.source;
      if (source.kind != SourceKind::kArtifact) continue;
      found.artifacts.emplace(source.value, source.value == "/etc/good"
                                                ? Result<Artifact>(MakeArtifact("of", "/etc/good"))
                                                : Fail(Errc::kNotFound, "there is nothing"));
    }
    found.flakes.emplace("f", Fail(Errc::kFailedPrecondition, "it was not built"));
    found.flakes.emplace("g", Environment{.name = "g",
                                          .description = "made",
                                          .provider = "flake",
                                          .interpreter = {"/bin/bash"},
                                          .code_file = "main.sh",
                                          .source = "nixpkgs#x",
                                          .locked = "at y"});
    return {config_, std::move(found)};
  }

  static const Listing* Row(const std::vector<Listing>& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &Listing::name);
    return found == list.end() ? nullptr : &*found;
  }

  Config config_ = {};
};

TEST_F(CatalogueTest, WithoutAFileEveryEnvironmentIsAsItsProviderMadeIt) {
  const Catalogue catalogue = Read("");
  const auto python = catalogue.Find("python3");
  ASSERT_TRUE(python) << python.error().what;
  EXPECT_EQ(python->environment.name, "python");
  EXPECT_THAT(python->environment.aliases, ElementsAre("python3"));
  EXPECT_EQ(python->environment.limits.time_ms, 30'000U);
  EXPECT_EQ(python->backend, wall::Find("jail"));
  EXPECT_EQ(catalogue.Find("java")->environment.limits.memory_bytes, 2048ULL << 20)
      << "compilers keep what they need";
  EXPECT_EQ(catalogue.List().size(), environment::HostEnvironments().size());
}

TEST_F(CatalogueTest, EveryLimitOfTheFileReachesTheRun) {
  const Catalogue catalogue = Read(
      "[defaults]\ntimeout_seconds = 1.5\nmemory_mb = 100\nbackend = 'bubblewrap'\n[limits]\n"
      "cpu_seconds = 2.1\nprocesses = 10\nopen_files = 20\nfile_mb = 3\ndisk_mb = 4\n"
      "disk_files = 50\noutput_mb = 6\n[environments.python]\nmemory_mb = 200\n"
      "limits.processes = 11\nbackend = 'jail'\n");
  const auto java = catalogue.Find("java");
  ASSERT_TRUE(java) << java.error().what;
  const sandbox::Limits& limits = java->environment.limits;
  EXPECT_EQ(limits.time_ms, 1500U);
  EXPECT_EQ(limits.memory_bytes, 100U << 20) << "the file beats what igloo brings along";
  EXPECT_EQ(limits.cpu_seconds, 3U) << "rounded up, never to none";
  EXPECT_EQ(limits.processes, 10U);
  EXPECT_EQ(limits.open_files, 20U);
  EXPECT_EQ(limits.file_bytes, 3U << 20);
  EXPECT_EQ(
      java->environment.room,
      (environment::Room{.disk_bytes = 4U << 20, .disk_files = 50, .output_bytes = 6U << 20}));
  EXPECT_EQ(java->backend, wall::Find("bubblewrap"));
  for (const char* name : {"python", "python3"}) {
    const auto python = catalogue.Find(name);
    ASSERT_TRUE(python) << python.error().what;
    EXPECT_EQ(python->environment.limits.memory_bytes, 200U << 20);
    EXPECT_EQ(python->environment.limits.processes, 11U);
    EXPECT_EQ(python->environment.limits.time_ms, 1500U);
    EXPECT_EQ(python->backend, wall::Find("jail"));
  }
}

TEST_F(CatalogueTest, AnEnvironmentOfTheUsersHasItsNameVariablesAndDescription) {
  const Catalogue catalogue = Read(
      "[project]\npath = '/p'\ninherit_env.vars = ['TZ']\n[environments.build]\npreset = 'shell'\n"
      "description = 'mine'\nenv = { A = '1', PATH = '/x' }\ninherit_env.vars = ['LANG']\n"
      "[environments.b]\nalias = 'build'\n[environments.js]\npreset = 'shell'\n");
  for (const char* name : {"build", "b"}) {
    const auto build = catalogue.Find(name);
    ASSERT_TRUE(build) << build.error().what;
    EXPECT_EQ(build->environment.name, "build");
    EXPECT_EQ(build->environment.description, "mine");
    EXPECT_THAT(build->environment.aliases, ElementsAre("b"));
    EXPECT_THAT(build->variables, ElementsAre(Pair("A", "1"), Pair("PATH", "/x")));
    EXPECT_THAT(build->inherit, ElementsAre("TZ", "LANG"));
  }
  EXPECT_EQ(catalogue.Find("js")->environment.code_file, "main.sh") << "not node any more";
  const auto list = catalogue.List();
  EXPECT_EQ(list.front().name, "shell");
  EXPECT_EQ(list[list.size() - 2].name, "build");
  EXPECT_EQ(list.back().name, "js");
  EXPECT_THAT(Row(list, "build")->aliases, ElementsAre("b"));
  EXPECT_THAT(Row(list, "node")->aliases, ElementsAre("javascript"));
  EXPECT_EQ(Row(list, "b"), nullptr) << "it stands with what it leads to";
}

TEST_F(CatalogueTest, AnArtifactKeepsItsTimeUnlessItsOwnSectionSaysOtherwise) {
  const Catalogue catalogue = Read(
      "[defaults]\ntimeout_seconds = 1\n[limits]\nprocesses = 5\n[environments.a]\npath = 'good'\n"
      "[environments.b]\npath = 'good'\ntimeout_seconds = 2\n");
  const auto a = catalogue.Find("a");
  ASSERT_TRUE(a) << a.error().what;
  EXPECT_EQ(a->environment.name, "a") << "the file's name, not the artifact's";
  EXPECT_EQ(a->environment.limits.time_ms, 7000U);
  EXPECT_EQ(a->environment.limits.processes, 5U);
  EXPECT_EQ(catalogue.Find("b")->environment.limits.time_ms, 2000U);
}

TEST_F(CatalogueTest, TheFileBeatsArtifactsAndArtifactsBeatPresets) {
  ArtifactScan scan;
  scan.found = {MakeArtifact("python", "/found/python"), MakeArtifact("node", "/found/node"),
                MakeArtifact("java", "/found/java"), MakeArtifact("python3", "/found/python3")};
  const Catalogue catalogue = Read(
      "[environments.python]\npreset = 'python'\n[environments.node]\ntimeout_seconds = 3\n", scan);
  EXPECT_EQ(catalogue.Find("python")->environment.provider, "host") << "it names the preset";
  EXPECT_EQ(catalogue.Find("python3")->environment.provider, "artifact") << "its very name";
  const auto node = catalogue.Find("javascript");
  ASSERT_TRUE(node) << node.error().what;
  EXPECT_EQ(node->environment.provider, "artifact") << "a setting does not replace it in silence";
  EXPECT_EQ(node->environment.limits.time_ms, 3000U);
  EXPECT_EQ(catalogue.Find("java")->environment.provider, "artifact");
  const auto list = catalogue.List();
  EXPECT_EQ(Row(list, "python")->provider, "host");
  EXPECT_EQ(Row(list, "node")->provider, "artifact");
}

TEST_F(CatalogueTest, AnArtifactsAliasesLeadToIt) {
  ArtifactScan scan;
  scan.found = {MakeArtifact("science", "/found/science")};
  scan.found[0].metadata.aliases = {"sci", "python3", "node"};
  const Catalogue catalogue = Read("", scan);
  EXPECT_EQ(catalogue.Find("sci")->environment.name, "science");
  EXPECT_EQ(catalogue.Find("python3")->environment.name, "science") << "before igloo's own alias";
  EXPECT_EQ(catalogue.Find("node")->environment.provider, "host") << "a name is nobody's alias";
  const auto list = catalogue.List();
  EXPECT_THAT(Row(list, "science")->aliases, ElementsAre("sci", "python3"));
  EXPECT_THAT(Row(list, "python")->aliases, ::testing::Not(::testing::Contains("python3")));
}

TEST_F(CatalogueTest, AnArtifactSaysWhatItNeedsAndItsSectionSaysOtherwise) {
  ArtifactScan scan;
  scan.found = {MakeArtifact("a", "/found/a"), MakeArtifact("java", "/found/java")};
  for (Artifact& each : scan.found) {
    each.metadata.processes = 99;
    each.metadata.backend = "bubblewrap";
    each.metadata.network = "internet";
    each.metadata.warm = 1;
    each.metadata.preload = {"numpy"};
  }
  const Catalogue catalogue = Read(
      "[limits]\nprocesses = 5\nopen_files = 50\n"
      "[environments.java]\nbackend = 'jail'\nlimits.processes = 7\nwarm = 0\npreload = ['x']\n"
      "network = 'none'\n",
      scan);
  const auto a = catalogue.Find("a");
  ASSERT_TRUE(a) << a.error().what;
  EXPECT_EQ(a->environment.limits.processes, 99U);
  EXPECT_EQ(a->environment.limits.open_files, 50U) << "it does not say";
  EXPECT_EQ(a->backend, wall::Find("bubblewrap"));
  EXPECT_EQ(a->warm, 1U);
  EXPECT_THAT(a->preload, ElementsAre("numpy"));
  const auto java = catalogue.Find("java");
  EXPECT_EQ(java->environment.limits.processes, 7U);
  EXPECT_EQ(java->backend, wall::Find("jail"));
  EXPECT_EQ(java->warm, 0U);
  EXPECT_THAT(java->preload, ElementsAre("x"));
  EXPECT_EQ(a->network.level, network::Level::kInternet);
  EXPECT_EQ(java->network.level, network::Level::kNone);
}

TEST_F(CatalogueTest, AnArtifactSaysWhatItNeedsAlsoWhenAFlakeMadeIt) {
  Artifact artifact = MakeArtifact("f", "/store/f");
  artifact.metadata.network = "internet";
  artifact.metadata.backend = "bubblewrap";
  artifact.metadata.open_files = 99;
  Read("[limits]\nopen_files = 50\n[environments.f]\nflake = 'x'\n");
  Found made{.registry = {Host(), {}}};
  made.flakes.emplace("f", environment::OutlineOf(artifact));
  const auto found = Catalogue(config_, std::move(made)).Find("f");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->network.level, network::Level::kInternet);
  EXPECT_EQ(found->backend, wall::Find("bubblewrap"));
  EXPECT_EQ(found->environment.limits.open_files, 99U);
}

/// A trusted project says what is inside. What that may do is its user's to say, whatever the flake
/// asks for.
TEST_F(CatalogueTest, AProjectsFlakeGetsNeitherNetworkNorAnotherWall) {
  Artifact artifact = MakeArtifact("f", "/store/f");
  artifact.metadata.network = "internet";
  artifact.metadata.backend = "bubblewrap";
  Read("[environments.f]\nflake = 'x'\n");
  config_.environments.at("f").origin = Origin::kProject;
  Found made{.registry = {Host(), {}}};
  made.flakes.emplace("f", environment::OutlineOf(artifact));
  const auto found = Catalogue(config_, std::move(made)).Find("f");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->network.level, network::Level::kNone);
  EXPECT_EQ(found->backend, &wall::kDefault);
}

TEST_F(CatalogueTest, AnAliasMayTakeThePlaceOfAPreset) {
  const Catalogue catalogue = Read("[environments.python]\nalias = 'node'\n");
  for (const char* name : {"python", "python3", "node"}) {
    EXPECT_EQ(catalogue.Find(name)->environment.name, "node") << name;
  }
  const auto list = catalogue.List();
  EXPECT_EQ(Row(list, "python"), nullptr);
  EXPECT_THAT(Row(list, "node")->aliases, ElementsAre("javascript", "js", "python"));
}

TEST_F(CatalogueTest, WhatCannotBeUsedIsListedWithThePlaceInTheFile) {
  const Catalogue catalogue = Read(
      "[environments.gone]\npath = 'gone'\n[environments.web]\npreset = 'node'\n"
      "sessions = false\n[environments.w]\nalias = 'web'\n[environments.f]\nflake = 'x'\n");
  EXPECT_EQ(catalogue.Find("gone").error(),
            (Error{.code = Errc::kNotFound,
                   .what = "c.toml:1:15: there is nothing",
                   .hint = "'path' names a directory that mkSandbox made"}));
  EXPECT_THAT(catalogue.Find("w").error().what, HasSubstr("c.toml:5:1: "));
  const auto list = catalogue.List();
  for (const char* name : {"gone", "web", "f"}) EXPECT_TRUE(Row(list, name)->unavailable) << name;
  EXPECT_THAT(Row(list, "web")->aliases, ElementsAre("w"));
  EXPECT_EQ(Row(list, "f")->provider, "flake");
  EXPECT_EQ(Row(list, "f")->unavailable->what, "c.toml:8:15: it was not built");
  EXPECT_FALSE(Row(list, "node")->unavailable);
}

TEST_F(CatalogueTest, WhatNixMadeIsListedWithItsSource) {
  const Catalogue catalogue =
      Read("[defaults]\ntimeout_seconds = 3\n[environments.g]\nflake = 'nixpkgs#x'\n");
  const auto list = catalogue.List();
  EXPECT_EQ(Row(list, "g")->source, "nixpkgs#x");
  EXPECT_EQ(Row(list, "g")->locked, "at y");
  EXPECT_EQ(catalogue.Find("g")->environment.limits.time_ms, 3000U);
  EXPECT_THAT(catalogue.Find("g")->environment.interpreter, ElementsAre("/bin/bash"));
}

TEST_F(CatalogueTest, TheFileChoosesTheInterpreter) {
  const auto made = Read("[environments.g]\nflake = 'x'\ninterpreter = 'lua -e'\n").Find("g");
  EXPECT_THAT(made->environment.interpreter, ElementsAre("lua", "-e"));
  EXPECT_EQ(made->environment.passing, environment::CodePassing::kArgument);
  EXPECT_EQ(made->environment.language, "");
  const auto known = Read("[environments.g]\nflake = 'x'\ninterpreter = 'python3 -c'\n").Find("g");
  EXPECT_THAT(known->environment.interpreter, ElementsAre("python3"));
  EXPECT_EQ(known->environment.code_file, "main.py");
  EXPECT_EQ(known->environment.language, "python");
}

TEST_F(CatalogueTest, WhatNoEnvironmentCanHaveIsRefusedForAll) {
  const Catalogue catalogue = Read("[defaults]\nbackend = 'container'\n");
  EXPECT_THAT(catalogue.Find("shell").error().what, HasSubstr("is not available yet"));
  for (const Listing& row : catalogue.List()) EXPECT_TRUE(row.unavailable) << row.name;
}

TEST_F(CatalogueTest, AnArtifactForAnUnknownWallIsRefused) {
  Artifact artifact = MakeArtifact("f", "/store/f");
  artifact.metadata.backend = "papre";
  Read("[environments.f]\nflake = 'x'\n");
  Found made{.registry = {Host(), {}}};
  made.flakes.emplace("f", environment::OutlineOf(artifact));
  const auto found = Catalogue(config_, std::move(made)).Find("f");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("there is no backend 'papre'"));
}

TEST_F(CatalogueTest, AWrongNameGetsTheNearestOfTheFileToo) {
  const Catalogue catalogue = Read("[environments.science]\npreset = 'python'\n");
  EXPECT_EQ(catalogue.Find("sciense").error().hint, "did you mean 'science'?");
  EXPECT_THAT(catalogue.Find("zzzzzzzz").error().hint, HasSubstr(", science"));
}

}  // namespace
}  // namespace igloo::config
