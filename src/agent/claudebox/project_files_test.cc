#include "agent/claudebox/project_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::agent::claudebox {
namespace {

using enum config::Trust;

class ClaudeboxProject : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(place_ + "/" + name) << text;
  }
  ProjectFiles Read() { return *ReadProjectFiles(place_, store_); }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_ = temp_.path();
  config::TrustDirectory store_{temp_.path() + "/state/igloo/trust"};
};

TEST_F(ClaudeboxProject, HasNothingToTrustWithoutFiles) { EXPECT_EQ(Read().trust, kNoFile); }

TEST_F(ClaudeboxProject, CountsOnlyAsItWasTrusted) {
  Write(".claudebox", "cmd = bash\n");
  Write(".claudebox.env", "A=1\n");
  const ProjectFiles files = Read();
  EXPECT_EQ(files.trust, kUntrusted);
  ASSERT_TRUE(store_.Add({.directory = files.entry, .digest = files.digest}));
  EXPECT_EQ(Read().trust, kTrusted);
  Write(".claudebox.env", "A=2\n");
  EXPECT_EQ(Read().trust, kChanged);
}

TEST_F(ClaudeboxProject, WhatMovesFromOneFileToTheOtherIsAChange) {
  Write(".claudebox", "A=1\n");
  const ProjectFiles files = Read();
  ASSERT_TRUE(store_.Add({.directory = files.entry, .digest = files.digest}));
  std::filesystem::rename(place_ + "/.claudebox", place_ + "/.claudebox.env");
  EXPECT_EQ(Read().trust, kChanged);
}

TEST_F(ClaudeboxProject, FollowsNoLinkAndWaitsForNoPipe) {
  Write("elsewhere", "cmd = bash\n");
  std::filesystem::create_symlink("elsewhere", place_ + "/.claudebox");
  ASSERT_EQ(::mkfifo((place_ + "/.claudebox.env").c_str(), 0600), 0);
  EXPECT_EQ(Read().trust, kNoFile);
}

}  // namespace
}  // namespace igloo::agent::claudebox
