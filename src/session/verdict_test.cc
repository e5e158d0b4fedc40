#include "session/verdict.h"

#include <gtest/gtest.h>

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
    EXPECT_EQ(VerdictOf(ended), row.verdict) << Name(row.verdict);
    EXPECT_EQ(ExitCodeOf(ended, row.verdict), row.exit_code) << Name(row.verdict);
  }
}

}  // namespace
}  // namespace igloo::session
