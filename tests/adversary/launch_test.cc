// P12: launching on a hostile project changes nothing on the host and runs nothing of it outside.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "attack_case.h"
#include "base/file.h"
#include "environment/facts.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;

/// Every name below `root` with what can change about it.
std::map<std::string, std::string> Snapshot(const std::string& root) {
  std::map<std::string, std::string> snapshot;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat info{};
    if (::lstat(entry.path().c_str(), &info) != 0) continue;
    std::string state = std::to_string(info.st_mode) + ' ' + std::to_string(info.st_uid) + ' ' +
                        std::to_string(info.st_nlink) + ' ' + std::to_string(info.st_size) + ' ' +
                        std::to_string(info.st_mtim.tv_sec) + '.' +
                        std::to_string(info.st_mtim.tv_nsec);
    if (S_ISLNK(info.st_mode)) state += " -> " + fs::read_symlink(entry.path()).string();
    snapshot[entry.path()] = std::move(state);
  }
  return snapshot;
}

/// Names that a launcher might trip over, run or follow.
void MakeHostile(const Scene& scene) {
  const fs::path project = scene.project();
  const fs::path outside = scene.path() + "/outside";
  fs::create_directory(outside);
  for (const char* name : {"workspace", "tmp", "dev", "proc", ".igloo", "run", ".git", ".envrc",
                           ".claude", "usr", "etc"}) {
    fs::create_symlink(outside, project / name);
  }
  // What bwrap's half-built root would resolve to the host's.
  fs::create_symlink("/oldroot" + outside.string(), project / "oldroot");
  fs::create_symlink("loop", project / "loop");
  fs::create_symlink("/proc/self/fd/3", project / "magic");
  for (const char* name : {"--bind", "-rf", "two\nlines", "\x1b[2J", " ", "$(touch pwned)", "*"}) {
    std::ofstream(project / name) << "x";
  }
  ::mkfifo((project / "flake.nix").c_str(), 0666);
  ::mkfifo((project / "igloo.toml").c_str(), 0666);
  fs::path deep = project;
  for (int i = 0; i < 100; ++i) deep /= "d";
  fs::create_directories(deep);
  // A program of the project's that would tell if anybody ran it.
  std::ofstream(project / "sh") << "#!/bin/sh\ntouch " << scene.path() << "/pwned\n";
  fs::permissions(project / "sh", fs::perms::all);
}

class Project : public ::testing::TestWithParam<Wall> {};

TEST_P(Project, HostileTreeLeavesTheHostAsItWas) {
  const Scene scene;
  MakeHostile(scene);
  const auto before = Snapshot(scene.path());
  const Outcome behind = AttackBehind(GetParam(), scene, {"write-file", "{project}/new"});
  EXPECT_EQ(behind.status, kHeld) << behind.err;
  EXPECT_EQ(Snapshot(scene.path()), before);

  EXPECT_EQ(AttackOnHost(scene, {"write-file", "{project}/new"}).status, kLeaked);
  EXPECT_NE(Snapshot(scene.path()), before) << "control: a change must be seen";
}

/// bwrap makes the mount points that it lacks, through links, on the host.
TEST_P(Project, Cve2026_87766_LinkDoesNotCreateFilesOnTheHost) {
  const Scene scene;
  MakeHostile(scene);
  const std::string outside = scene.path() + "/outside";
  for (const char* name : {"workspace", "oldroot"}) {
    // What is mounted below the project must be refused, or find its place without the link.
    const auto mount_below = [&](sandbox::Policy& policy) {
      policy.run.emplace_back(sandbox::MemoryTree{
          .target = std::string("/project/") + name + "/made", .capacity = {.bytes = 1 << 20}});
    };
    const Outcome behind =
        AttackBehind(GetParam(), scene, {"read-secret", "{secret}"}, mount_below);
    EXPECT_EQ(behind.status, -1) << "igloo mounted something through a link of the project";
    EXPECT_TRUE(fs::is_empty(outside));
  }
  // Control: a launcher that makes its mount point by path.
  fs::create_directory(scene.project() + "/workspace/made");
  EXPECT_FALSE(fs::is_empty(outside)) << "control: the link must lead outside";
}

TEST(ProjectOfTheJail, Cve2021_30465_ExchangedForALinkIsRefused) {
  const Scene scene;
  const sandbox::Policy policy =
      PolicyFor(Wall::kJail, scene, {"/project/igloo-attack", "read-secret", "/project/secret"});
  const auto plan =
      sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy))).value();
  fs::rename(scene.project(), scene.path() + "/aside");
  fs::create_symlink(scene.path(), scene.project());
  fs::copy_file(scene.path() + "/aside/igloo-attack", scene.path() + "/igloo-attack");
  const Outcome behind = RunPlan(Wall::kJail, plan);
  EXPECT_EQ(behind.status, -1) << "the launcher mounted what it was not shown";

  const auto facts = environment::GatherFacts(sandbox::SourcesOf(policy));
  const auto late = sandbox::MakePlan(policy, facts);
  ASSERT_FALSE(late) << "planned after the exchange, the link is seen";
  EXPECT_NE(late.error().what.find("put a link into the path"), std::string::npos);

  sandbox::Policy following = policy;
  for (sandbox::Entry& entry : following.run) {
    if (auto* tree = std::get_if<sandbox::OverlayTree>(&entry)) {
      tree->links = sandbox::Links::kFollowed;
    } else if (auto* bind = std::get_if<sandbox::HostTree>(&entry)) {
      bind->links = sandbox::Links::kFollowed;
    }
  }
  EXPECT_EQ(RunPlan(Wall::kJail, sandbox::MakePlan(following, facts).value()).status, kLeaked)
      << "control: where links are followed, this one is";
}

/// The project copy-on-write: what only the jail can do.
void ShowCopy(sandbox::Policy& policy) {
  for (sandbox::Entry& entry : policy.run) {
    auto* tree = std::get_if<sandbox::OverlayTree>(&entry);
    if (tree == nullptr || tree->target != "/project") continue;
    tree->access = sandbox::Access::kReadWrite;
    tree->capacity = {.bytes = 64U << 20, .inodes = 4096};
    return;
  }
}

TEST(ProjectOfTheJail, CopyTakesTheChangesAndTheHostNone) {
  const Scene scene;
  MakeHostile(scene);
  const auto before = Snapshot(scene.path());
  for (const std::vector<std::string>& attack : std::vector<std::vector<std::string>>{
           {"write-file", "{project}/file"}, {"write-file", "{project}/new"}}) {
    const Outcome behind = AttackBehind(Wall::kJail, scene, attack, ShowCopy);
    EXPECT_EQ(behind.status, kLeaked) << "control: the copy must take changes: " << behind.err;
    EXPECT_EQ(Snapshot(scene.path()), before) << attack[1];
  }
}

/// Pipes and sockets in the copy are not the host's, whoever waits at the other end of those.
TEST(ProjectOfTheJail, CopyDoesNotLeadToProgramsOfTheHost) {
  const Scene scene;
  for (const std::vector<std::string>& attack : std::vector<std::vector<std::string>>{
           {"write-fifo", "{project}/fifo"}, {"connect-path", "{project}/socket"}}) {
    const Outcome behind = AttackBehind(Wall::kJail, scene, attack, ShowCopy);
    EXPECT_EQ(behind.status, kHeld) << attack[0] << ": " << behind.err;
    EXPECT_EQ(AttackOnHost(scene, attack).status, kLeaked) << "control";
  }
}

class ProjectOfTheProgram : public Project {};

TEST_P(ProjectOfTheProgram, RunsNothingOutside) {
  const Scene scene;
  MakeHostile(scene);
  fs::current_path(scene.project());
  const Outcome run = RunProgram({.program = BinDirectory() + "/igloo",
                                  .args = IglooArguments(GetParam(), scene, {"find-variable"}),
                                  .env = {"PATH=.:" + scene.project() + ":/usr/bin"}});
  EXPECT_EQ(run.status, kHeld) << run.err;
  EXPECT_FALSE(fs::exists(scene.path() + "/pwned")) << "igloo ran a program of the project";
  EXPECT_EQ(RunProgram({.program = scene.project() + "/sh"}).status, 0);
  EXPECT_TRUE(fs::exists(scene.path() + "/pwned")) << "control: the program must tell";
}

/// A link named as the project would show another directory than the one that was looked at.
TEST(ProjectArgument, Cve2026_25724_LinkIsRefused) {
  const Scene scene;
  fs::create_symlink(scene.path(), scene.path() + "/linked");
  const Outcome run = Igloo({"run", "--env", "shell", "--project", scene.path() + "/linked",
                             "cat /project/secret && exit 42; exit 7"});
  EXPECT_EQ(run.status, 125) << run.out;
  EXPECT_EQ(Igloo({"run", "--env", "shell", "--project", scene.path(),
                   "cat /project/secret && exit 42; exit 7"})
                .status,
            kLeaked)
      << "control: named by itself, it is shown";
}

/// A project's script whose interpreter is whoever starts it: here that would be igloo-init.
TEST_P(Project, Cve2019_5736_ScriptCannotBecomeInit) {
  const Scene scene;
  const std::string init = BinDirectory() + "/igloo-init";
  const auto before = ReadFile(init, 64U << 20).value();
  std::ofstream(scene.project() + "/script") << "#!/proc/self/exe\nexit 42\n";
  fs::permissions(scene.project() + "/script", fs::perms::all);
  const Outcome behind = AttackBehind(
      GetParam(), scene, {}, [](sandbox::Policy& policy) { policy.argv = {"/project/script"}; });
  // The jail's cannot be opened; bubblewrap's, as a payload, finds no orders and ends; whoever
  // was restored is Python, to which the script is none.
  const int expected = GetParam() == Wall::kBubblewrap ? 0 : GetParam() == Wall::kRestored ? 1 : -1;
  EXPECT_EQ(behind.status, expected) << behind.err;
  EXPECT_EQ(ReadFile(init, 64U << 20).value(), before);
  EXPECT_EQ(RunProgram({.program = "/bin/sh", .args = {"-c", "project/script"}}).status, kLeaked)
      << "control: a shell that starts it becomes its interpreter";
}

INSTANTIATE_TEST_SUITE_P(Walls, ProjectOfTheProgram, EveryBackend(), WallName);
INSTANTIATE_TEST_SUITE_P(Walls, Project, EveryWall(), WallName);

}  // namespace
}  // namespace igloo::testing
