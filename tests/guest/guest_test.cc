// Igloo on a kernel of our own choice: with cgroup v2, as root, and as users with and without a
// cgroup of their own. One guest runs all rows of the table below.

#include "guest.h"

#include <gmock/gmock.h>

#include <vector>

namespace igloo::testing {
namespace {

using ::testing::ContainsRegex;

/// A command in the guest and what must come of it.
struct Case {
  std::string name = {};  ///< the promise
  std::vector<Who> who = {Who::kRoot, Who::kUser, Who::kOutsider};
  std::string script = {};  ///< for bash; igloo is in its PATH
  int status = 0;
  std::string says = {};  ///< a regular expression in what it prints, output before errors
};

/// Every one of them is also held to leave neither a process nor a cgroup.
const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {
      {.name = "HasCgroupV2WithTheControllers",
       .script = "cat /sys/fs/cgroup/cgroup.controllers; cat /proc/self/cgroup",
       .says = "cpu .*memory .*pids.*\n0::/(root|user|outsider)/session\n"},
      {.name = "AUserMayDivideItsOwnCgroup",
       .who = {Who::kUser},
       .script = "cd /sys/fs/cgroup/user && mkdir x && cat x/memory.max x/pids.max && rmdir x",
       .says = "^max\nmax\n$"},
      {.name = "AnOutsiderHasNoCgroupToDivide",
       .who = {Who::kOutsider},
       .script = "mkdir /sys/fs/cgroup/outsider/x || mkdir /sys/fs/cgroup/outsider/session/x",
       .status = 1,
       .says = "Permission denied.*Permission denied"},
      {.name = "DoctorFindsEveryWallStanding",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         said=$(igloo doctor); code=$?; echo "$said"
         # the guest has few environments and no extras, but nothing else may be missing
         extras='environment|KVM|Nix|systemd-nspawn|QEMU|tmux|subordinate ids|weaker user id'
         ! grep -E '^(BROKEN|missing) ' <<<"$said" | grep -vE "^missing ($extras) " && exit $code)sh",
       .says = "cgroups +version 2: .*Every wall stands"},
      {.name = "CodeRuns", .script = "igloo run --env shell 'echo hi'", .says = "^hi\n$"},
      {.name = "MemoryOfAllProcessesTogetherIsLimited",
       .script = R"sh(
         igloo run --env shell --json --memory 32 '
           for i in 1 2 3; do dd if=/dev/zero of=/dev/null bs=24M & done; wait')sh",
       .status = 137,
       .says = R"("verdict":"memory")"},
      {.name = "TheKernelCountsTheSandbox",
       .who = {Who::kRoot, Who::kUser},
       // Born into the leaf, which a run sees as the top, with the limits of its plan.
       .script = R"sh(
         exec 3< <(exec igloo run --env shell --memory 64 'cat /proc/self/cgroup; sleep 1000')
         read -r seen <&3 && echo "$seen"
         full=$(grep -l . /sys/fs/cgroup/*/igloo/*/cgroup.procs) && cd "${full%/*}" &&
           cat memory.max memory.oom.group pids.max; kill $!)sh",
       .says = "^0::/\n67108864\n1\n258\n$"},
      {.name = "ProcessorsOfASandboxAreLimited",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         printf '[environments.shell.limits]\ncpus = 0.25\n' >"$HOME/c.toml"
         limits() { cat /sys/fs/cgroup/*/igloo/*/cpu.max | grep -v ^max; }
         exec 3< <(exec igloo run --env shell --config "$HOME/c.toml" 'echo up; sleep 1000')
         read -r seen <&3 && echo "$seen" && limits; kill $!; wait $! || :
         rm "$HOME/c.toml")sh",
       .says = "^up\n25000 100000\n"},
      {.name = "AnOutsiderIsToldThatNobodyLimitsProcessors",
       .who = {Who::kOutsider},
       .script = R"sh(
         printf '[limits]\ncpus = 1\n' >"$HOME/c.toml"
         igloo run --env shell --config "$HOME/c.toml" 'echo ran'
         igloo env show shell --config "$HOME/c.toml" | grep cpus; rm "$HOME/c.toml")sh",
       .says = "ran\n.*cpus .*1, which nobody limits here: .*nobody limits processors to 1 here"},
      {.name = "AServersRunsAreCountedToo",
       // On a prepared environment, which belongs to nobody when root started it.
       .script = R"sh(
         printf '[defaults]\nmemory_mb = 32\n' >"$HOME/c.toml"
         coproc server { exec igloo mcp --config "$HOME/c.toml"; }
         code='for i in 1 2 3; do dd if=/dev/zero of=/dev/null bs=24M & done; wait'
         echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run",' \
           '"arguments":{"env":"shell","code":"'"$code"'"}}}' >&${server[1]}
         read -r line <&${server[0]} && echo "$line"
         exec {server[1]}>&-; wait; rm "$HOME/c.toml")sh",
       .says = R"("verdict":"memory")"},
      {.name = "ASessionThatIsOutOfMemoryKeepsItsFiles",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         printf '[defaults]\nmemory_mb = 32\n' >"$HOME/c.toml"
         big='dd if=/dev/zero of=/dev/null bs=64M count=1'
         # one that fails, one that goes on for ever, and one in the background of a call that does not
         for each in "$big" "while :; do $big; done" "$big & wait; true"; do
           printf '%s\n' 'echo kept >/workspace/f; x=1' "$each" \
             'echo begun; sleep 0.3; echo "[$x]"; cat /workspace/f' |
             igloo repl --env shell --config "$HOME/c.toml" 2>&1
         done | grep -E '^(begun|\[\]|kept)$|killed for its memory in an earlier call'
         rm "$HOME/c.toml")sh",
       .says = "^(begun\n\\[\\]\nkept\n[^\n]*earlier call]\n){3}$"},
      {.name = "OneOutOfMemoryEndsTheWholeSandbox",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         igloo run --env shell --json --memory 32 'dd if=/dev/zero of=/dev/null bs=30M count=9 &
           dd if=/dev/zero of=/dev/null bs=30M count=9 & sleep 1000')sh",
       .status = 137,
       .says = R"("verdict":"memory")"},
      {.name = "TooManyProcessesAreAVerdict",
       .who = {Who::kUser},
       .script = R"sh(
         igloo run --env shell --json 'for ((i = 0; i < 400; i++)); do sleep 100 & done; exit 3')sh",
       .status = 254,
       .says = R"("verdict":"processes")"},
      {.name = "LeavesAreUsedAgain",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         for ((i = 0; i < 24; i++)); do igloo run --env shell true & wait; done
         own=$(</proc/self/cgroup) && own=${own#0::/} && leaves=(/sys/fs/cgroup/"${own%%/*}"/igloo/*/)
         # A search begins at one of sixteen; the last of a sandbox may still be leaving the leaf there.
         echo $((${#leaves[@]} < 20)))sh",
       .says = "^1\n$"},
      {.name = "AForkBombIsContained",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         igloo run --env shell --timeout 15 'bomb() { bomb | bomb & }; bomb; sleep 100' 2>&1
         echo "bomb: $?" && igloo run --env shell 'echo fine')sh",
       .says = "fork: .*Resource temporarily unavailable.*\nbomb: 124\nfine\n$"},
      {.name = "NothingStaysWhenIglooIsKilled",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         exec 3< <(exec igloo run --env shell 'echo ready; sleep 1000')
         igloo=$!
         read -r line <&3 && echo "$line" && kill -KILL $igloo)sh",
       .says = "^ready\n$"},
      {.name = "APausedBoxStandsAndEndsWithIgloo",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         export HOME=/tmp/still.$$ && mkdir -p "$HOME/p" && cd "$HOME/p"
         exec 3< <(exec igloo agent --cmd bash --yes --network none --name one -- -c '
           echo up; while :; do :; done')
         igloo=$!
         read -r line <&3 && echo "$line"
         frozen() { cat /sys/fs/cgroup/*/igloo/*/cgroup.events | grep -c "frozen 1"; }
         used() { cat /sys/fs/cgroup/*/igloo/*/cpu.stat | grep ^usage_usec; }
         frozen; igloo agent pause one; frozen; igloo agent list | grep -o paused
         before=$(used); igloo agent list >/dev/null; [[ $(used) == "$before" ]] && echo stands
         igloo agent resume one; frozen; igloo agent pause one
         kill -KILL $igloo; while igloo agent list 2>/dev/null | grep -q one; do :; done
         # Whoever gets the leaf next does not stand.
         for i in 1 2; do igloo run --env shell true || echo failed; done
         cd / && rm -r "$HOME")sh",
       .says = "^up\n0\nbox 'one' is paused\n1\npaused\nstands\nbox 'one' goes on\n0\n"
               "box 'one' is paused\n$"},
      {.name = "ABoxOutOfMemoryLosesOneProcessAndGoesOn",
       .who = {Who::kRoot, Who::kUser},
       .script = R"sh(
         export HOME=/tmp/memory.$$ && mkdir -p "$HOME/p" && cd "$HOME/p"
         igloo agent --cmd bash --yes --network none --memory 32 -- -c '
           dd if=/dev/zero of=/dev/null bs=64M count=1; echo after $?'
         cd / && rm -r "$HOME")sh",
       .says = "after 137\n.*ran into its limit of 32 MB of memory"},
  };
  return kCases;
}

struct Trial {
  Case what;
  Who who;
  std::string Script() const { return what.name + "." + std::string(Name(who)); }
};
void PrintTo(const Trial& trial, std::ostream* out) { *out << trial.what.script; }

std::vector<Trial> Trials() {
  std::vector<Trial> trials;
  for (const Case& each : Cases()) {
    for (const Who who : each.who) trials.push_back({each, who});
  }
  return trials;
}

/// One boot for all trials of this program.
const GuestRun& TheRun() {
  static const GuestRun kRun = [] {
    std::map<std::string, std::string> scripts;
    for (const Trial& each : Trials()) scripts[each.Script()] = each.what.script;
    return RunInGuest(scripts);
  }();
  return kRun;
}

TEST(TheGuest, RunsToItsEnd) { EXPECT_EQ(TheRun().trouble, ""); }

class Guest : public ::testing::TestWithParam<Trial> {};

TEST_P(Guest, KeepsThePromise) {
  const Case& expected = GetParam().what;
  const auto found = TheRun().reports.find(GetParam().Script());
  if (found == TheRun().reports.end()) FAIL() << "no report of it";
  const Report& report = found->second;
  EXPECT_EQ(report.status, expected.status) << report.out << report.err;
  EXPECT_THAT(report.out + report.err, ContainsRegex(expected.says));
  EXPECT_EQ(report.left, "") << "left behind";
}

INSTANTIATE_TEST_SUITE_P(All, Guest, ::testing::ValuesIn(Trials()), [](const auto& trial) {
  return trial.param.what.name + "_" + std::string(Name(trial.param.who));
});

TEST(GuestReports, AreReadByTheirLength) {
  const GuestRun run =
      ReadReports("case a.root 3 6 4 0\nend\nx\nerr\ncase b.user 0 0 0 2\ny\nend\n");
  EXPECT_EQ(run.trouble, "");
  EXPECT_EQ(run.reports, (Reports{{"a.root", {.status = 3, .out = "end\nx\n", .err = "err\n"}},
                                  {"b.user", {.status = 0, .left = "y\n"}}}));
}

TEST(GuestReports, OfAGuestThatDiedAreThoseBefore) {
  for (const char* rest : {"", "case b.user 0 5 0 0\nx", "case b", "Kernel panic\n", "end"}) {
    const GuestRun run = ReadReports(std::string("case a.root 0 0 0 0\n") + rest);
    EXPECT_EQ(run.reports.size(), 1U) << rest;
    EXPECT_NE(run.trouble, "") << rest;
  }
}

}  // namespace
}  // namespace igloo::testing
