#include "cgroup/freezer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::cgroup {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FindFreezerTest : public ::testing::Test {
 protected:
  void Put(const std::string& path) const {
    fs::create_directories(fs::path(root() + path).parent_path());
    std::ofstream(root() + path) << "";
  }
  const std::string& root() const { return temp_.path(); }
  TempDir temp_ = *TempDir::Make(::testing::TempDir());
};

TEST_F(FindFreezerTest, OfVersionTwoIsTheLeafItself) {
  EXPECT_EQ(FindFreezer({.kind = Kind::kV2, .place = "/x"}, root()).kind,
            FreezerPlace::Kind::kLeaf);
}

TEST_F(FindFreezerTest, BesideVersionOneATreeOfVersionTwoIsPreferred) {
  const Found found{.kind = Kind::kV1, .place = "/x"};
  EXPECT_EQ(FindFreezer(found, root()).kind, FreezerPlace::Kind::kNone);
  EXPECT_THAT(FindFreezer(found, root()).why, HasSubstr("no freezer"));
  Put("/freezer/cgroup.procs");
  EXPECT_EQ(FindFreezer(found, root()).kind, FreezerPlace::Kind::kV1);
  EXPECT_EQ(FindFreezer(found, root()).place, root() + "/freezer/igloo");
  Put("/unified/cgroup.procs");
  EXPECT_EQ(FindFreezer(found, root()).kind, FreezerPlace::Kind::kV2);
  EXPECT_EQ(fs::status(root() + "/unified/igloo").permissions(), fs::perms(0700));
}

TEST_F(FindFreezerTest, WithoutCgroupsItSaysWhy) {
  const FreezerPlace place = FindFreezer({.why = "nobody counts here"}, root());
  EXPECT_EQ(place.kind, FreezerPlace::Kind::kNone);
  EXPECT_EQ(place.why, "nobody counts here");
}

/// A process that counts, in a leaf of this machine's cgroups.
class Counter {
 public:
  explicit Counter(const Leaf& leaf)
      : count_(static_cast<std::atomic<std::uint64_t>*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const UniqueFd procs(::openat(leaf.directory(), "cgroup.procs", O_WRONLY));
    if (::write(procs.get(), "0", 1) != 1) ::_exit(1);
    for (;;) ++*count_;
  }
  ~Counter() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(count_, 4096);
  }
  std::uint64_t count() const { return *count_; }
  /// Whether it counts on; waits for it as long as it takes, up to half a minute.
  bool GoesOn() const {
    const std::uint64_t before = count();
    for (int i = 0; i < 3000 && count() == before; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return count() != before;
  }
  pid_t pid() const { return pid_; }

 private:
  std::atomic<std::uint64_t>* count_;
  pid_t pid_ = -1;
};

/// What this machine's user can try; on version 1 both trees.
std::vector<FreezerPlace> Places(const Found& found) {
  std::vector<FreezerPlace> places = {FindFreezer(found)};
  const std::string old = "/sys/fs/cgroup/freezer";
  if (found.kind == Kind::kV1 && fs::exists(old + "/cgroup.procs")) {
    fs::create_directories(old + "/igloo");
    places.push_back({.kind = FreezerPlace::Kind::kV1, .place = old + "/igloo"});
  }
  return places;
}

TEST(Freezer, StopsEverythingAndLetsItGoOn) {
  const Found found = Find();
  for (const FreezerPlace& place : Places(found)) {
    if (found.kind == Kind::kNone) {
      EXPECT_FALSE(place.why.empty()) << "nothing can be stopped here, and that is said";
      continue;
    }
    SCOPED_TRACE(place.place);
    Groups groups(found);
    const auto lease = groups.Take({.memory_bytes = 1U << 30});
    ASSERT_TRUE(lease) << lease.error().what;
    {
      const Counter counter(lease->leaf());
      EXPECT_TRUE(counter.GoesOn()) << "control";
      auto freezer = Freezer::Make(place, lease->leaf());
      ASSERT_TRUE(freezer) << freezer.error().what;
      for (int round = 0; round < 3; ++round) {
        const auto frozen = freezer->Freeze();
        ASSERT_TRUE(frozen) << frozen.error().what;
        EXPECT_TRUE(freezer->Freeze()) << "twice is fine";
        const std::uint64_t count = counter.count();
        // So long another process runs.
        EXPECT_EQ(std::system("/bin/true"), 0);
        EXPECT_EQ(counter.count(), count);
        ASSERT_TRUE(freezer->Thaw());
        EXPECT_TRUE(counter.GoesOn());
      }
      ASSERT_TRUE(freezer->Freeze());
    }  // it is killed, and the freezer lets it end
    EXPECT_TRUE(lease->leaf().IsEmpty());
  }
}

TEST(Freezer, NothingStandsForEverWhenIglooIsKilled) {
  const Found found = Find();
  for (const FreezerPlace& place : Places(found)) {
    if (found.kind == Kind::kNone) {
      EXPECT_FALSE(place.why.empty()) << "nothing can be stopped here, and that is said";
      continue;
    }
    SCOPED_TRACE(place.place);
    auto pipe = MakePipe();
    const pid_t igloo = ::fork();
    if (igloo == 0) {
      Groups groups(found);
      const auto lease = groups.Take({.memory_bytes = 1U << 30});
      const Counter counter(lease->leaf());
      auto freezer = Freezer::Make(place, lease->leaf());
      const pid_t pid = counter.GoesOn() && freezer->Freeze() ? counter.pid() : -1;
      (void)!::write(pipe->second.get(), &pid, sizeof pid);
      for (;;) ::pause();
    }
    pid_t pid = -1;
    ASSERT_EQ(::read(pipe->first.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    ASSERT_GT(pid, 0);
    EXPECT_EQ(::kill(pid, 0), 0) << "control: it is there";
    ::kill(igloo, SIGKILL);
    ::waitpid(igloo, nullptr, 0);
    // Its parent's death is its own (PDEATHSIG), as it is that of a sandbox; it must come.
    for (int i = 0; i < 3000 && ::kill(pid, 0) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_NE(::kill(pid, 0), 0);
  }
}

}  // namespace
}  // namespace igloo::cgroup
