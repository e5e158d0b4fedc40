// What igloo keeps about refusals is chosen by code in boxes: a flood of them fills neither igloo's
// memory nor its files, hides nothing that came before it, and keeps nobody else waiting.

#include "agent/refusals.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "base/file.h"
#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using agent::BoxRefusals;
using agent::RefusalKind;
using ::testing::HasSubstr;

/// More than igloo keeps of any kind, by far.
constexpr std::uintmax_t kMostKept = 1U << 20;

class RefusalFlood : public AgentBox {
 protected:
  BoxRefusals Kept() const {
    const auto text = ReadFile(State("refusals/bash-project.json"), 64U << 20);
    EXPECT_TRUE(text);
    auto refusals = BoxRefusals::Decode(text ? *text : "");
    EXPECT_TRUE(refusals);
    return refusals ? *std::move(refusals) : BoxRefusals{};
  }
  std::string State(const std::string& name) const {
    return home() + "/.local/state/igloo/" + name;
  }
  static std::uint64_t CountOf(const BoxRefusals& refusals, RefusalKind kind,
                               std::string_view what) {
    std::uint64_t count = 0;
    for (const auto& each : refusals.list.rows()) {
      if (each.kind == kind && each.what.contains(what)) count += each.count;
    }
    return count;
  }
};

/// Says how many calls were refused, and how long a list of them would be: it is a flood.
constexpr const char* kCallFlood = R"(
  unshare -r true 2>/dev/null
  perl -e '
    my ($refused, $bytes) = (0, 0);
    for my $i (1 .. 1_000_000) {
      $refused++ if syscall(101, 0x4200 + $i, $i, 0, 0) == -1 && $!{EPERM};
      $bytes += length("ptrace $i\n");
    }
    print "$refused refused, $bytes bytes\n"')";

TEST_F(RefusalFlood, AMillionDistinctCallsAreOneRow) {
  const Outcome flood = InBox(kCallFlood);
  EXPECT_EQ(flood.out, "1000000 refused, 13888896 bytes\n") << flood.err;
  const BoxRefusals kept = Kept();
  EXPECT_EQ(CountOf(kept, RefusalKind::kCall, "ptrace"), 1'000'000U);
  EXPECT_EQ(CountOf(kept, RefusalKind::kCall, "unshare"), 1U) << "what came before is there";
  EXPECT_LE(kept.list.rows().size(), 4U);
  EXPECT_LT(fs::file_size(State("refusals/bash-project.json")), kMostKept);
}

TEST_F(RefusalFlood, ManyProgramsAndManyFilesHaveBounds) {
  const Outcome flood = InBox(
      "unshare -r true 2>/dev/null; cp /usr/bin/unshare u; "
      "for i in $(seq 300); do ln u u$i; ./u$i -r true 2>/dev/null; rm u$i; done; "
      "perl -e 'my $bytes = 0; for my $i (1 .. 100_000) { my $name = \"/usr/\" . \"x\" x 200 . $i; "
      "open(my $f, \">\", $name) and die; $bytes += length $name } print \"$bytes bytes\\n\"'",
      {"--learn"});
  EXPECT_EQ(flood.out, "20988895 bytes\n") << flood.err;
  const BoxRefusals kept = Kept();
  EXPECT_EQ(CountOf(kept, RefusalKind::kCall, "unshare"), 1U + 63U) << "each program once";
  EXPECT_EQ(CountOf(kept, RefusalKind::kCall, "other calls"), 301U - 63U);
  EXPECT_GT(kept.list.more(), 10'000U);
  EXPECT_LT(fs::file_size(State("refusals/bash-project.json")), kMostKept);
  EXPECT_LT(fs::file_size(State("learned/bash-project.toml")), kMostKept);
}

TEST_F(RefusalFlood, ABoxThatFloodsCanBeEnteredAndStopped) {
  Running box(
      Script("echo up; perl -e 'while (1) { syscall(101, 1, 1, 0, 0) }' & "
             "perl -e 'my $i; while (1) { open(my $f, \">\", \"/usr/\" . $i++) }'",
             {"--learn"}));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  Terminal inside =
      AtTerminal(AgentBox::Agent({"enter", "bash-project", "--", "bash", "-c", "echo in''side"}));
  EXPECT_EQ(inside.Finish(), 0) << inside.output();
  EXPECT_THAT(inside.output(), HasSubstr("inside"));
  EXPECT_TRUE(WaitFor([&] {
    const auto text = ReadFile(State("refusals/bash-project.json"), 64U << 20);
    return text && text->contains("ptrace");
  })) << "and is told of";
  const Outcome stopped = RunProgram(AgentBox::Agent({"stop", "bash-project"}));
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  box.Finish();
}

/// What igloo-init listens with is the answer to every refused call.
TEST_F(RefusalFlood, NoProgramGetsHoldOfTheListener) {
  const std::string attack =
      "kill -9 1; kill -STOP 1; ls -l /proc/1/fd 2>/dev/null | grep -c seccomp; "
      "ls -l /proc/self/fd | grep -c seccomp; "
      "python3 -c 'import ctypes\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "fd = libc.syscall(434, 1, 0)\n"  // pidfd_open, then pidfd_getfd
      "print(sum(libc.syscall(438, fd, n, 0) >= 0 for n in range(64)))'; "
      "unshare -r true; cat file";
  const Outcome held = InBox(attack, {"--learn"});
  EXPECT_EQ(held.out, "0\n0\n0\nold\n") << held.err;
  EXPECT_THAT(held.err, HasSubstr("unshare failed: Operation not permitted"));
  // The control: where nothing keeps them apart, one process takes another one's descriptors.
  const Outcome control =
      RunProgram({.program = "/usr/bin/python3",
                  .args = {"-c",
                           "import ctypes, subprocess\n"
                           "libc = ctypes.CDLL(None, use_errno=True)\n"
                           "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
                           "fd = libc.syscall(434, child.pid, 0)\n"
                           "print(sum(libc.syscall(438, fd, n, 0) >= 0 for n in range(64)) > 0)\n"
                           "child.communicate()"}});
  EXPECT_EQ(control.out, "True\n") << control.err;
}

TEST_F(RefusalFlood, ABoxEndsWithWhoeverHearsItsCalls) {
  const std::string marker = UniqueMarker();
  Running box(Script("echo up; exec -a " + marker +
                         " perl -e 'while (1) { open(my $f, \"<\", \"file\") }' " + marker,
                     {"--learn"}));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  ASSERT_TRUE(WaitFor([&] { return !FindMarked(marker).empty(); }));
  const auto status =
      ReadFile("/proc/" + std::to_string(FindMarked(marker).front()) + "/status", 64U << 10);
  ASSERT_TRUE(status);
  const pid_t init = std::stoi(status->substr(status->find("PPid:") + 5));
  ASSERT_EQ(::kill(init, SIGKILL), 0);
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
  EXPECT_EQ(box.Finish().status, 125);
}

}  // namespace
}  // namespace igloo::testing
