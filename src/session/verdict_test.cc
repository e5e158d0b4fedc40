#include "session/verdict.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

namespace igloo::session {
namespace {

using wire::EndCause;
using wire::EndKind;

TEST(VerdictTest, FollowsTheCauseBeforeTheProgram) {
  struct Row {
    EndKind kind;
    EndCause cause;
    std::uint32_t status;
    Verdict verdict;
    int exit_code;
  };
  for (const Row& row : {
           Row{EndKind::kExited, EndCause::kItself, 0, Verdict::kOk, 0},
           Row{EndKind::kExited, EndCause::kItself, 7, Verdict::kExit, 7},
           Row{EndKind::kSignalled, EndCause::kItself, 11, Verdict::kSignal, 139},
           Row{EndKind::kExited, EndCause::kTimeLimit, 0, Verdict::kTimeout, 124},
           Row{EndKind::kSignalled, EndCause::kTimeLimit, 9, Verdict::kTimeout, 124},
           Row{EndKind::kSignalled, EndCause::kMemory, 9, Verdict::kMemory, 137},
           Row{EndKind::kSignalled, EndCause::kInterrupted, 2, Verdict::kInterrupted, 130},
           Row{EndKind::kSignalled, EndCause::kKilled, 9, Verdict::kKilled, 137},
       }) {
    const wire::Ended ended{.kind = row.kind, .cause = row.cause, .status = row.status};
    EXPECT_EQ(VerdictOf(ended, {}, {}), row.verdict) << Name(row.verdict);
    EXPECT_EQ(ExitCodeOf(ended, row.verdict), row.exit_code) << Name(row.verdict);
  }
}

TEST(VerdictTest, NamesTheLimitThatAFailureRanInto) {
  const wire::Ended failed{.kind = EndKind::kExited, .status = 1};
  const wire::Ended fine{.kind = EndKind::kExited, .status = 0};
  EXPECT_EQ(VerdictOf(failed, {.group = {.memory = true}}, {}), Verdict::kMemory);
  EXPECT_EQ(VerdictOf(failed, {.group = {.processes = true}}, {}), Verdict::kProcesses);
  EXPECT_EQ(VerdictOf(fine, {.group = {.memory = true, .processes = true}}, {}), Verdict::kOk)
      << "it coped";
  EXPECT_EQ(VerdictOf(fine, {.too_much_output = true}, {}), Verdict::kOutput);
  wire::Ended inside = failed;
  inside.hits = wire::kHitProcesses;
  EXPECT_EQ(VerdictOf(inside, {}, {}), Verdict::kProcesses);
  inside.hits = wire::kHitProcesses | wire::kHitDisk;
  EXPECT_EQ(VerdictOf(inside, {}, {}), Verdict::kDisk);
  const wire::Ended large{.kind = EndKind::kSignalled, .status = SIGXFSZ};
  EXPECT_EQ(VerdictOf(large, {}, {}), Verdict::kDisk);
}

TEST(VerdictTest, ProcessorTimeIsTime) {
  const sandbox::Payload payload{.limits = {{"cpu", RLIMIT_CPU, 2}}};
  wire::Ended ended{.kind = EndKind::kSignalled, .status = SIGKILL, .cpu_micros = 2'000'100};
  EXPECT_EQ(VerdictOf(ended, {}, payload), Verdict::kTimeout);
  ended.cpu_micros = 1'000'000;
  EXPECT_EQ(VerdictOf(ended, {}, payload), Verdict::kSignal) << "somebody else's signal";
  ended.status = SIGXCPU;
  EXPECT_EQ(VerdictOf(ended, {}, {}), Verdict::kSignal) << "nobody limited it";
}

}  // namespace
}  // namespace igloo::session
