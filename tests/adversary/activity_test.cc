// P3: what the host and other sandboxes do with files that a sandbox sees, too, stays unseen. The
// control is the same sandbox on the host's own inodes, as a plain bind mount shows them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "attack_case.h"
#include "base/temp_dir.h"
#include "environment/facts.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using backend::jail::Mode;

/// Nobody on a host locks it, and every host has it.
constexpr const char* kProgram = "/usr/bin/env";

/// A store of the host's: two trees in one directory, as those of Nix and of images are.
class Store {
 public:
  Store() {
    fs::permissions(root_.path(), fs::perms(0755));
    for (const char* name : {"/one", "/two"}) {
      fs::create_directory(root_.path() + name);
      std::ofstream(root_.path() + name + "/file") << "content\n";
    }
  }
  std::string File(const char* tree) const { return root_.path() + "/" + tree + "/file"; }

  void AddTo(sandbox::Policy& policy) const {
    for (const std::string name : {"/one", "/two"}) {
      policy.environment.emplace_back(sandbox::HostTree{.source = root_.path() + name,
                                                        .target = "/store" + name,
                                                        .own_inodes = true,
                                                        .within = root_.path()});
    }
  }

 private:
  TempDir root_ = TempDir::Make(TempParent()).value();
};

void ShowHostInodes(sandbox::Policy& policy) {
  for (sandbox::Entry& entry : policy.environment) {
    if (auto* tree = std::get_if<sandbox::HostTree>(&entry)) tree->own_inodes = false;
  }
  // The project, too.
  for (sandbox::Entry& entry : policy.run) {
    const auto* view = std::get_if<sandbox::OverlayTree>(&entry);
    if (view == nullptr) continue;
    entry = sandbox::HostTree{.source = view->source, .target = view->target, .map_owner = true};
  }
}

/// Sandboxes of one launcher, and in prepared mode of one template.
class Activity : public ::testing::TestWithParam<Mode> {
 protected:
  sandbox::Plan PlanOf(std::vector<std::string> argv, const Change& change) const {
    sandbox::Policy policy = PolicyFor(Wall::kJail, scene_, std::move(argv));
    store_.AddTo(policy);
    if (change) change(policy);
    return sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy))).value();
  }
  sandbox::Plan AttackPlan(std::vector<std::string> words, const Change& change) const {
    words.insert(words.begin(), "/project/igloo-attack");
    return PlanOf(std::move(words), change);
  }
  /// The exit code of an attack that lets others act.
  int During(std::vector<std::string> words, const std::function<void()>& act,
             const Change& change = {}) {
    const sandbox::Plan plan = AttackPlan(std::move(words), change);
    LiveRun attack(bench_, plan);
    EXPECT_TRUE(attack.WaitForOutput("ready\n"));
    act();
    attack.Write("x");
    const auto result = attack.Finish();
    return result ? result->exit_code : -1;
  }
  int Attack(std::vector<std::string> words, const Change& change = {}) {
    const auto result = bench_.Run(AttackPlan(std::move(words), change));
    return result ? result->exit_code : -1;
  }
  /// Another sandbox of the same environment reads all of these.
  void ReadInAnother(const std::string& paths, const Change& change) {
    const auto result = bench_.Run(PlanOf({"/bin/sh", "-c", "cat " + paths}, change));
    ASSERT_TRUE(result && result->exit_code == 0) << (result ? "" : result.error().what);
  }

  const Scene scene_;
  const Store store_;
  Workbench bench_{GetParam()};
};

std::string ModeName(const ::testing::TestParamInfo<Mode>& info) {
  return info.param == Mode::kCold ? "cold" : "prepared";
}
INSTANTIATE_TEST_SUITE_P(Jail, Activity, ::testing::Values(Mode::kCold, Mode::kPrepared), ModeName);

void OpenOnHost(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(fd) << path;
}

TEST_P(Activity, OfTheHostCannotBeWatched) {
  const std::string file = scene_.project() + "/file";
  // As it is called inside, and on the host.
  const std::map<std::string, std::string> files = {{"/usr/bin", kProgram},
                                                    {kProgram, kProgram},
                                                    {"/etc/ld.so.cache", "/etc/ld.so.cache"},
                                                    {"/store/one", store_.File("one")},
                                                    {"/store/two/file", store_.File("two")},
                                                    {"/project", file},
                                                    {"/project/file", file}};
  for (const auto& [inside, outside] : files) {
    const auto use = [&] { OpenOnHost(outside); };
    EXPECT_EQ(During({"watch", inside}, use), kHeld) << inside;
    EXPECT_EQ(During({"watch", inside}, use, ShowHostInodes), kLeaked) << "control: " << inside;
  }
}

TEST_P(Activity, ProgramsThatTheHostStartsCannotBeWatched) {
  const auto start = [] { (void)RunProgram({.program = kProgram, .args = {"true"}}); };
  for (const char* watched : {"/usr/bin", "/etc/ld.so.cache"}) {
    EXPECT_EQ(During({"watch", watched}, start), kHeld) << watched;
    EXPECT_EQ(During({"watch", watched}, start, ShowHostInodes), kLeaked) << "control: " << watched;
  }
}

TEST_P(Activity, OfAnotherSandboxCannotBeWatched) {
  const std::string project = "/project/file", store = "/store/one/file";
  for (const std::string& path : {std::string(kProgram), store, project}) {
    const auto read = [&](const Change& change) {
      return [this, path, change] { ReadInAnother(path, change); };
    };
    EXPECT_EQ(During({"watch", path}, read({})), kHeld) << path;
    EXPECT_EQ(During({"watch", path}, read(ShowHostInodes), ShowHostInodes), kLeaked)
        << "control: " << path;
  }
  // igloo's own files, and the root's directories: each sandbox has a root of its own.
  for (const char* path : {"/etc/passwd", "/etc", "/"}) {
    const auto read = [&] { ReadInAnother("/etc/passwd; ls / /etc", {}); };
    EXPECT_EQ(During({"watch", path}, read), kHeld) << path;
  }
}

TEST_P(Activity, LocksOfTheHostAreNotMet) {
  for (const char* attack : {"meet-lock", "meet-record-lock"}) {
    const UniqueFd file(::open(store_.File("one").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(file);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    ASSERT_EQ(::flock(file.get(), LOCK_EX), 0);
    ASSERT_EQ(::fcntl(file.get(), F_SETLK, &lock), 0);
    EXPECT_EQ(Attack({attack, "/store/one/file"}), kHeld) << attack;
    EXPECT_EQ(Attack({attack, "/store/one/file"}, ShowHostInodes), kLeaked) << "control";
  }
}

TEST_P(Activity, ALockIsMetByNobodyElse) {
  const std::map<std::string, std::string> files = {{kProgram, kProgram},
                                                    {"/store/one/file", store_.File("one")}};
  for (const auto& [inside, outside] : files) {
    const auto count = [&, this](const Change& change) {
      int met = 0;
      const auto look = [&] {
        const UniqueFd file(::open(outside.c_str(), O_RDONLY | O_CLOEXEC));
        if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) ++met;
        (void)::flock(file.get(), LOCK_UN);
        for (const char* attack : {"meet-lock", "meet-record-lock"}) {
          const int other = Attack({attack, inside}, change);
          EXPECT_TRUE(other == kHeld || other == kLeaked) << other;
          if (other == kLeaked) ++met;
        }
      };
      EXPECT_EQ(During({"hold-lock", inside}, look, change), kHeld) << inside;
      return met;
    };
    EXPECT_EQ(count({}), 0) << inside;
    EXPECT_EQ(count(ShowHostInodes), 3) << "control: " << inside;
  }
}

struct MountLine {
  std::string root = {}, point = {}, type = {};
};

std::vector<MountLine> MountsIn(const std::string& table) {
  std::vector<MountLine> mounts;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    MountLine mount;
    std::string skipped;
    std::istringstream(line) >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    std::istringstream(line.substr(line.find(" - ") + 3)) >> mount.type;
    mounts.push_back(mount);
  }
  return mounts;
}

int WholeProcsIn(const std::string& table) {
  return static_cast<int>(std::ranges::count_if(MountsIn(table), [](const MountLine& mount) {
    return mount.type == "proc" && mount.root == "/";
  }));
}

TEST_P(Activity, NothingIsMountedBeneathSomethingElse) {
  const auto result = bench_.Run(PlanOf({"/bin/cat", "/proc/self/mountinfo"}, {}));
  ASSERT_TRUE(result);
  const std::string table = result->output.kept();
  EXPECT_EQ(WholeProcsIn(table), 1) << "another proc would show other processes\n" << table;
  std::map<std::string, int> points;
  for (const MountLine& mount : MountsIn(table)) EXPECT_EQ(++points[mount.point], 1) << table;
  EXPECT_EQ(points.count("/store/two"), 1U);
  EXPECT_THAT(table, ::testing::Not(::testing::HasSubstr(scene_.path()))) << "a path of the host";

  const Outcome control =
      RunProgram({.program = "/usr/bin/unshare",
                  .args = {"--user", "--map-root-user", "--mount", "--pid", "--fork",
                           "--mount-proc", "/bin/cat", "/proc/self/mountinfo"}});
  EXPECT_EQ(WholeProcsIn(control.out), 2) << "control: " << control.err;
}

}  // namespace
}  // namespace igloo::testing
