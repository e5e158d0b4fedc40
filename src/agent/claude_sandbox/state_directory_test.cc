#include "agent/claude_sandbox/state_directory.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "agent/registry.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/temp_dir.h"

namespace igloo::agent::claude_sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SandboxState : public ::testing::Test {
 protected:
  std::string Read(const std::string& name) const {
    return ReadFile(state_ + "/" + name, 1000).value_or("cannot be read");
  }
  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string state_ = temp_.path() + "/state";
};

TEST_F(SandboxState, HasANameOfTheProjectsAndSaysWhoseItIs) {
  const std::string project = "/home/ann/my app";
  const auto state = OpenStateDirectory(state_, project);
  ASSERT_TRUE(state) << state.error().what;
  const std::string key = "my-app-" + Sha256Hex(project).substr(0, 12);
  EXPECT_EQ(state->key, key);
  EXPECT_EQ(state->path, state_ + "/claude-code-nix-sandbox/projects/" + key);
  const std::string in = "claude-code-nix-sandbox/projects/" + key + "/";
  EXPECT_EQ(Read(in + "path"), project + "\n");
  EXPECT_THAT(Read(in + "CACHEDIR.TAG"), StartsWith("Signature: 8a477f597d28d172789f06886806bc55"));
  for (const OwnTree& tree : TreesOf(*state, "/home/ann")) {
    EXPECT_TRUE(fs::is_directory(tree.source)) << tree.source;
  }
  EXPECT_EQ(TreesOf(*state, "/home/ann").front().target, "/home/ann/.local/bin");
  EXPECT_EQ(TreesOf(*state, "/home/ann").back().target, "/tmp");
  EXPECT_TRUE(OpenStateDirectory(state_, project)) << "again";
}

TEST_F(SandboxState, OfAnotherProjectIsRefused) {
  const auto state = OpenStateDirectory(state_, "/one");
  ASSERT_TRUE(state);
  std::ofstream(state->path + "/path") << "/two\n";
  const auto again = OpenStateDirectory(state_, "/one");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().what, HasSubstr("belongs to another project: '/two'"));
}

TEST_F(SandboxState, FollowsNoLinkThatABoxPutThere) {
  const auto state = OpenStateDirectory(state_, "/one");
  ASSERT_TRUE(state);
  fs::remove_all(state->path + "/local/bin");
  fs::create_directory_symlink("/etc", state->path + "/local/bin");
  const auto again = OpenStateDirectory(state_, "/one");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().what, HasSubstr("/local/bin' is no directory"));
}

TEST_F(SandboxState, EveryKeyCanNameABox) {
  for (const char* project : {"/", "/a/.b", "/a/-x", "/a/list", "/a/\xc3\xa4 b", "/a/"}) {
    EXPECT_TRUE(CheckBoxName("sandbox-" + KeyOf(project))) << project;
  }
  EXPECT_TRUE(CheckBoxName("sandbox-" + KeyOf("/" + std::string(200, 'x'))));
}

}  // namespace
}  // namespace igloo::agent::claude_sandbox
