#include "agent/state/box_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/state/testing.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

using BoxFiles = StateTest;  // its home stands for that of a box

TEST_F(BoxFiles, AnAgentsOwnFilesAreListedAndNothingElse) {
  for (const char* path :
       {".claude.json", ".claude/settings.json", ".claude/skills/a/SKILL.md", ".claude/new",
        ".claude/projects/p/x.jsonl", ".claude/shell-snapshots/x.sh", ".claude/cache/x", ".bashrc",
        ".cache/big", "claude.json", ".claude.json.tmp"}) {
    Write(path, "x");
  }
  fs::create_symlink("/etc/passwd", home_ + "/.claude/CLAUDE.md");
  fs::create_directory_symlink("/", home_ + "/.claude/commands");
  EXPECT_THAT(ListBoxFiles(home_, *FindAgentFiles("claude")).value(),
              ElementsAre(".claude.json", ".claude/new", ".claude/settings.json",
                          ".claude/skills/a/SKILL.md"));
}

TEST_F(BoxFiles, ManyAndDeepFilesAreNotLookedAt) {
  std::string deep = ".claude/skills";
  for (int i = 0; i < 60; ++i) deep += "/d";
  Write(deep + "/SKILL.md", "x");
  EXPECT_THAT(ListBoxFiles(home_, *FindAgentFiles("claude")).value(), ElementsAre());
  for (std::size_t i = 0; i < kMaxBoxFiles + 10; ++i) Write(".claude/f" + std::to_string(i), "");
  EXPECT_EQ(ListBoxFiles(home_, *FindAgentFiles("claude"))->size(), kMaxBoxFiles);
}

TEST_F(BoxFiles, NoLinkOfABoxLeadsOutsideOfItsHome) {
  const std::string outside = temp_->path() + "/outside";
  fs::create_directories(outside);
  std::ofstream(outside + "/f") << "secret";
  fs::create_symlink(outside + "/f", home_ + "/f");
  fs::create_directory_symlink(outside, home_ + "/d");
  EXPECT_EQ(ReadBoxFile(home_, "f"), std::nullopt);
  EXPECT_EQ(ReadBoxFile(home_, "d/f"), std::nullopt);
  EXPECT_EQ(ReadFile(home_ + "/d/f", 100), "secret") << "the control";
  EXPECT_FALSE(WriteBoxFile(home_, "d/f", "secret", "x"));
  EXPECT_FALSE(WriteBoxFile(home_, "d/new/f", std::nullopt, "x"));
  EXPECT_FALSE(fs::exists(outside + "/new"));
  EXPECT_FALSE(WriteBoxFile(home_, "f", "secret", "x")) << "the link is not what was expected";
  EXPECT_EQ(ReadFile(outside + "/f", 100), "secret");
}

TEST_F(BoxFiles, PipesAndLargeFilesAreAnswered) {
  ASSERT_EQ(::mkfifo((home_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadBoxFile(home_, "pipe"), std::nullopt);
  Write("large", "");
  fs::resize_file(home_ + "/large", 64U << 20);
  EXPECT_FALSE(ReadBoxFile(home_, "large"));
}

TEST_F(BoxFiles, AFileThatTheBoxChangedMeanwhileIsNotReplaced) {
  Write("d/f", "newer");
  const auto written = WriteBoxFile(home_, "d/f", "seen", "ours");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::kFailedPrecondition);
  EXPECT_EQ(Read("d/f"), "newer");
  ASSERT_TRUE(WriteBoxFile(home_, "d/f", "newer", "ours"));
  EXPECT_EQ(Read("d/f"), "ours");
  EXPECT_FALSE(WriteBoxFile(home_, "d/f", std::nullopt, "other")) << "one appeared";
  ASSERT_TRUE(WriteBoxFile(home_, "e/new", std::nullopt, "text"));
  EXPECT_EQ(Read("e/new"), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(home_ + "/d"), {}), 1);
}

}  // namespace
}  // namespace igloo::agent
