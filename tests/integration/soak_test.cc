// Many runs leave nothing behind.

#include "soak.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/temp_dir.h"
#include "jail/identity.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using backend::jail::Mode;
using ::testing::HasSubstr;

/// How many keys the users have that the sandboxes of these launchers and of their templates can
/// be. Call it while they live.
int KeysInUse(const std::vector<pid_t>& launchers) {
  // A launcher's children are templates and slots; every block among them is somebody's of ours.
  std::vector<pid_t> owners = launchers;
  for (const pid_t launcher : launchers) {
    for (const ProcessInfo& each : ChildrenOf(launcher)) owners.push_back(each.pid);
  }
  const auto is_ours = [&](std::uint64_t uid) {
    if (!RunningAsRoot()) return uid == ::getuid();
    return std::ranges::any_of(owners, [&](pid_t owner) {
      const std::uint64_t base = jail::BlockOf(sandbox::Identity{}.host_id_base, owner);
      return uid >= base && uid < base + jail::kBlockSize;
    });
  };
  std::istringstream users(ReadProc("/proc/key-users"));
  int keys = 0;
  // "UID: references keys/instantiated ..."
  for (std::string line; std::getline(users, line);) {
    std::istringstream words(line);
    std::uint64_t uid = 0;
    char colon = ' ';
    int references = 0;
    int count = 0;
    words >> uid >> colon >> references >> count;
    if (is_ours(uid)) keys += count;
  }
  return keys;
}

/// A launcher, its templates and the sandboxes that wait on them: number of children of each, and
/// the pid of those that outlive a run.
struct Family {
  std::string text = {};
  int descriptors = 0;  ///< of the one that has most; -1: one may not be looked at
  bool operator==(const Family& other) const { return text == other.text; }
};

Family FamilyOf(pid_t launcher) {
  Family out;
  std::vector<ProcessInfo> family = DescendantsOf(launcher);
  family.push_back({.pid = launcher});
  std::vector<std::string> lines;
  for (const ProcessInfo& each : family) {
    const bool waiting = each.pid != launcher && each.parent != launcher;
    lines.push_back((waiting ? "waiting" : std::to_string(each.pid)) + ": " +
                    std::to_string(ChildrenOf(each.pid).size()) + " children\n");
    const int descriptors = CountDescriptors(each.pid);
    if (descriptors < 0 || out.descriptors < 0) {
      out.descriptors = -1;
    } else {
      out.descriptors = std::max(out.descriptors, descriptors);
    }
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) out.text += line;
  return out;
}

std::vector<pid_t> Launchers() {
  std::vector<pid_t> pids;
  for (const ProcessInfo& each : ChildrenOf(::getpid())) pids.push_back(each.pid);
  return pids;
}

void ExpectWorks(const Result<session::RunResult>& result) {
  ASSERT_TRUE(result) << result.error().what;
  ASSERT_EQ(result->exit_code, 0) << result->error.kept();
  ASSERT_EQ(result->output.kept(), "hello\n");
}

/// Every name of the root that all runs of a template share. A program as the runs are, not code:
/// code would stand on another template.
std::string RootOf(Workbench& bench) {
  const auto result = bench.Run(PlanForProgram(
      {"/bin/bash", "-c",
       "find / '(' -path /proc -o -path /usr -o -path /dev ')' -prune -o -printf '%p %M %s %l\\n' "
       "2>/dev/null | sort; ls -la --time-style=+ /dev"}));
  EXPECT_TRUE(result) << result.error().what;
  return result ? result->output.kept() : "";
}

/// Of the whole machine, where those that others removed go one by one.
int CountCgroups() {
  int sum = 0;
  std::istringstream lines(ReadProc("/proc/cgroups"));
  for (std::string line; std::getline(lines, line);) {
    int count = 0;
    if (std::sscanf(line.c_str(), "%*s %*d %d", &count) == 1) sum += count;
  }
  return sum;
}

TEST(Soak, AThousandRunsLeaveNothing) {
  const Machine before;
  const int cgroups = CountCgroups();
  const sandbox::Plan plan = PlanForProgram({"/bin/echo", "hello"});
  std::vector<pid_t> launchers;
  {
    // Without subordinate ids: descriptors of processes of another id may not be looked at.
    backend::Programs programs = BuiltPrograms();
    programs.leases = std::string();
    Workbench prepared(Mode::kPrepared, programs);
    Workbench cold(Mode::kCold);
    ExpectWorks(prepared.Run(plan));
    ExpectWorks(cold.Run(plan));
    EXPECT_THAT(RootOf(prepared), HasSubstr("/etc/passwd "));
    launchers = Launchers();
    ASSERT_EQ(launchers.size(), 2U);
    // A template makes sandboxes ahead while nothing happens; wait until it has all it keeps.
    const auto families = [&] { return std::pair(FamilyOf(launchers[0]), FamilyOf(launchers[1])); };
    auto settled = families();
    ASSERT_TRUE(WaitFor([&] { return settled == std::exchange(settled, families()); }));
    const std::pair most(settled.first.descriptors, settled.second.descriptors);
    EXPECT_GT(most.first, 0);
    EXPECT_GT(most.second, 0);
    const std::string root_before = RootOf(prepared);
    const int keys_before = KeysInUse(launchers);
    const int descriptors = CountDescriptors(::getpid());

    const std::vector<sandbox::Plan> group(10, plan);
    for (int i = 0; i < 95; ++i) {
      for (const auto& result : prepared.RunTogether(group)) ExpectWorks(result);
      if (i % 2 == 0) ExpectWorks(cold.Run(plan));
    }
    EXPECT_EQ(RootOf(prepared), root_before) << "a template's root is shared by all its runs";
    EXPECT_TRUE(WaitFor([&] { return families() == settled; }))
        << "before:\n"
        << settled.first.text << settled.second.text << "after:\n"
        << families().first.text << families().second.text;
    // A template keeps up to eight network namespaces for those that come.
    constexpr int kNetworks = 8;
    // One that is being made at this moment holds a descriptor more.
    EXPECT_TRUE(WaitFor([&] {
      const auto now = families();
      return now.first.descriptors <= most.first + kNetworks &&
             now.second.descriptors <= most.second + kNetworks;
    })) << families().first.descriptors
        << " and " << families().second.descriptors << ", before: " << most.first << " and "
        << most.second;
    EXPECT_EQ(CountDescriptors(::getpid()), descriptors);
    // The kernel collects keys when it likes, so earlier ones may go while this runs.
    EXPECT_TRUE(WaitFor([&] { return KeysInUse(launchers) <= keys_before; }, 30))
        << keys_before << " keys before, " << KeysInUse(launchers) << " after";
    EXPECT_EQ(MountTable(), before.mounts);
  }
  for (int i = 0; i < 2; ++i) {
    Workbench fresh(i == 0 ? Mode::kCold : Mode::kPrepared);
    ExpectWorks(fresh.Run(plan));
  }
  ExpectAsBefore(before);
  // The kernel takes groups that are gone away when it likes, so earlier ones may go while this
  // runs.
  EXPECT_TRUE(WaitFor([&] { return CountCgroups() <= cgroups; })) << cgroups << " before";
}

/// SessionInterpreter memory of a process in KiB.
int MemoryOf(pid_t pid) {
  const std::string status = ReadProc("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("VmRSS:");
  return at == status.npos ? 0 : std::stoi(status.substr(at + 6));
}

/// Runs of every kind in turn, good ones and bad ones.
class MixedRuns {
 public:
  void One(int number) {
    switch (number % 20) {
      case 3:
        return Expect(cold_.Run(hello_), session::Verdict::kOk);
      case 5:
        return Expect(prepared_.Run(failing_), session::Verdict::kExit);
      case 7:
        return Expect(prepared_.Run(endless_), session::Verdict::kTimeout);
      case 9:
        return Expect(prepared_.Run(littering_), session::Verdict::kOk);
      case 11:
        EXPECT_EQ(Igloo({"run", "--env", "shell", "--project", project_.path() + ":overlay",
                         "echo x > /project/new; mkfifo /tmp/p; exit 3"})
                      .status,
                  3);
        return;
      case 13:
        EXPECT_EQ(Igloo({"run", "--env", "shell", "--backend", "bubblewrap", "true"}).status, 0);
        return;
      case 15:
        EXPECT_EQ(Igloo({"run", "--env", "shell", "--", "/no/such/program"}).status, 127);
        return;
      case 17:
        return Kill();
      case 19:
        return Expect(prepared_.Run(sending_), session::Verdict::kOk);
      default:
        return Expect(prepared_.Run(hello_), session::Verdict::kOk);
    }
  }

  const std::string& project() const { return project_.path(); }

 private:
  static void Expect(const Result<session::RunResult>& result, session::Verdict verdict) {
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(session::Name(result->verdict), session::Name(verdict)) << result->error.kept();
  }
  /// igloo itself, in the middle of a run.
  static void Kill() {
    Running run({.program = BinDirectory() + "/igloo",
                 .args = {"run", "--env", "shell", "(sleep 100 &) ; echo ready; sleep 100"}});
    ASSERT_TRUE(run.WaitForOutput("ready\n"));
    run.Signal(SIGKILL);
    run.Finish();
  }
  static sandbox::Plan Program(const char* code) {
    return PlanForProgram({"/bin/bash", "-c", code},
                          [](sandbox::Policy& policy) { policy.limits.time_ms = 5000; });
  }

  TempDir project_ = TempDir::Make(TempParent()).value();
  Workbench prepared_{Mode::kPrepared}, cold_{Mode::kCold};
  sandbox::Plan hello_ = PlanForProgram({"/bin/echo", "hello"});
  sandbox::Plan failing_ = Program("exit 3");
  sandbox::Plan littering_ = Program(
      "for i in 1 2 3; do (sleep 100 &) ; done; echo x > /tmp/x; mkfifo /workspace/p; exit 0");
  sandbox::Plan sending_ = Program("echo x > /dev/udp/127.0.0.1/9");
  sandbox::Plan endless_ = PlanForProgram({"/bin/sleep", "100"}, [](sandbox::Policy& policy) {
    policy.limits.time_ms = 5;
    policy.limits.grace_ms = 5;
  });
};

TEST(Soak, RunsOfEveryKindLeaveNothingAndMemoryIsFlat) {
  const int runs = SoakRuns();
  const Machine before;
  std::vector<pid_t> launchers;
  {
    MixedRuns mixed;
    // Everything that is made once is made; leaves of cgroups too, which stay.
    for (int i = 0; i < 40; ++i) mixed.One(i);
    const auto memory = [&] {
      int sum = 0;
      for (const ProcessInfo& each : DescendantsOf(::getpid())) sum += MemoryOf(each.pid);
      return sum;
    };
    const int memory_before = memory();
    const int cgroups = CountCgroups();
    const int descriptors = CountDescriptors(::getpid());
    launchers = Launchers();
    const int keys = KeysInUse(launchers);
    for (int i = 0; i < runs && !::testing::Test::HasFailure(); ++i) mixed.One(i);
    EXPECT_EQ(CountDescriptors(::getpid()), descriptors);
    EXPECT_TRUE(WaitFor([&] { return KeysInUse(launchers) <= keys + 2; }, 30));
    // Launchers, templates and waiting sandboxes together have a few hundred KiB of their own.
    EXPECT_TRUE(WaitFor([&] { return memory() <= memory_before + 512; }))
        << memory_before << " KiB before, " << memory() << " after";
    EXPECT_TRUE(WaitFor([&] { return CountCgroups() <= cgroups; }));
    EXPECT_TRUE(std::filesystem::is_empty(mixed.project()));
  }
  ExpectAsBefore(before);
}

}  // namespace
}  // namespace igloo::testing
