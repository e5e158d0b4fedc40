// A read-write project is the one place of the host that code can write to: no file there ever
// gives its starter the owner's id.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "attack_case.h"

namespace igloo::testing {
namespace {

using ::testing::IsEmpty;

/// As the configuration's mode = "readwrite" does.
void ShowReadWrite(sandbox::Policy& policy, const Scene& scene, Wall wall) {
  for (auto* entries : {&policy.environment, &policy.run}) {
    for (sandbox::Entry& entry : *entries) {
      const auto* tree = std::get_if<sandbox::HostTree>(&entry);
      const auto* view = std::get_if<sandbox::OverlayTree>(&entry);
      const bool project = (tree != nullptr && tree->source == scene.project()) ||
                           (view != nullptr && view->source == scene.project());
      if (!project) continue;
      // igloo refuses this to root behind bubblewrap; the attack needs no more than the directory.
      entry = sandbox::HostTree{.source = scene.project(),
                                .target = "/project",
                                .access = sandbox::Access::kReadWrite,
                                .map_owner = wall != Wall::kBubblewrap};
    }
  }
}

Outcome AttackProject(Wall wall, const Scene& scene, std::vector<std::string> words) {
  return AttackBehind(wall, scene, std::move(words),
                      [&](sandbox::Policy& policy) { ShowReadWrite(policy, scene, wall); });
}

std::vector<std::string> SetIdFilesIn(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    struct stat info{};
    if (::lstat(entry.path().c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        (info.st_mode & (S_ISUID | S_ISGID)) != 0) {
      found.push_back(entry.path());
    }
  }
  return found;
}

std::vector<std::string> Ways() {
  std::vector<std::string> ways = {"chmod", "fchmod", "fchmodat", "fchmodat2",
                                   "open",  "openat", "openat2",  "tmpfile",
                                   "creat", "mknod",  "mknodat"};
#ifdef __x86_64__
  ways.insert(ways.end(), {"chmod-32", "open-32"});
#endif
  return ways;
}

class Planting : public ::testing::TestWithParam<std::tuple<std::string, Wall>> {};

TEST_P(Planting, LeavesNoSetIdFileOnTheHost) {
  const auto& [way, wall] = GetParam();
  const Scene scene;
  for (const char* mode : {"04755", "02755", "06711"}) {
    const Outcome behind =
        AttackProject(wall, scene, {"plant-set-id", way, "{project}/planted", mode});
    EXPECT_EQ(behind.status, kHeld) << mode << " " << behind.err;
    EXPECT_THAT(SetIdFilesIn(scene.project()), IsEmpty());
    ::unlink((scene.project() + "/planted").c_str());
  }
  // An older kernel has no fchmodat2.
  const bool missing = way == "fchmodat2" && ::syscall(452, -1, "", 0, 0) != 0 && errno == ENOSYS;
  const Outcome control = AttackOnHost(
      scene, {"plant-set-id", missing ? "fchmodat" : way, "{project}/planted", "04755"});
  EXPECT_EQ(control.status, kLeaked) << "control: " << control.err;
  EXPECT_EQ(SetIdFilesIn(scene.project()).size(), 1U);
}

class SetUidBefore : public ::testing::TestWithParam<Wall> {};

/// Mapped memory changes a file without the kernel taking the bit away, and no filter can see it:
/// igloo looks after the run.
TEST_P(SetUidBefore, IsNoLongerWhenTheContentIsTheCodes) {
  const Scene scene;
  const std::string path = scene.project() + "/before";
  const auto make = [&] {
    std::ofstream(path) << std::string(4096, 'o');
    ASSERT_EQ(::chmod(path.c_str(), 04777), 0);
  };
  make();
  const Outcome behind = AttackProject(GetParam(), scene, {"change-mapped", "{project}/before"});
  EXPECT_EQ(behind.status, kLeaked) << "the sandbox itself cannot hold this: " << behind.err;
  EXPECT_THAT(SetIdFilesIn(scene.project()), IsEmpty());
  make();
  EXPECT_EQ(AttackOnHost(scene, {"change-mapped", "{project}/before"}).status, kLeaked);
  EXPECT_EQ(SetIdFilesIn(scene.project()).size(), 1U) << "control: nobody looks";
}

INSTANTIATE_TEST_SUITE_P(Walls, SetUidBefore, EveryWall(), WallName);

std::string NameOf(const ::testing::TestParamInfo<std::tuple<std::string, Wall>>& info) {
  std::string name = std::get<0>(info.param) + "_" + Name(std::get<1>(info.param));
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Walls, Planting,
                         ::testing::Combine(::testing::ValuesIn(Ways()), EveryWall()), NameOf);

}  // namespace
}  // namespace igloo::testing
