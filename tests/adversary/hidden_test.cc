// Secrets in projects, attacked from inside: by every path, by other names of the same file, and by
// moving what lies around them. The control of each attack is the same plan without anything
// hidden.

#include "environment/hidden.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "environment/run_policy.h"
#include "support/igloo.h"
#include "support/sandbox.h"
#include "walls.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using environment::ProjectMode;
using ::testing::AllOf;
using ::testing::Combine;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Values;
using ::testing::ValuesIn;

constexpr const char* kSecret = "hunter4";

class HiddenAttack : public ::testing::Test {
 protected:
  HiddenAttack() {
    fs::permissions(root_.path(), fs::perms(0755));
    Write("config/.env");
    Write("keys/deep/token");
    Write("main.c", "harmless\n");
    fs::create_hard_link(Path("config/.env"), Path("config/notes"));
    fs::create_hard_link(Path("keys/deep/token"), Path("token-of-old"));
    fs::create_symlink("config/.env", Path("link"));
    fs::create_symlink("/project/config/.env", Path("absolute"));
    fs::create_symlink("../keys", Path("config/up"));
  }
  std::string Path(const std::string& name) const { return root_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& content = kSecret) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << content << "\n";
  }

  sandbox::Plan PlanOf(const std::string& code, ProjectMode mode, bool hidden, Wall wall) const {
    environment::Project project{.path = root_.path(), .mode = mode, .rules = {.hide = {"keys/"}}};
    if (hidden) project.hidden = environment::FindHidden(project.path, project.rules).value();
    const environment::RunRequest request{.what = environment::Code{code},
                                          .project = project,
                                          .fine_memory_limits = wall != Wall::kBubblewrap,
                                          .views = wall != Wall::kBubblewrap};
    return PlanFor("shell", request, [&](sandbox::Policy& policy) {
      for (sandbox::Entry& entry : policy.run) {
        // igloo refuses a project of root's there, because its files could not be the sandbox's.
        auto* tree = std::get_if<sandbox::HostTree>(&entry);
        if (tree != nullptr && wall == Wall::kBubblewrap) tree->map_owner = false;
      }
    });
  }
  std::string Attack(const std::string& code, ProjectMode mode, bool hidden = true,
                     Wall wall = Wall::kJail) const {
    const Outcome outcome = RunPlan(wall, PlanOf(code, mode, hidden, wall));
    return outcome.out + outcome.err + (outcome.status == -1 ? "refused" : "");
  }

  TempDir root_ = TempDir::Make(TempParent()).value();
};

class HiddenEverywhere : public HiddenAttack,
                         public ::testing::WithParamInterface<std::tuple<Wall, ProjectMode>> {};

/// All that is read, by every way that leads there.
constexpr const char* kReadAll = R"(cd /project
task=/proc/self/task/$$
for each in config/.env config/../config/.env link absolute config/notes token-of-old \
    keys/deep/token config/up/deep/token config/up/../keys/deep/token \
    /proc/self/root/project/config/.env /proc/self/cwd/config/.env /proc/$$/cwd/keys/deep/token \
    $task/root/project/config/notes; do
  cat "$each"; head -c 99 "$each"; dd if="$each" status=none; read -r line < "$each" && echo "$line"
done
exec 5< config; cat /proc/self/fd/5/.env
cd config; cat .env; cd ../keys/deep && cat token
grep -r hunter /project; tar -cf - /project | cat
echo tried; cat /project/main.c)";

TEST_P(HiddenEverywhere, NoPathLeadsToASecret) {
  const auto [wall, mode] = GetParam();
  const std::string said = Attack(kReadAll, mode, true, wall);
  EXPECT_THAT(said, AllOf(HasSubstr("tried\nharmless"), HasSubstr("Permission denied")));
  EXPECT_THAT(said, Not(HasSubstr(kSecret)));
  EXPECT_THAT(Attack(kReadAll, mode, false, wall), HasSubstr(kSecret)) << "control";
}

INSTANTIATE_TEST_SUITE_P(Walls, HiddenEverywhere,
                         Combine(ValuesIn(WithContainer({Wall::kJail, Wall::kPrepared})),
                                 Values(ProjectMode::kReadOnly, ProjectMode::kOverlay,
                                        ProjectMode::kReadWrite)));
INSTANTIATE_TEST_SUITE_P(Bubblewrap, HiddenEverywhere,
                         Combine(Values(Wall::kBubblewrap), Values(ProjectMode::kReadOnly)));

class HiddenFromWriters : public HiddenAttack, public ::testing::WithParamInterface<ProjectMode> {};

/// What takes the cover away if the kernel lets it, or gets a name for what lies beneath.
constexpr const char* kUncover = R"(cd /project
chmod 644 config/.env; chmod -R 777 keys /.igloo/hidden /.igloo/closed
ln config/.env mine; cp -l config/.env mine2; mv config/.env mine3; mv -T keys mine4
rm -rf config/.env keys; echo x > other; mv -f other config/.env
umount config/.env; umount -l keys; unshare -Urm umount /project/config/.env
mv config moved; mv moved/../moved again
mkdir nest; mv again nest/
for each in config/.env nest/again/.env nest/again/notes mine* keys/deep/token mine4/deep/token; do
  cat "$each"
done
cp -r nest copied; cat copied/again/.env
grep -r hunter /project; echo tried; cat main.c)";

TEST_P(HiddenFromWriters, NoMoveUncoversASecret) {
  const std::string said = Attack(kUncover, GetParam());
  EXPECT_THAT(said, AllOf(HasSubstr("tried\nharmless"), HasSubstr("Permission denied")));
  EXPECT_THAT(said, Not(HasSubstr(kSecret)));
}

TEST_P(HiddenFromWriters, NoMoveUncoversASecretControl) {
  EXPECT_THAT(Attack(kUncover, GetParam(), false), HasSubstr(kSecret)) << "control";
}

INSTANTIATE_TEST_SUITE_P(Modes, HiddenFromWriters,
                         Values(ProjectMode::kOverlay, ProjectMode::kReadWrite));

TEST_F(HiddenAttack, WhatWasMovedIsFoundWhereItIsByTheNextRun) {
  Attack("cd /project; mkdir -p .git/objects/ab; mv config .git/objects/ab/config",
         ProjectMode::kReadWrite);
  ASSERT_TRUE(fs::exists(Path(".git/objects/ab/config/.env"))) << "the attack ran";
  const std::string code =
      "cd /project; cat .git/objects/ab/config/.env; grep -r hunter .; echo tried";
  EXPECT_THAT(Attack(code, ProjectMode::kReadWrite),
              AllOf(HasSubstr("tried"), Not(HasSubstr(kSecret))));
  EXPECT_THAT(Attack(code, ProjectMode::kReadWrite, false), HasSubstr(kSecret)) << "control";
}

/// A sandbox beside this one can move things between the look and the start.
TEST_F(HiddenAttack, WhatIsMovedBehindTheLookIsNotShown) {
  for (const ProjectMode mode :
       {ProjectMode::kReadOnly, ProjectMode::kOverlay, ProjectMode::kReadWrite}) {
    const sandbox::Plan plan =
        PlanOf("cat /project/*/.env /project/keys/deep/token", mode, true, Wall::kJail);
    fs::rename(Path("config"), Path("elsewhere"));
    const Outcome moved = RunPlan(Wall::kJail, plan);
    EXPECT_EQ(moved.status, -1);
    EXPECT_THAT(moved.out + moved.err,
                AllOf(HasSubstr("cannot build the sandbox at \"hide"), Not(HasSubstr(kSecret))));
    Write("config/.env", "bait");
    const Outcome replaced = RunPlan(Wall::kJail, plan);
    EXPECT_EQ(replaced.status, -1) << "another file in its place is not the one that was seen";
    EXPECT_THAT(replaced.out + replaced.err, Not(HasSubstr(kSecret)));
    fs::remove_all(Path("config"));
    fs::rename(Path("elsewhere"), Path("config"));
    // Control: as it was seen, it starts.
    EXPECT_NE(RunPlan(Wall::kJail, plan).status, -1);
    // A link in the place of a directory on the way leads nowhere.
    fs::rename(Path("keys"), Path("real-keys"));
    fs::create_directory_symlink("real-keys", Path("keys"));
    EXPECT_EQ(RunPlan(Wall::kJail, plan).status, -1);
    fs::remove(Path("keys"));
    fs::rename(Path("real-keys"), Path("keys"));
  }
}

/// What docs/projects.md says of a host that changes its files meanwhile.
TEST_F(HiddenAttack, AFileThatTheHostReplacesStaysHiddenInViewsAndIsSeenInAReadWriteProject) {
  for (const ProjectMode mode :
       {ProjectMode::kReadOnly, ProjectMode::kOverlay, ProjectMode::kReadWrite}) {
    const sandbox::Plan plan = PlanOf(
        "echo ready; read -r go; cat /project/config/.env; echo tried", mode, true, Wall::kJail);
    Workbench bench(backend::jail::Mode::kCold);
    LiveRun run(bench, plan);
    ASSERT_TRUE(run.WaitForOutput("ready"));
    Write("config/new");
    fs::rename(Path("config/new"), Path("config/.env"));
    run.Write("go\n");
    const auto result = run.Finish();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_THAT(run.output(), HasSubstr("tried"));
    if (mode == ProjectMode::kReadWrite) {
      EXPECT_THAT(run.output(), HasSubstr(kSecret));
    } else {
      EXPECT_THAT(run.output(), Not(HasSubstr(kSecret)));
    }
  }
}

TEST_F(HiddenAttack, AFileThatTheHostWritesInPlaceStaysHidden) {
  const sandbox::Plan plan = PlanOf("echo ready; read -r go; cat /project/config/.env; echo tried",
                                    ProjectMode::kReadWrite, true, Wall::kJail);
  Workbench bench(backend::jail::Mode::kCold);
  LiveRun run(bench, plan);
  ASSERT_TRUE(run.WaitForOutput("ready"));
  Write("config/.env");
  run.Write("go\n");
  ASSERT_TRUE(run.Finish());
  EXPECT_THAT(run.output(), AllOf(HasSubstr("tried"), Not(HasSubstr(kSecret))));
}

}  // namespace
}  // namespace igloo::testing
