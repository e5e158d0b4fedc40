#include "config/nix_sandbox_mcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kStorePath = "/nix/store/" + std::string(32, 'a') + "-sandbox-python";

TEST(NixSandboxMetadataTest, ReadsTheWholeConfiguration) {
  const TempDir prefix = TempDir::Make(igloo::testing::TempParent()).value();
  std::filesystem::create_directories(prefix.path() + kStorePath);
  const environment::Store store{
      .closure_of = [](const environment::StorePlace&) { return std::vector<std::string>{}; }};
  const auto read = ReadNixSandboxMetadata(
      R"({"environments": {"python": {"backend": "jail", "exec": ")" + prefix.path() + kStorePath +
          R"(/bin/run", "session_exec": "/evil", "timeout_seconds": 5, "memory_mb": 64},
          "shell": {"exec": "/tmp/evil"},
          "vm": {"backend": "container", "exec": "/x", "interpreter_type": "bash"}},
          "project": {"path": ".", "mount_point": "/src", "use_flake": false,
                      "inherit_env": {"vars": ["A"]}},
          "session": {"idle_timeout_seconds": 10}})",
      store);
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->environments.size(), 3U);
  const environment::Artifact& python = read->environments[0];
  EXPECT_EQ(python.metadata.name, "python");
  EXPECT_EQ(python.metadata.interpreter_type, "python") << "by its name";
  EXPECT_EQ(python.metadata.timeout_seconds, 5U);
  EXPECT_EQ(python.metadata.memory_mb, 64U);
  EXPECT_EQ(python.directory, prefix.path() + kStorePath);
  EXPECT_FALSE(python.unavailable) << python.unavailable->what;
  const environment::Artifact& shell = read->environments[1];
  EXPECT_EQ(shell.metadata.interpreter_type, "bash");
  ASSERT_TRUE(shell.unavailable) << "what it would have executed is in no store";
  EXPECT_THAT(shell.unavailable->hint, HasSubstr("nix build YOUR-FLAKE#shell"));
  ASSERT_TRUE(read->environments[2].unavailable);
  EXPECT_THAT(read->environments[2].unavailable->what, HasSubstr("not available yet"));
  EXPECT_EQ(read->project.path, ".");
  EXPECT_EQ(read->project.mount_point, "/src");
  EXPECT_THAT(read->project.inherit, ElementsAre("A"));
  ASSERT_TRUE(read->session);
  EXPECT_EQ(read->session->idle_seconds, 10U);
  EXPECT_EQ(read->session->lifetime_seconds, std::nullopt);
}

TEST(NixSandboxMetadataTest, SaysWhatIsWrongWithTheVariable) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "NIX_SANDBOX_METADATA"},
           {"{}", "'environments' is no object"},
           {R"({"environments":{"x":7}})", "environment 'x' is no object"},
           {R"({"environments":{"x":{"timeout_seconds":"7"}}})", "timeout_seconds"}}) {
    const auto read = ReadNixSandboxMetadata(text, {});
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().what, HasSubstr(what));
    EXPECT_THAT(read.error().what, HasSubstr("NIX_SANDBOX_METADATA"));
  }
}

TEST(NixSandboxMetadataTest, AnEnvironmentOfAFlakeHasABashUnlessItSaysOtherwise) {
  const TempDir prefix = TempDir::Make(igloo::testing::TempParent()).value();
  std::filesystem::create_directories(prefix.path() + kStorePath);
  const environment::Store store{
      .closure_of = [](const environment::StorePlace&) { return std::vector<std::string>{}; }};
  const std::string exec = R"("exec":")" + prefix.path() + kStorePath + R"(/bin/run")";
  const auto read =
      ReadNixSandboxMetadata(R"({"environments":{"tools":{)" + exec + R"(},"project":{)" + exec +
                                 R"(},"odd":{)" + exec + R"(,"interpreter_type":"ruby"}}})",
                             store, "environments.json");
  ASSERT_TRUE(read) << read.error().what;
  for (const int each : {0, 1}) {
    EXPECT_EQ(read->environments.at(each).metadata.interpreter_type, "bash");
    EXPECT_FALSE(read->environments.at(each).unavailable);
  }
  ASSERT_TRUE(read->environments.at(2).unavailable);
  EXPECT_THAT(read->environments.at(2).unavailable->what,
              HasSubstr("Unknown interpreter_type: 'ruby'. Must be one of: python, bash, node"));
  EXPECT_THAT(ReadNixSandboxMetadata("{", store, "/x/environments.json").error().what,
              HasSubstr("/x/environments.json"));
}

}  // namespace
}  // namespace igloo::config
