#include "config/config.h"

#include <gtest/gtest.h>

#include "config/decode.h"

namespace igloo::config {
namespace {

constexpr std::string_view kPresets[] = {"shell", "python", "node"};

Config Read(std::string_view text, std::string file = "c.toml", Origin origin = Origin::kUser) {
  auto config = Parse(
      text, {.file = std::move(file), .directory = "/etc", .origin = origin, .presets = kPresets});
  EXPECT_TRUE(config) << config.error().what;
  return config ? *std::move(config) : Config{};
}

TEST(ConfigTest, LimitsComeFromTheEnvironmentThenTheFile) {
  const Config config = Read(
      "[defaults]\ntimeout_seconds = 10\nmemory_mb = 64\n"
      "[environments.python]\nmemory_mb = 128\n[environments.py]\nalias = 'python'\n");
  for (const char* name : {"python", "py"}) {
    const Limits limits = LimitsFor(config, name);
    EXPECT_EQ(limits.memory_bytes, 128U << 20);
    EXPECT_EQ(limits.time_ms, 10'000U);
    EXPECT_EQ(limits.processes, std::nullopt) << "nobody named it";
  }
  EXPECT_EQ(LimitsFor(config, "node").memory_bytes, 64U << 20);
  EXPECT_EQ(LimitsFor(Config{}, "node"), Limits{});
}

TEST(ConfigTest, TheBackendOfAnEnvironmentIsItsOwnOrTheFiles) {
  const Config config =
      Read("[defaults]\nbackend = 'bubblewrap'\n[environments.python]\nbackend = 'jail'\n");
  EXPECT_EQ(BackendFor(config, "python"), wall::Find("jail"));
  EXPECT_EQ(BackendFor(config, "node"), wall::Find("bubblewrap"));
}

TEST(ConfigTest, WhatIsNotAvailableIsRefusedWhereItIsUsedOnly) {
  const Config config = Read(
      "[backends.microvm]\nhypervisor = 'firecracker'\n[environments.web]\npreset = 'python'\n"
      "sessions = false\n[environments.w]\nalias = 'web'\n[environments.node]\n");
  const Error refusal{
      .code = Errc::kFailedPrecondition,
      .what = "c.toml:5:1: 'environments.web.sessions' is not available yet",
      .hint = "remove it, or use a newer igloo; everything else in the file keeps working"};
  EXPECT_EQ(CheckEnvironmentAvailable(config, "web").error(), refusal);
  EXPECT_EQ(CheckEnvironmentAvailable(config, "w").error(), refusal);
  EXPECT_TRUE(CheckEnvironmentAvailable(config, "node"));
  EXPECT_TRUE(CheckEnvironmentAvailable(config, "shell")) << "one that the file does not name";
  EXPECT_FALSE(CheckAvailable(config, "backends"));
  EXPECT_TRUE(CheckAvailable(config, "project"));
}

TEST(ConfigTest, WhatEveryEnvironmentInheritsIsRefusedForAll) {
  const Config config = Read("[defaults]\nbackend = 'container'\n");
  EXPECT_FALSE(CheckEnvironmentAvailable(config, "shell"));
}

TEST(MergeTest, AddsTheProjectsEnvironments) {
  const auto merged =
      Merge(Read("[environments.a]\npreset = 'node'\n"),
            Read("[environments.b]\nflake = '.'\n", "/p/igloo.toml", Origin::kProject));
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->environments.size(), 2U);
  EXPECT_EQ(merged->environments.at("b").origin, Origin::kProject);
  EXPECT_TRUE(CheckEnvironmentAvailable(*merged, "b"));
  EXPECT_EQ(merged->file, "c.toml");
}

TEST(MergeTest, AProjectMayAskForItsOwnShell) {
  const Config user = Read("[project]\npath = '/p'\n");
  EXPECT_FALSE(WithProjectFlake(user)->environments.contains("project"));
  const auto merged =
      Merge(user, Read("\n[project]\nuse_flake = true\n", "/p/igloo.toml", Origin::kProject));
  ASSERT_TRUE(merged);
  const auto config = WithProjectFlake(*merged);
  ASSERT_TRUE(config);
  const EnvironmentConfig& own = config->environments.at("project");
  EXPECT_EQ(own.source, (Source{SourceKind::kDevShell, "/p"}));
  EXPECT_EQ(own.file, "/p/igloo.toml");
  EXPECT_EQ(own.where, (Position{3, 1}));
  // Somebody's own environment of that name is not replaced.
  const auto taken = WithProjectFlake(
      Read("[project]\npath = '/p'\nuse_flake = true\n[environments.project]\npreset = 'node'\n"));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().what,
            "c.toml:3:1: 'use_flake' makes the environment 'project', which is already configured "
            "at c.toml:4:15");
}

TEST(MergeTest, AProjectHidesMoreAndShowsNothing) {
  const auto merged = Merge(Read("[project]\npath = '/p'\nhide = ['a']\nshow_hidden = ['b']\n"
                                 "[environments.node]\nhide = ['d']\nshow_hidden = ['e']\n"),
                            Read("[project]\nhide = ['c']\n[environments.x]\npreset = 'node'\n"
                                 "hide = ['f']\n",
                                 "/p/igloo.toml", Origin::kProject));
  ASSERT_TRUE(merged);
  using Rules = environment::HideRules;
  EXPECT_EQ(HiddenFor(*merged, "shell"), (Rules{.hide = {"a", "c"}, .show = {"b"}}));
  EXPECT_EQ(HiddenFor(*merged, "node"), (Rules{.hide = {"a", "c", "d"}, .show = {"b", "e"}}));
  EXPECT_EQ(HiddenFor(*merged, "x"), (Rules{.hide = {"a", "c", "f"}, .show = {"b"}}));
}

TEST(MergeTest, AProjectDoesNotRedefineTheUsersEnvironments) {
  const Config user = Read("[environments.a]\npreset = 'node'\n");
  const Config project =
      Read("\n[environments.a]\npreset = 'shell'\n", "/p/igloo.toml", Origin::kProject);
  EXPECT_EQ(Merge(user, project).error(),
            (Error{.code = Errc::kInvalidArgument,
                   .what = "/p/igloo.toml:2:15: environment 'a' is already configured at "
                           "c.toml:1:15",
                   .hint = "give one of them another name"}));
}

TEST(MergeTest, TwoFilesTogetherMakeNoCircle) {
  const Config user = Read("[environments.a]\nalias = 'python'\n");
  const Config project =
      Read("[environments.python]\nalias = 'a'\n", "/p/igloo.toml", Origin::kProject);
  EXPECT_EQ(Merge(user, project).error().what,
            "/p/igloo.toml: aliases go round in a circle: a -> python -> a");
}

TEST(ResolveTest, ACircleMadeByHandEnds) {
  Config config;
  config.environments["a"] = {.name = "a", .source = {SourceKind::kAlias, "b"}};
  config.environments["b"] = {.name = "b", .source = {SourceKind::kAlias, "a"}};
  EXPECT_FALSE(Resolve(config, "a").empty());
  EXPECT_EQ(Resolve(config, "other"), "other");
}

}  // namespace
}  // namespace igloo::config
