#include "base/remove_tree.h"
#include "service/changes/change_set.h"

#include <ctime>

#include "service/changes/base_record.h"
#include "service/changes/testing.h"

namespace igloo::service::changes {
namespace {

using testing::ChangesTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ChangeSetTest : public ChangesTest {};

TEST_F(ChangeSetTest, IsListedAndGoesWhenItIsDiscarded) {
  BeginSet();
  const auto sets = List();
  ASSERT_TRUE(sets);
  ASSERT_THAT(*sets, SizeIs(1));
  EXPECT_EQ(sets->front().name, "work");
  EXPECT_EQ(sets->front().project, project_);
  EXPECT_EQ(sets->front().state, ChangeSet::State::kReady);
  auto held = Find("work");
  ASSERT_TRUE(held);
  ASSERT_TRUE(MarkApplied(held->set));
  EXPECT_EQ(List()->empty() ? 0U : List()->size(), 1U);
  ASSERT_TRUE(Discard(*std::move(held)));
  EXPECT_THAT(*List(), IsEmpty());
  EXPECT_EQ(Find("work").error().code, Errc::kNotFound);
}

TEST_F(ChangeSetTest, IsInUseWhileItsSandboxRunsAndInterruptedIfNobodyClosedIt) {
  {
    const auto open = Begin({.name = "work", .project = project_});
    ASSERT_TRUE(open);
    EXPECT_EQ(List()->at(0).state, ChangeSet::State::kRunning);
    EXPECT_THAT(Find("work").error().what, HasSubstr("in use"));
    EXPECT_THAT(Begin({.name = "work", .project = project_}).error().what,
                HasSubstr("called 'work' already"));
    EXPECT_TRUE(Begin({.name = "other", .project = project_})) << "two on one project never meet";
  }
  EXPECT_EQ(Find("work")->set.state, ChangeSet::State::kInterrupted);
}

TEST_F(ChangeSetTest, AnotherDirectoryInTheProjectsPlaceIsRefused) {
  BeginSet();
  std::filesystem::rename(project_, directory_.path() + "/moved");
  std::filesystem::create_directory(project_);
  auto held = Find("work");
  ASSERT_TRUE(held);
  EXPECT_THAT(Contents::Open(held->set).error().what, HasSubstr("no longer at"));
  EXPECT_TRUE(Discard(*std::move(held)));
}

TEST_F(ChangeSetTest, AWorkTreeOfARepositoryThatDoesNotKnowItIsRefused) {
  Host(".git", "gitdir: /elsewhere\n");
  EXPECT_THAT(Begin({.name = "work", .project = project_}).error().what,
              HasSubstr("no repository that knows this work tree"));
  EXPECT_THAT(*List(), IsEmpty());
}

TEST_F(ChangeSetTest, StateInTheProjectIsRefused) {
  EXPECT_THAT(Begin({.name = "work", .project = directory_.path()}).error().what,
              HasSubstr("state lies in the project"));
}

TEST_F(ChangeSetTest, NamesAreWordsThatFilesAndBranchesCanHave) {
  for (const std::string& name :
       std::vector<std::string>{"", ".", "..", "a/b", "-x", ".x", "a..b", "x.lock", "x.", "a b",
                                "a\n", "ü", std::string(65, 'x')}) {
    EXPECT_FALSE(CheckName(name)) << name;
  }
  for (const std::string name : {"a", "fix-parser", "A.b_c-1"}) EXPECT_TRUE(CheckName(name));
}

TEST_F(ChangeSetTest, WhatHostileCodeMadeCanBeRemoved) {
  BeginSet();
  std::filesystem::create_directories(upper_ + "/closed/inner");
  Inside("closed/inner/file", "x");
  ASSERT_EQ(::symlink(project_.c_str(), (upper_ + "/link").c_str()), 0);
  Host("kept", "x");
  std::string deep = upper_;
  ASSERT_EQ(::chdir(upper_.c_str()), 0);
  for (int i = 0; i < 1500; ++i) {
    ASSERT_EQ(::mkdir("d", 0700), 0);
    ASSERT_EQ(::chdir("d"), 0);
  }
  ASSERT_EQ(::chdir("/"), 0);
  ASSERT_EQ(::chmod((upper_ + "/closed/inner").c_str(), 0), 0);
  ASSERT_EQ(::chmod((upper_ + "/closed").c_str(), 0), 0);
  ASSERT_TRUE(Discard(*Find("work")));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/state/igloo/changes/work"));
  EXPECT_EQ(OnHost("kept"), "x") << "links were not followed";
}

TEST_F(ChangeSetTest, TheBaseSaysWhatEveryNameWas) {
  Host("dir/file", "content");
  ASSERT_EQ(::symlink("x", (project_ + "/link").c_str()), 0);
  const auto tree = Tree::Open(project_);
  const auto base = DecodeBase(*RecordBase(*tree));
  ASSERT_TRUE(base);
  EXPECT_EQ(base->nodes().size(), 3U);
  EXPECT_EQ(*base->Find("dir/file"), *tree->Look("dir/file"));
  EXPECT_EQ(base->Find("link")->type, Type::kLink);
  EXPECT_EQ(base->Find("dir")->type, Type::kDirectory);
  EXPECT_FALSE(DecodeBase("damaged"));
}

}  // namespace
}  // namespace igloo::service::changes
