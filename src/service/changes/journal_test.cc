#include "service/changes/journal.h"

#include <signal.h>
#include <sys/wait.h>

#include <map>

#include "service/changes/testing.h"

namespace igloo::service::changes {
namespace {

using testing::ChangesTest;
using ::testing::ElementsAre;

class ApplyJournalTest : public ChangesTest {
 protected:
  void MakeChanges() {
    Host("changed", "old");
    Host("deleted", "to be deleted");
    Host("dir/inner", "also to be deleted");
    BeginSet();
    Inside("changed", "new");
    Inside("added/file", "new");
    Whiteout("deleted");
    Whiteout("dir");
    ASSERT_EQ(::symlink("target", (upper_ + "/link").c_str()), 0);
  }

  std::map<std::string, std::string> Tree() const {
    std::map<std::string, std::string> tree;
    for (const auto& each : std::filesystem::recursive_directory_iterator(project_)) {
      const std::string path = each.path().string().substr(project_.size() + 1);
      tree[path] = each.is_symlink()     ? "-> " + std::filesystem::read_symlink(each).string()
                   : each.is_directory() ? "/"
                                         : OnHost(path);
    }
    return tree;
  }

  /// An igloo that applies everything and is killed at the step of this number. False: it had
  /// fewer.
  bool KilledAt(int step) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const Contents contents = Open();
      int steps = 0;
      (void)Apply(contents, Read(contents), {}, [&](std::string_view) {
        if (steps++ == step) ::kill(::getpid(), SIGKILL);
      });
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
  }

  std::string Journal() const { return directory_.path() + "/state/igloo/changes/work/journal"; }
};

TEST_F(ApplyJournalTest, AKillAtAnyStepLeavesAllOldOrAllNewAfterRecovery) {
  MakeChanges();
  const auto before = Tree();
  const std::map<std::string, std::string> after = {
      {"changed", "new"}, {"added", "/"}, {"added/file", "new"}, {"link", "-> target"}};
  int step = 0, undone = 0, finished = 0;
  while (KilledAt(step)) {
    ASSERT_TRUE(List()) << "whatever igloo does next recovers first";
    EXPECT_FALSE(std::filesystem::exists(Journal()));
    const auto now = Tree();
    if (now == before) {
      ++undone;
    } else {
      ASSERT_EQ(now, after) << "killed at step " << step;
      ++finished;
      // Again from the beginning.
      std::filesystem::remove_all(project_);
      std::filesystem::create_directory(project_);
      std::filesystem::remove_all(directory_.path() + "/state");
      MakeChanges();
    }
    ++step;
  }
  EXPECT_GE(undone, 5) << "those before the first name changes places";
  EXPECT_GE(finished, 10) << "those after it";
}

/// Between the look and the exchange: the control is that the exchange happens at all.
TEST_F(ApplyJournalTest, AFileThatIsSavedInTheMeantimeComesBack) {
  for (const std::string path : {"changed", "deleted"}) {
    std::filesystem::remove_all(project_);
    std::filesystem::create_directory(project_);
    std::filesystem::remove_all(directory_.path() + "/state");
    MakeChanges();
    const Contents contents = Open();
    bool saved = false, moved = false;
    const auto outcome = Apply(contents, Read(contents), {}, [&](std::string_view step) {
      moved = moved || step == "exchanged" || step == "removed";
      if (step != "move" || saved) return;
      saved = true;
      Host(path, "the host's own, saved just now");
    });
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(moved);
    EXPECT_THAT(outcome->conflicts,
                ElementsAre(Remark{path, "somebody changed it while the changes were applied"}));
    EXPECT_EQ(OnHost(path), "the host's own, saved just now");
  }
}

TEST_F(ApplyJournalTest, NothingChangesIfThereIsNoRoomForWhatIsNew) {
  MakeChanges();
  const auto before = Tree();
  const pid_t child = ::fork();
  if (child == 0) {
    const Contents contents = Open();
    const ChangeList list = Read(contents);
    // Files of more than two bytes cannot be written from here on, and the journal could.
    const auto outcome = Apply(contents, list, {}, [&](std::string_view step) {
      if (step == "write aside") std::filesystem::remove(upper_ + "/added/file");
    });
    ::_exit(outcome ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "it has to fail";
  EXPECT_EQ(Tree(), before);
  EXPECT_FALSE(std::filesystem::exists(Journal()));
}

}  // namespace
}  // namespace igloo::service::changes
