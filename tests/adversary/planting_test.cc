// A read-write project is the one place of the host that code can write to: no file there ever
// gives its starter the owner's id.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "attack_case.h"
#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"

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
  Outcome behind;
  // Before an interpreter can be restored another one was, whose project igloo looks at when it has
  // ended. That look may come before the attack's own, but not every time.
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && behind.status != kLeaked; ++i) {
    make();
    behind = AttackProject(GetParam(), scene, {"change-mapped", "{project}/before"});
    if (GetParam() != Wall::kRestored) break;
  }
  EXPECT_EQ(behind.status, kLeaked) << "the sandbox itself cannot hold this: " << behind.err;
  EXPECT_THAT(SetIdFilesIn(scene.project()), IsEmpty());
  make();
  EXPECT_EQ(AttackOnHost(scene, {"change-mapped", "{project}/before"}).status, kLeaked);
  EXPECT_EQ(SetIdFilesIn(scene.project()).size(), 1U) << "control: nobody looks";
}

INSTANTIATE_TEST_SUITE_P(Walls, SetUidBefore, EveryWall(), WallName);

/// Changes the project's file in that way, and goes on.
constexpr const char* kChangeAndStay = R"sh(python3 -c '
import mmap
with open("/project/before", "r+b") as file:
    mmap.mmap(file.fileno(), 0)[0:1] = b"c"
'
while :; do sleep 1; done
)sh";

class SetUidBeforeServed : public Configured {
 protected:
  void SetUp() override {
    Configured::SetUp();
    std::filesystem::create_directories(Path("code"));
    std::filesystem::permissions(Path("code"), std::filesystem::perms(0777));
    Write(kUsual, "[project]\npath = \"" + Path("code") + "\"\nmode = \"readwrite\"\n");
  }
  /// Has a server run that code, and ends the server with a signal when the file has changed. What
  /// the server said.
  std::string ChangeAndEnd(JsonObject arguments, int signal) const {
    std::ofstream(Path("code/before")) << std::string(4096, 'o');
    EXPECT_EQ(::chmod(Path("code/before").c_str(), 04777), 0);
    McpClient client({.args = {"mcp"}, .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
    client.Initialize();
    arguments["env"] = "shell";
    client.Send("tools/call", {{"name", "run_connected"}, {"arguments", std::move(arguments)}});
    EXPECT_TRUE(WaitFor([&] { return Read("code/before").starts_with('c'); }));
    client.running().Signal(signal);
    return client.running().Finish().err;
  }
};

/// Whoever ends the server while code runs must not thereby end the look at what it did.
TEST_F(SetUidBeforeServed, IsNoLongerWhenTheServerWasEnded) {
  // A run takes an interpreter that waits, unless its code cannot go over the driver's channel.
  const std::string as_file = kChangeAndStay + std::string("# \0", 3);
  for (const JsonObject& way :
       std::vector<JsonObject>{{{"code", as_file}},
                               {{"code", kChangeAndStay}},
                               {{"code", kChangeAndStay}, {"session", "s"}}}) {
    const std::string said = ChangeAndEnd(way, SIGTERM);
    EXPECT_THAT(SetIdFilesIn(Path("code")), IsEmpty()) << said;
    EXPECT_THAT(said, ::testing::HasSubstr("was set-uid or set-gid and changed during the run"));
  }
  ChangeAndEnd({{"code", as_file}}, SIGKILL);
  EXPECT_EQ(SetIdFilesIn(Path("code")).size(), 1U) << "control: nobody looks";
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<std::string, Wall>>& info) {
  std::string name = std::get<0>(info.param) + "_" + Name(std::get<1>(info.param));
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Walls, Planting,
                         ::testing::Combine(::testing::ValuesIn(prove::PlantingWays()),
                                            EveryWall()),
                         NameOf);

}  // namespace
}  // namespace igloo::testing
