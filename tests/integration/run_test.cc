#include <gmock/gmock.h>

#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

TEST(Run, PrintsWhatTheCodePrints) {
  const Outcome shell = Igloo({"run", "--env", "shell", "echo one; echo two >&2"});
  EXPECT_EQ(shell.status, 0) << shell.err;
  EXPECT_EQ(shell.out, "one\n");
  EXPECT_EQ(shell.err, "two\n");
}

TEST(Run, PassesTheExitCodeOn) {
  EXPECT_EQ(Igloo({"run", "--env", "shell", "exit 7"}).status, 7);
  EXPECT_EQ(Igloo({"run", "--env", "python", "import sys; sys.exit(3)"}).status, 3);
  EXPECT_EQ(Igloo({"run", "--env", "node", "process.exit(5)"}).status, 5);
}

}  // namespace
}  // namespace igloo::testing
