// What the launcher does with plans that the planner would never make.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/temp_dir.h"
#include "session/files/leftovers.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

namespace step = sandbox::step;
using backend::jail::Mode;
using sandbox::Plan;
using sandbox::Step;

/// The plan with these steps where the root is still being built and the host's is in reach.
Plan WithSteps(Plan plan, const std::vector<Step>& steps) {
  const auto at = std::ranges::find(plan.environment, Step{step::Proc{"/proc"}});
  plan.environment.insert(at, steps.begin(), steps.end());
  return plan;
}

/// A directory of the host that the sandbox's user may write to. Not in /tmp: the root under
/// construction stands there.
TempDir OpenDirectory() {
  TempDir directory = TempDir::Make("/var/tmp").value();
  EXPECT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  return directory;
}

class Launcher : public ::testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, Launcher, ::testing::Values(Mode::kCold, Mode::kPrepared),
                         [](const auto& row) {
                           return row.param == Mode::kCold ? "Cold" : "Prepared";
                         });

TEST_P(Launcher, MakesNoNameThroughALink) {
  const TempDir host = OpenDirectory();
  Workbench bench(GetParam());
  for (const std::string& target : {host.path(), std::string("/"), std::string("usr")}) {
    for (const Step& name :
         {Step{step::Directory{"/way/name"}}, Step{step::Symlink{"/way/name", "x"}},
          Step{step::File{"/way/name", "", 0444}}, Step{step::File{"/way/name", "text", 0444}},
          Step{step::Directory{"/way/" + host.path() + "/name"}}}) {
      const auto result =
          bench.Run(WithSteps(PlanForShell("true"), {step::Symlink{"/way", target}, name}));
      ASSERT_FALSE(result) << target;
      EXPECT_EQ(result.error().sys_errno, ELOOP) << result.error().what;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(host.path()));
}

TEST_P(Launcher, MakesNoNameOutsideTheRoot) {
  const TempDir host = OpenDirectory();
  Workbench bench(GetParam());
  const auto result =
      bench.Run(WithSteps(PlanForShell("true"), {step::Directory{"/.." + host.path() + "/name"}}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().sys_errno, EXDEV) << result.error().what;
  EXPECT_TRUE(std::filesystem::is_empty(host.path()));
}

TEST_P(Launcher, MakesNamesInWhatIsMountedByThen) {
  Workbench bench(GetParam());
  const Plan plan = WithSteps(
      PlanForShell("find /x | sort; cat /x/a/both"),
      {step::Directory{"/x"}, step::Directory{"/x/a"}, step::File{"/x/a/both", "old", 0444},
       step::File{"/x/a/gone", "", 0444}, step::Tmpfs{"/x/a", {.bytes = 1U << 20}},
       step::File{"/x/a/both", "new", 0444}, step::Directory{"/x/b"}, step::Directory{"/x/b/c"},
       step::Tmpfs{"/x", {.bytes = 1U << 20}}, step::Directory{"/x/a"},
       step::File{"/x/a/both", "newest", 0444}});
  const auto result = bench.Run(plan);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->output.kept(), "/x\n/x/a\n/x/a/both\nnewest") << result->error.kept();
}

TEST_P(Launcher, HandsOutWhatARunLeavesBehind) {
  Workbench bench(GetParam());
  const auto plan_of = [](const std::string& code) {
    return PlanFor("shell", {.what = environment::Code{code},
                             .files = {{"in/given.txt", "given\n"}, {"same.txt", "same"}},
                             .hand_out = true});
  };
  const auto result =
      bench.Run(plan_of("cat in/given.txt; echo more >> in/given.txt; echo new > out.txt; "
                        "ln -s /etc/passwd link; chmod 000 same.txt; touch -d @0 same.txt"));
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->output.kept(), "given\n") << result->error.kept();
  ASSERT_EQ(result->handed_out.size(), 1U);
  const session::Leftovers left =
      session::ReadLeftovers(result->handed_out[0].get(), {{"in/given.txt", "given\n"}});
  std::map<std::string, std::string> files;
  for (const session::LeftFile& file : left.files) files[file.path] = file.bytes;
  EXPECT_EQ(files["in/given.txt"], "given\nmore\n");
  EXPECT_EQ(files["out.txt"], "new\n");
  EXPECT_FALSE(files.contains("link"));
  const auto next = bench.Run(plan_of("ls"));
  ASSERT_TRUE(next) << next.error().what;
  EXPECT_EQ(next->output.kept(), "in\nsame.txt\n") << "every run has its own";
}

TEST_P(Launcher, FreezesMemoryWithoutHidingWhatIsMountedInIt) {
  Workbench bench(GetParam());
  const TempDir host = OpenDirectory();
  const Plan plan = PlanForShell(
      "cat /ro/file; touch /ro/x 2>&1; touch /ro/rw/x && ls /ro/rw; "
      "ls -d /ro/tree; touch /ro/deep/x 2>&1; cat /ro/deep/file",
      [&](sandbox::Policy& policy) {
        policy.run.emplace_back(sandbox::MemoryTree{.target = "/ro",
                                                    .capacity = {.bytes = 1U << 20},
                                                    .access = sandbox::Access::kReadOnly});
        policy.run.emplace_back(sandbox::TextFile{.path = "/ro/file", .content = "one\n"});
        policy.run.emplace_back(
            sandbox::MemoryTree{.target = "/ro/rw", .capacity = {.bytes = 1U << 20}});
        policy.run.emplace_back(sandbox::HostTree{.source = host.path(), .target = "/ro/tree"});
        policy.run.emplace_back(sandbox::MemoryTree{.target = "/ro/deep",
                                                    .capacity = {.bytes = 1U << 20},
                                                    .access = sandbox::Access::kReadOnly});
        policy.run.emplace_back(sandbox::TextFile{.path = "/ro/deep/file", .content = "two\n"});
      });
  const auto result = bench.Run(plan);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->output.kept(),
            "one\n"
            "touch: cannot touch '/ro/x': Read-only file system\n"
            "x\n"
            "/ro/tree\n"
            "touch: cannot touch '/ro/deep/x': Read-only file system\n"
            "two\n")
      << result->error.kept();
}

}  // namespace
}  // namespace igloo::testing
