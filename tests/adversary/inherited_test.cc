// P5: nothing is inherited. The scene makes this test program a careless caller of igloo.
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_case.h"
#include "base/spawn.h"

namespace igloo::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Inherited, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::InheritedCases()),
                                            EveryWall()),
                         CaseName);

class Caller : public ::testing::TestWithParam<Wall> {};

/// A shell that leaves descriptor 9 open and starts the rest of its words.
Outcome WithDescriptor(const Scene& scene, const std::string& program,
                       std::vector<std::string> args) {
  args.insert(args.begin(), {"-c", "exec 9<\"$0\"; exec \"$@\"", scene.path(), program});
  return RunProgram({.program = "/bin/sh", .args = args, .env = Scene::Variables()});
}

TEST_P(Caller, LeavesNoDescriptorToTheCode) {
  const Scene scene;
  for (const char* attack : {"find-descriptor", "leave-by-descriptor"}) {
    const Outcome library = AttackBehind(GetParam(), scene, {attack});
    EXPECT_EQ(library.status, kHeld) << attack << ": " << library.err;
    const Outcome program = WithDescriptor(scene, BinDirectory() + "/igloo",
                                           IglooArguments(GetParam(), scene, {attack}));
    EXPECT_EQ(program.status, kHeld) << attack << ": " << program.err;
    const Outcome control = WithDescriptor(scene, scene.attack_program(), {attack});
    EXPECT_EQ(control.status, kLeaked) << "control: " << control.err;
  }
}

/// runc's working directory was a descriptor of the host; here both must be the sandbox's own.
TEST_P(Caller, Cve2024_21626_LeavesNoWorkingDirectoryToTheCode) {
  const Scene scene;
  const Outcome program =
      WithDescriptor(scene, BinDirectory() + "/igloo",
                     IglooArguments(GetParam(), scene, {"read-secret", "/proc/self/cwd/secret"}));
  EXPECT_EQ(program.status, kHeld) << program.err;
  EXPECT_EQ(AttackOnHost(scene, {"read-secret", "/proc/self/cwd/secret"}).status, kLeaked);
}

TEST_P(Caller, LeavesNoVariableToAnyProcessInside) {
  const Scene scene;
  for (const char* attack : {"find-variable", "read-environments"}) {
    const Outcome program = RunProgram({.program = BinDirectory() + "/igloo",
                                        .args = IglooArguments(GetParam(), scene, {attack}),
                                        .env = Scene::Variables()});
    EXPECT_EQ(program.status, kHeld) << attack << ": " << program.err;
    EXPECT_EQ(AttackOnHost(scene, {attack}).status, kLeaked);
  }
}

/// Starts words with a fresh terminal as standard input, output and controlling terminal.
int StatusInTerminal(const std::string& program, const std::vector<std::string>& args) {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) return -1;
  const UniqueFd slave(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave) return -1;
  SpawnOptions options{.program = "/usr/bin/setsid",
                       .argv = {"setsid", "--ctty", "--wait", program},
                       .env = {"PATH=/usr/bin"},
                       .fds = {{slave.get(), 0}, {slave.get(), 1}, {slave.get(), 2}}};
  options.argv.insert(options.argv.end(), args.begin(), args.end());
  auto child = Spawn(options);
  if (!child) return -1;
  const int status = child->Wait().value();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_P(Caller, LeavesNoTerminalToTheCode) {
  const Scene scene;
  EXPECT_EQ(StatusInTerminal(BinDirectory() + "/igloo",
                             IglooArguments(GetParam(), scene, {"find-terminal"})),
            kHeld);
  EXPECT_EQ(StatusInTerminal(scene.attack_program(), {"find-terminal"}), kLeaked) << "control";
}

/// Only root can have groups to leave behind in a test; a user's are not igloo's to drop.
TEST_P(Caller, LeavesNoGroupOfRootToTheCode) {
  const Scene scene;
  if (!RunningAsRoot()) {
    EXPECT_EQ(AttackBehind(GetParam(), scene, {"find-groups"}).status, kHeld);
    return;
  }
  const gid_t group = 4;
  const std::vector<gid_t> old = [] {
    std::vector<gid_t> groups(64);
    groups.resize(static_cast<std::size_t>(::getgroups(64, groups.data())));
    return groups;
  }();
  ASSERT_EQ(::setgroups(1, &group), 0);
  const Outcome behind = AttackBehind(GetParam(), scene, {"find-groups"});
  const Outcome control = AttackOnHost(scene, {"find-groups"});
  EXPECT_EQ(::setgroups(old.size(), old.data()), 0);
  EXPECT_EQ(behind.status, kHeld) << behind.err;
  EXPECT_EQ(control.status, kLeaked) << "control: " << control.err;
}

INSTANTIATE_TEST_SUITE_P(Walls, Caller, EveryBackend(), WallName);

}  // namespace
}  // namespace igloo::testing
