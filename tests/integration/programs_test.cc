// Code that is the whole program of an interpreter that waited for it: its end is told in several
// ways, and each of them has to be what the program did.

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using From = Interpreters::From;
using ::testing::HasSubstr;

struct Program {
  const char* name = nullptr;
  const char* code = nullptr;
  int status = 0;
  const char* output = "";
};

class BashPrograms : public ::testing::TestWithParam<Program> {};

TEST_P(BashPrograms, EndAsTheyEnd) {
  Interpreters interpreters("bash");
  // More than once: who of the two runs first, and where, is the kernel's to decide.
  for (int i = 0; i < 5; ++i) {
    const auto open = interpreters.Open(From::kStart);
    ASSERT_TRUE(open) << interpreters.error();
    const auto result = interpreters.Once(*open, GetParam().code);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->exit_code, GetParam().status) << result->error.kept();
    EXPECT_EQ(result->output.kept(), GetParam().output);
  }
}

constexpr Program kPrograms[] = {
    {"Fine", "echo 1", 0, "1\n"},
    {"Empty", "", 0, ""},
    {"Fails", "echo 1; false", 1, "1\n"},
    {"FailsFirst", "false; echo 1", 0, "1\n"},
    {"Exits", "echo 1; exit 5", 5, "1\n"},
    {"ExitsWithZero", "echo 1; exit", 0, "1\n"},
    {"FailsUnderErrexit", "set -e; false; echo 1", 1, ""},
    {"FineUnderErrexit", "set -e; echo 1", 0, "1\n"},
    {"IsKilled", "echo 1; kill -9 $$", 137, "1\n"},
    // Longer than what is waited for on the spot.
    {"FineLater", "sleep 0.05; echo 1", 0, "1\n"},
    {"FailsLater", "sleep 0.05; echo 1; (exit 3)", 3, "1\n"},
    {"ExitsLater", "sleep 0.05; exit 4", 4, ""},
    {"HasNoMoreOrders", "exec 58<&-; echo 1; (exit 6)", 6, "1\n"},
    {"HasNoChannel", "exec 58<&- 59>&-; echo 1", 0, "1\n"},
    {"HasNoMoreOrdersUnderErrexit", "set -e; exec 58<&-; echo 1", 0, "1\n"},
    {"UsesItsOwnNumbers", "exec 10>f 11>&10 12>g; echo 1 >&11; echo 2 >&12; cat f g; false", 1,
     "1\n2\n"},
    {"AsksForNothing", "read -r line || echo none", 0, "none\n"},
    {"Trap", "trap 'echo end' EXIT; echo 1", 0, "1\nend\n"},
};

INSTANTIATE_TEST_SUITE_P(All, BashPrograms, ::testing::ValuesIn(kPrograms),
                         [](const auto& each) { return each.param.name; });

/// Whoever reads the host's word itself tells an end that is none: a lie about itself alone, and
/// its last.
TEST(BashProgramsTest, OneThatPretendsToHaveEndedIsEnded) {
  Interpreters interpreters("bash");
  const auto open = interpreters.Open(From::kStart);
  ASSERT_TRUE(open) << interpreters.error();
  const auto result =
      interpreters.Once(*open, "echo 1; read -r -N 1 -u 58; sleep 1000; echo never");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_EQ(result->output.kept(), "1\n");
}

/// Nothing can be written to a sandbox that is gone, and nothing is left to be read: no end of the
/// program.
TEST(BashProgramsTest, OneWhoseSandboxIsGoneHasNotEndedWell) {
  Interpreters interpreters("bash");
  const auto open = interpreters.Open(From::kStart);
  ASSERT_TRUE(open) << interpreters.error();
  const auto init = [] {
    for (const ProcessInfo& each : DescendantsOf(::getpid())) {
      if (each.name == "igloo-init" && each.state != 'Z') return each.pid;
    }
    return pid_t{0};
  };
  ASSERT_GT(init(), 0);
  ::kill(init(), SIGKILL);
  ASSERT_TRUE(WaitFor([&] { return init() == 0; }, 30));
  const auto result = interpreters.Once(*open, "echo 1");
  EXPECT_FALSE(result && result->exit_code == 0) << result->output.kept();
}

/// Its driver puts the channel where it is not in the way, if there is room for it.
TEST(BashProgramsTest, FewOpenFilesAreEnough) {
  for (const std::uint64_t most : {16, 59, 60}) {
    Interpreters interpreters("bash");
    interpreters.AllowOpenFiles(most);
    const auto program = interpreters.Open(From::kStart);
    ASSERT_TRUE(program) << interpreters.error();
    const auto result = interpreters.Once(*program, "ulimit -n; exec 12>f; echo 1 >&12; cat f");
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->output.kept(), std::to_string(most) + "\n1\n");
    const auto session = interpreters.Open(From::kStart);
    ASSERT_TRUE(session) << interpreters.error();
    EXPECT_EQ(interpreters.Say(*session, "ulimit -n; file=x"), std::to_string(most) + "\n");
    EXPECT_EQ(interpreters.Say(*session, "echo $file"), "x\n");
  }
}

TEST(BashProgramsTest, NothingOfALargeOutputIsLost) {
  Interpreters interpreters("bash");
  const auto open = interpreters.Open(From::kStart);
  ASSERT_TRUE(open) << interpreters.error();
  const auto result = interpreters.Once(*open, "head -c 700000 /dev/zero | tr '\\0' x; echo");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_EQ(result->output.total(), 700'001U);
}

class LongOrders : public ::testing::TestWithParam<const char*> {};

/// The pipe takes a page at once to begin with.
TEST_P(LongOrders, ArriveWholeAndThoseBehindThem) {
  Interpreters interpreters(GetParam());
  const auto open = interpreters.Open(From::kStart);
  ASSERT_TRUE(open) << interpreters.error();
  const bool node = GetParam() == std::string_view("node");
  const std::string comment = node ? "// " : "# ";
  const std::string print = node                                     ? "console.log(1)"
                            : GetParam() == std::string_view("bash") ? "echo 1"
                                                                     : "print(1)";
  for (const std::size_t size : {std::size_t{1}, std::size_t{4000}, std::size_t{5000},
                                 std::size_t{300'000}, std::size_t{2}}) {
    EXPECT_EQ(interpreters.Say(*open, comment + std::string(size, 'x') + "\n" + print), "1\n")
        << size;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LongOrders, ::testing::Values("python", "node", "bash"));

}  // namespace
}  // namespace igloo::testing
