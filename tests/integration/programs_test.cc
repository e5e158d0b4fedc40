// Code without a session: the plain program of an interpreter that waited for its file.

#include "support/programs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

struct Program {
  const char* name = nullptr;
  const char* code = nullptr;
  int status = 0;
  const char* output = "";
};

class BashPrograms : public ::testing::TestWithParam<Program> {};

TEST_P(BashPrograms, EndAsTheyEnd) {
  Programs programs("shell");
  // More than once, and with code that comes early and late: who of the two is first is the
  // kernel's to decide.
  for (int i = 0; i < 6; ++i) {
    const auto program = programs.Prepare();
    if (i % 2 == 0) ASSERT_NE(WaitForProgram("bash"), 0);
    const auto result = programs.Go(*program, GetParam().code);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->exit_code, GetParam().status) << result->error.kept();
    EXPECT_EQ(result->output.kept(), GetParam().output);
    EXPECT_FALSE(program->never_began());
  }
}

constexpr Program kPrograms[] = {
    {"Fine", "echo 1", 0, "1\n"},
    {"Empty", "", 0, ""},
    {"Fails", "echo 1; false", 1, "1\n"},
    {"FailsUnderErrexit", "set -e; false; echo 1", 1, ""},
    {"IsKilled", "echo 1; kill -9 $$", 137, "1\n"},
    {"ExitsLater", "sleep 0.05; exit 4", 4, ""},
    {"UsesAnyNumber", "exec 3>f 58>&3 59>g; echo 1 >&58; echo 2 >&59; cat f g; false", 1, "1\n2\n"},
    {"AsksForNothing", "read -r line || echo none", 0, "none\n"},
    {"Trap", "trap 'echo end' EXIT; echo 1", 0, "1\nend\n"},
    {"HearsNoSignal", "trap 'echo signal' CONT TSTP USR1; : ; : ; echo 1", 0, "1\n"},
    {"FindsItsFile", "echo $0 ${BASH_SOURCE[0]}; stat -c %A-%U /run/igloo/main.sh; ls /run/igloo",
     0, "/run/igloo/main.sh /run/igloo/main.sh\n-r--r--r---user\nmain.sh\n"},
    {"HasNoMoreDescriptors", "set -- /proc/$$/fd/*; echo ${@##*/}", 0, "0 1 2 255 3\n"},
};

INSTANTIATE_TEST_SUITE_P(All, BashPrograms, ::testing::ValuesIn(kPrograms),
                         [](const auto& each) { return each.param.name; });

/// /run/igloo is read-only while the code comes and ever after; the control is igloo, who writes.
TEST(ProgramsTest, NobodyInsideWritesWhereTheCodeIs) {
  Programs programs("shell");
  const auto program = programs.Prepare();
  const auto result = programs.Go(*program, R"sh(
f=/run/igloo/main.sh
for try in "echo x >$f" "echo x >>$f" "rm -f $f" "mv $f /tmp/f" "chmod 777 $f" "chmod 777 /run/igloo" \
    "touch $f" "touch /run/igloo/.new" "mkdir /run/igloo/d" "ln $f /tmp/l" "ln -s x /run/igloo/l" \
    "truncate -s 0 $f" "mkfifo /run/igloo/p" "echo x >/proc/self/fd/255" "mount -o remount,rw /run/igloo" \
    "umount /run/igloo"; do
  if (eval "$try") 2>/dev/null; then echo "done: $try"; fi
done
ls -A /run/igloo)sh");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->output.kept(), "main.sh\n");
}

TEST(ProgramsTest, ItsTimeBeginsWithItsCode) {
  Programs programs("python");
  const auto program = programs.Prepare();
  ASSERT_NE(WaitForProgram("python3"), 0);
  const auto result = programs.Go(*program, "while True: pass", 300);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->verdict, session::Verdict::kTimeout);
  EXPECT_THAT(result->error.kept(), HasSubstr("KeyboardInterrupt"));
  EXPECT_GE(result->usage.wall_micros, 300'000U);
}

/// What it used until its code came was not the code's.
TEST(ProgramsTest, ItsFiguresAreThoseOfItsCode) {
  Programs programs("node");
  const auto early = programs.Prepare();
  const auto whole = programs.Go(*early, "1");
  const auto late = programs.Prepare();
  ASSERT_NE(WaitForProgram("node"), 0);
  const auto rest = programs.Go(*late, "1");
  ASSERT_TRUE(whole && rest);
  EXPECT_LT(rest->usage.cpu_micros, whole->usage.cpu_micros);
  EXPECT_GT(rest->usage.peak_kib, 0U);
}

/// Whatever vanishes before its code has begun nothing; nobody else may be asked to begin it again.
TEST(ProgramsTest, KnowWhetherTheyBegan) {
  Programs programs("shell");
  const auto init = [] {
    for (const ProcessInfo& each : DescendantsOf(::getpid())) {
      if (each.name == "igloo-init" && each.state != 'Z') return each.pid;
    }
    return pid_t{0};
  };
  // It has its name in a moment.
  const auto kill_init = [&] {
    ASSERT_TRUE(WaitFor([&] { return init() > 0; }, 30));
    ::kill(init(), SIGKILL);
  };
  const auto gone = programs.Prepare();
  kill_init();
  ASSERT_TRUE(WaitFor([&] { return init() == 0; }, 30));
  // It has not heard of it yet.
  const auto unheard = programs.Go(*gone, "echo 1");
  EXPECT_FALSE(unheard && unheard->exit_code == 0);
  EXPECT_TRUE(gone->never_began());

  const auto begun = programs.Prepare();
  const auto killed = programs.Go(*begun, "kill -9 -1; kill -9 $$");
  EXPECT_FALSE(begun->never_began());

  ASSERT_TRUE(WaitFor([&] { return init() == 0; }, 30));
  const auto heard = programs.Prepare();
  kill_init();
  EXPECT_TRUE(programs.RunUntil([&] { return !heard->waits(); }));
  EXPECT_TRUE(heard->never_began());
}

TEST(ProgramsTest, NothingOfALargeOutputIsLost) {
  Programs programs("shell");
  const auto program = programs.Prepare();
  const auto result = programs.Go(*program, "head -c 700000 /dev/zero | tr '\\0' x; echo");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_EQ(result->output.total(), 700'001U);
}

/// Its bytes are its file: of any length, and with any value.
TEST(ProgramsTest, CodeArrivesAsItIs) {
  Programs programs("python");
  const std::string code = "# " + std::string(3'000'000, 'x') +
                           "\nimport zlib; print(zlib.crc32(open(__file__, 'rb').read()))";
  const auto direct = Igloo({"run", "--env", "python", "-"}, code);
  const auto program = programs.Prepare();
  const auto result = programs.Go(*program, code);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->output.kept(), direct.out);
  EXPECT_EQ(result->exit_code, 0);
}

TEST(ProgramsTest, HashesDifferFromRunToRun) {
  Programs programs("python");
  std::set<std::string> seen;
  for (int i = 0; i < 3; ++i) {
    const auto program = programs.Prepare();
    const auto result = programs.Go(*program, "print(hash('x'), id(object()))");
    ASSERT_TRUE(result) << result.error().what;
    seen.insert(result->output.kept());
  }
  EXPECT_EQ(seen.size(), 3U);
}

class LongOrders : public ::testing::TestWithParam<const char*> {};

TEST_P(LongOrders, ArriveWholeAndThoseBehindThem) {
  Interpreters interpreters(GetParam());
  const auto open = interpreters.Open(Interpreters::From::kStart);
  ASSERT_TRUE(open) << interpreters.error();
  const bool node = GetParam() == std::string_view("node");
  const std::string comment = node ? "// " : "# ";
  const std::string print = node                                     ? "console.log(1)"
                            : GetParam() == std::string_view("bash") ? "echo 1"
                            : GetParam() == std::string_view("ruby") ? "puts 1"
                                                                     : "print(1)";
  for (const std::size_t size : {std::size_t{1}, std::size_t{4000}, std::size_t{5000},
                                 std::size_t{300'000}, std::size_t{2}}) {
    EXPECT_EQ(interpreters.Say(*open, comment + std::string(size, 'x') + "\n" + print), "1\n")
        << size;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LongOrders, ::testing::Values("python", "node", "bash", "ruby"));

/// A session's driver puts the channel where it is not in the way, if there is room for it.
TEST(BashSessionTest, FewOpenFilesAreEnough) {
  for (const std::uint64_t most : {16, 59, 60}) {
    Interpreters interpreters("bash");
    interpreters.AllowOpenFiles(most);
    const auto session = interpreters.Open(Interpreters::From::kStart);
    ASSERT_TRUE(session) << interpreters.error();
    EXPECT_EQ(interpreters.Say(*session, "ulimit -n; exec 12>f; echo 1 >&12; cat f; file=x"),
              std::to_string(most) + "\n1\n");
    EXPECT_EQ(interpreters.Say(*session, "echo $file"), "x\n");
  }
}

}  // namespace
}  // namespace igloo::testing
