#include "agent/leftovers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <algorithm>

#include "agent/state/projects.h"
#include "agent/state/testing.h"
#include "base/private_directory.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Leftovers : public StateTest {
 protected:
  /// A history with a conversation of a project that may be there or not.
  std::string History(const std::string& project) const {
    const std::string place = store_.directory + "/histories/claude";
    fs::create_directories(place);
    std::string directory = OpenProjectHistory(place, project).value();
    std::ofstream(directory + "/conversation") << std::string(1000, 'x');
    return directory;
  }
  std::vector<Leftover> Collect(agent::Collect how) const {
    const auto all = CollectHistories(store_, how);
    EXPECT_TRUE(all) << all.error().what;
    return all.value_or(std::vector<Leftover>());
  }
};

TEST_F(Leftovers, HistoriesOfProjectsThatAreGoneAreRemovedAndNoOthers) {
  fs::create_directories(home_ + "/there");
  const std::string gone = History(home_ + "/gone"), there = History(home_ + "/there");
  const auto shown = Collect(Collect::kShow);
  ASSERT_THAT(shown, SizeIs(1));
  EXPECT_EQ(shown[0].what, home_ + "/gone");
  EXPECT_GE(shown[0].bytes, 1000U);
  EXPECT_FALSE(shown[0].kept);
  EXPECT_TRUE(fs::exists(gone)) << "showing removes nothing";
  ASSERT_THAT(Collect(Collect::kRemove), SizeIs(1));
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(there + "/conversation"));
  EXPECT_THAT(Collect(Collect::kRemove), IsEmpty());
}

TEST_F(Leftovers, AHistoryThatABoxUsesStays) {
  fs::create_directories(home_ + "/there");
  const std::string history = History(home_ + "/gone");
  const UniqueFd box(::open(history.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(box.get(), LOCK_SH), 0);
  const auto all = Collect(Collect::kRemove);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(all[0].kept);
  EXPECT_THAT(all[0].why, HasSubstr("a box uses it"));
  EXPECT_TRUE(fs::exists(history + "/conversation"));
}

TEST_F(Leftovers, AHistoryStaysWhoseDiskMayOnlyNotBeMounted) {
  fs::create_directories(home_ + "/mount-point");
  const std::string history = History(home_ + "/mount-point/projects/one");
  const auto all = Collect(Collect::kRemove);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(all[0].kept);
  EXPECT_THAT(all[0].why, HasSubstr("may only not be mounted"));
  EXPECT_TRUE(fs::exists(history + "/conversation"));
  EXPECT_NE(MayComeBack("/media/ann/disk/project"), "");
}

TEST_F(Leftovers, GrantsOfDeadBoxesAreRemovedAndThoseOfLivingOnesStay) {
  const std::string place = temp_->path() + "/grants";
  for (const char* each : {"/dead", "/alive"}) fs::create_directories(place + each);
  const auto lock = LockPrivateFile(place + "/alive/lock");
  ASSERT_TRUE(lock);
  const auto all = CollectGrants(place, Collect::kRemove);
  ASSERT_TRUE(all);
  EXPECT_THAT(*all, SizeIs(1));
  EXPECT_FALSE(fs::exists(place + "/dead"));
  EXPECT_TRUE(fs::exists(place + "/alive"));
}

}  // namespace
}  // namespace igloo::agent
