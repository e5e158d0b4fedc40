#include "agent/state/conversations.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "agent/state/projects.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;

class ConversationsOfAProject : public ::testing::Test {
 protected:
  ConversationsOfAProject() { fs::create_directories(home_); }

  Conversations Open() { return *Conversations::Open(home_, kProject, state_); }
  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::string Read(const std::string& path) const {
    return ReadFile(path, 1000).value_or("cannot be read");
  }
  std::string Own() const { return home_ + "/.claude/projects/" + ClaudeProjectName(kProject); }

  static constexpr const char* kProject = "/home/ann/my.project";
  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string home_ = temp_.path() + "/home", state_ = temp_.path() + "/state/waiting";
};

TEST_F(ConversationsOfAProject, AreTheUsersOwnWhereTheUserHasThem) {
  Write(Own() + "/a.jsonl", "a");
  Conversations open = Open();
  EXPECT_EQ(open.path(), ".claude/projects/-home-ann-my-project");
  EXPECT_EQ(open.source(), Own());
  ASSERT_TRUE(open.Publish());
  EXPECT_EQ(Read(Own() + "/a.jsonl"), "a");
}

TEST_F(ConversationsOfAProject, ABoxThatLeavesNothingMakesNothing) {
  Conversations open = Open();
  EXPECT_NE(open.source(), Own());
  ASSERT_TRUE(open.Publish());
  EXPECT_FALSE(fs::exists(home_ + "/.claude"));
  EXPECT_FALSE(fs::exists(open.source()));
}

TEST_F(ConversationsOfAProject, WhatABoxLeavesBecomesTheUsers) {
  Conversations open = Open();
  Write(open.source() + "/b.jsonl", "b");
  ASSERT_TRUE(open.Publish());
  EXPECT_EQ(Read(Own() + "/b.jsonl"), "b");
  EXPECT_EQ(Open().source(), Own());
}

TEST_F(ConversationsOfAProject, WhatAKilledBoxLeftBecomesTheUsersAtTheNextStart) {
  {
    const Conversations killed = Open();
    Write(killed.source() + "/c.jsonl", "c");
  }
  EXPECT_FALSE(fs::exists(Own()));
  EXPECT_EQ(Open().source(), Own());
  EXPECT_EQ(Read(Own() + "/c.jsonl"), "c");
}

TEST_F(ConversationsOfAProject, OfTwoBoxesTheLastOnePublishes) {
  Conversations first = Open(), second = Open();
  EXPECT_EQ(first.source(), second.source());
  Write(first.source() + "/1.jsonl", "1");
  ASSERT_TRUE(first.Publish());
  EXPECT_FALSE(fs::exists(Own()));
  Write(second.source() + "/2.jsonl", "2");
  ASSERT_TRUE(second.Publish());
  EXPECT_EQ(Read(Own() + "/1.jsonl") + Read(Own() + "/2.jsonl"), "12");
}

TEST_F(ConversationsOfAProject, NothingOfTheUsersIsWrittenOver) {
  Conversations open = Open();
  Write(open.source() + "/same.jsonl", "of the box");
  Write(Own() + "/same.jsonl", "of the user");
  ASSERT_TRUE(open.Publish());
  EXPECT_EQ(Read(Own() + "/same.jsonl"), "of the user");
  EXPECT_EQ(Read(open.source() + "/same.jsonl"), "of the box") << "and nothing is lost";
}

}  // namespace
}  // namespace igloo::agent
