#include "environment/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::environment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A host that has every program that any environment needs.
HostLayout FullHost() {
  HostLayout layout{.tops = {{"/bin", "usr/bin"}}};
  for (const HostEnvironment& row : HostEnvironments()) {
    for (const HostProgram& program : row.needs) layout.programs.emplace(program.path);
  }
  return layout;
}

Artifact Own(const std::string& name) {
  return {.directory = "/a/" + name,
          .metadata = {.name = name, .description = "my own", .interpreter_type = "bash"}};
}

Artifact Unusable(const std::string& name) {
  Artifact artifact = Own(name);
  artifact.unavailable = Fail(Errc::kFailedPrecondition, "no closure", "rebuild it").error();
  return artifact;
}

/// Artifacts without a store: what is inside does not matter here.
Result<Environment> Open(const Artifact& artifact) { return OutlineOf(artifact); }

std::vector<std::string> Names(const Registry& registry) {
  std::vector<std::string> names;
  for (const Listing& each : registry.List()) {
    names.push_back(each.name + ":" + each.provider + (each.unavailable ? "!" : ""));
  }
  return names;
}

TEST(RegistryTest, ListsPresetsInOrder) {
  EXPECT_THAT(Names({FullHost(), {}}),
              ElementsAre("shell:host", "python:host", "node:host", "go:host", "rust:host",
                          "java:host", "ruby:host", "perl:host", "network-tools:host"));
}

TEST(RegistryTest, PresetsOfImagesAreListedWithWhatTheirImageNeeds) {
  const auto not_pulled = [](const Artifact& artifact) -> Result<Environment> {
    return Fail(Errc::kFailedPrecondition, "not pulled", "pull " + artifact.metadata.image);
  };
  const Registry missing(FullHost(), {.found = ImagePresets()}, not_pulled, ImagePresets());
  const Listing row = missing.List().back();
  EXPECT_EQ(row.name + ":" + row.provider, "apisix:image");
  EXPECT_THAT(row.unavailable->hint, HasSubstr("docker.io/apache/apisix"));
  EXPECT_FALSE(missing.Find("apisix", Depth::kOutline));
  const Registry there(FullHost(), {.found = ImagePresets()}, Open, ImagePresets());
  EXPECT_FALSE(there.List().back().unavailable);
  EXPECT_EQ(there.Find("apisix")->limits.time_ms, 60'000U);
  EXPECT_EQ(there.FindPreset("apisix")->provider, "image");
}

TEST(RegistryTest, WhatIsMissingIsListedWithReasonAndFix) {
  const Registry registry({.programs = {"/usr/bin/bash"}}, {});
  EXPECT_THAT(Names(registry),
              ElementsAre("shell:host", "python:host!", "node:host!", "go:host!", "rust:host!",
                          "java:host!", "ruby:host!", "perl:host!", "network-tools:host!"));
  const auto list = registry.List();
  EXPECT_EQ(*list[3].unavailable, (Error{.code = Errc::kFailedPrecondition,
                                         .what = "environment 'go' needs /usr/bin/go, which is "
                                                 "not installed",
                                         .hint = "install it: sudo apt install golang-go"}));
  EXPECT_EQ(list[4].unavailable->what,
            "environment 'rust' needs /usr/bin/rustc and /usr/bin/cc, which are not installed");
  EXPECT_EQ(list[4].unavailable->hint, "install it: sudo apt install rustc gcc");
  EXPECT_EQ(list[5].unavailable->hint, "install it: sudo apt install default-jdk-headless");
}

TEST(RegistryTest, FindsByNameAndByAlias) {
  const Registry registry(FullHost(), {});
  const std::vector<std::pair<std::string, std::string>> names = {
      {"shell", "shell"},    {"bash", "shell"}, {"python", "python"},
      {"python3", "python"}, {"node", "node"},  {"javascript", "node"},
      {"js", "node"},        {"go", "go"},      {"golang", "go"},
      {"rust", "rust"},      {"java", "java"},  {"ruby", "ruby"},
      {"rb", "ruby"},        {"perl", "perl"},  {"network-tools", "network-tools"}};
  for (const auto& [asked, found] : names) {
    const auto environment = registry.Find(asked);
    ASSERT_TRUE(environment) << asked;
    EXPECT_EQ(environment->name, found);
  }
}

TEST(RegistryTest, AnArtifactBeatsThePresetOfItsName) {
  const Registry registry(FullHost(), {.found = {Own("zoo"), Own("python"), Own("ant")}}, Open);
  EXPECT_EQ(registry.Find("python")->provider, "artifact");
  EXPECT_EQ(registry.Find("python3")->provider, "artifact") << "an alias stands for the name";
  EXPECT_EQ(registry.Find("node")->provider, "host");
  EXPECT_THAT(Names(registry), ElementsAre("shell:host", "python:artifact", "node:host", "go:host",
                                           "rust:host", "java:host", "ruby:host", "perl:host",
                                           "network-tools:host", "ant:artifact", "zoo:artifact"));
}

TEST(RegistryTest, APresetIsWhatCameWithIglooThenTheHosts) {
  const Registry registry(FullHost(), {.found = {Own("python"), Own("node")}}, Open,
                          {Own("node"), Own("python-data")});
  EXPECT_EQ(registry.FindPreset("python3")->provider, "host");
  EXPECT_EQ(registry.FindPreset("javascript")->provider, "artifact");
  EXPECT_EQ(registry.FindPreset("python-data")->name, "python-data");
  EXPECT_THAT(registry.FindPreset("pyton").error().hint, HasSubstr("'python'"));
  const auto none = Registry(FullHost(), {}).FindPreset("python-data");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "the preset 'python-data' is built by Nix, and this igloo has none");
}

TEST(RegistryTest, AnArtifactBeatsAnAlias) {
  const Registry registry(FullHost(), {.found = {Own("bash")}}, Open);
  EXPECT_EQ(registry.Find("bash")->provider, "artifact");
  EXPECT_EQ(registry.Find("shell")->provider, "host");
}

TEST(RegistryTest, AnUnusableArtifactNeverBecomesThePreset) {
  const Registry registry(FullHost(), {.found = {Unusable("python")}}, Open);
  const auto found = registry.Find("python");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().hint, "rebuild it");
  EXPECT_THAT(Names(registry), ::testing::Contains("python:artifact!"));
}

TEST(RegistryTest, AnUnknownNameSaysWhatWasMeant) {
  const Registry registry(FullHost(), {.found = {Own("science")}}, Open);
  EXPECT_EQ(registry.Find("scence").error().hint, "did you mean 'science'?");
  EXPECT_EQ(registry.Find("javascrip").error().hint, "did you mean 'javascript'?");
  EXPECT_THAT(
      registry.Find("cobol").error().hint,
      HasSubstr("choose one of: shell, python, node, go, rust, java, ruby, perl, network-tools, "
                "science"));
  EXPECT_EQ(registry.Find("cobol").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace igloo::environment
