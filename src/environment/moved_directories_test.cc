#include "environment/moved_directories.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/temp_dir.h"

namespace igloo::environment {
namespace {

namespace fs = std::filesystem;

class MovedDirectoriesTest : public ::testing::Test {
 protected:
  MovedDirectoriesTest() {
    for (const char* each : {"a", "b/u/inner", "c"}) fs::create_directories(Path(each));
    moved_.emplace(root_.get(), MovedDirectories::NextTick());
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  void Make(const std::string& name) const { fs::create_directories(Path(name)); }
  void Move(const std::string& from, const std::string& to) const {
    fs::rename(Path(from), Path(to));
  }
  struct stat InfoOf(const std::string& path) const {
    struct stat info{};
    EXPECT_EQ(::stat(Path(path).c_str(), &info), 0) << path;
    return info;
  }
  void Enter(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) moved_->Entered(path, InfoOf(path));
  }
  void EnterAll() { Enter({"", "a", "b", "b/u", "b/u/inner", "c"}); }

  TempDir directory_ = TempDir::Make("/tmp").value();
  UniqueFd root_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::optional<MovedDirectories> moved_;
};

TEST_F(MovedDirectoriesTest, WhereNothingMovesAllWasSeen) {
  EnterAll();
  EXPECT_TRUE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, ADirectoryThatMovesPastTheLookIsNoticed) {
  Enter({"", "a"});
  Move("b/u", "a/u");
  Enter({"b", "c"});
  EXPECT_FALSE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, SoIsOneThatMovesOnWhileTheTimesAreCompared) {
  Enter({"", "a"});
  Move("b/u", "a/u");
  Enter({"b", "c"});
  int round = 0;
  const std::vector<std::string> places = {"a/u", "c/u", "b/u", "u"};
  moved_->on_compared = [&] {
    Move(places[static_cast<std::size_t>(round) % 4],
         places[static_cast<std::size_t>(round + 1) % 4]);
    ++round;
  };
  EXPECT_FALSE(moved_->AllSeen());
  EXPECT_GE(round, 1);
}

TEST_F(MovedDirectoriesTest, SoIsOneThatMovesIntoANewDirectory) {
  Enter({"", "a"});
  Move("b/u", "a/u");
  Enter({"b", "c"});
  moved_->on_compared = [&] {
    if (fs::exists(Path("a/u"))) {
      Make("c/new/deep");
      Move("a/u", "c/new/deep/u");
    }
  };
  EXPECT_FALSE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, SoIsOneThatMovesIntoOneThatWasEnteredAndMoves) {
  Enter({"", "a", "c"});
  Move("b/u", "a/u");
  Enter({"b"});
  Move("a", "c/a");
  moved_->on_compared = [&] {
    if (fs::exists(Path("c/a"))) Move("c/a", "b/a");
  };
  EXPECT_FALSE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, WhatWasEnteredMayMove) {
  EnterAll();
  Move("b/u", "c/v");
  EXPECT_TRUE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, ADirectoryThatMovesIntoOneThatIsAwayForAMomentIsNoticed) {
  Make("a/inner");
  moved_.emplace(root_.get(), MovedDirectories::NextTick());
  Enter({"", "a", "a/inner", "b", "c"});
  moved_->Passed("b/u", InfoOf("b/u"));
  int round = 0;
  moved_->on_compared = [&] {
    if (round++ > 0) return;
    Move("a", "c/a");
    Move("b/u", "c/a/inner/u");
    Move("c/a", "a");
  };
  EXPECT_FALSE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, WhatMovesToAndFroWasSeenWhereItIs) {
  EnterAll();
  Move("b/u", "b/v");
  Move("b/v", "b/u");
  EXPECT_TRUE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, NewAndRemovedDirectoriesAreNoReasonToLookAgain) {
  EnterAll();
  Make("a/new/deep");
  fs::remove_all(Path("b"));
  int round = 0;
  moved_->on_compared = [&] {
    const std::string name = "c/round" + std::to_string(round);
    if (++round > 3) return;
    Make(name + "/deep");
    Move(name, name + "-renamed");
    Make("a/new/more");
    fs::remove_all(Path("a/new"));
  };
  EXPECT_TRUE(moved_->AllSeen());
  EXPECT_GE(round, 2) << "what changed is compared again";
}

TEST_F(MovedDirectoriesTest, AnotherOldDirectoryInThePlaceOfOneIsNoticed) {
  Enter({"", "a"});
  Move("b/u", "a");
  Enter({"b", "c"});
  EXPECT_FALSE(moved_->AllSeen());
}

TEST_F(MovedDirectoriesTest, WhatIsInADirectoryThatWasPassedDoesNotMatter) {
  Enter({"", "a", "c"});
  moved_->Passed("b", InfoOf("b"));
  Make("b/u/more");
  Move("b/u", "b/v");
  EXPECT_TRUE(moved_->AllSeen());
  Move("b/v", "a/v");
  MovedDirectories again(root_.get(), MovedDirectories::NextTick());
  for (const char* path : {"", "a", "c"}) again.Entered(path, InfoOf(path));
  again.Passed("b", InfoOf("b"));
  EXPECT_FALSE(again.AllSeen()) << "it was not entered";
}

}  // namespace
}  // namespace igloo::environment
