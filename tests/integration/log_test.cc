// 'igloo log' as people type it, over journals that the server's own code wrote.

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "audit/journal.h"
#include "support/configured.h"
#include "support/running.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LogCli : public Configured {
 protected:
  std::string State() const { return Path(".local/state/igloo"); }
  audit::JournalOptions Options() const { return {.directory = State()}; }
  static audit::Record Call(int number, std::string verdict = "ok") {
    // 2026-11-15T11:00:00Z and a minute for each.
    audit::Record record{.time = audit::Time(std::chrono::minutes(29'912'340 + number)),
                         .tool = "run",
                         .client = "claude-code 2.0",
                         .environment = "python",
                         .verdict = std::move(verdict),
                         .exit_code = 0,
                         .duration_ms = 120,
                         .peak_memory_bytes = 12U << 20};
    record.Describe("call " + std::to_string(number));
    return record;
  }
  void Log(const audit::Record& record) const {
    ASSERT_TRUE(audit::Journal(Options()).Write(record));
  }
  Invocation Following(std::vector<std::string> args = {}) const {
    args.insert(args.begin(), {"log", "--follow"});
    return {.program = BinDirectory() + "/igloo",
            .args = std::move(args),
            .env = {"PATH=/usr/bin:/bin", "HOME=" + Path(""), "TZ=UTC0"}};
  }
  static long Lines(std::string_view text) { return std::ranges::count(text, '\n'); }
};

TEST_F(LogCli, SaysThatThereIsNoneYetAndMakesNone) {
  const Outcome outcome = Run({"log"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("there is no log of calls yet"), HasSubstr("MCP server")));
  EXPECT_FALSE(fs::exists(State()));
  EXPECT_EQ(Run({"log", "--json"}).out, "");
}

TEST_F(LogCli, ShowsOneLineForEachCallTheNewestLast) {
  for (int i = 0; i < 30; ++i) Log(Call(i));
  const Outcome outcome = Run({"log"}, {"TZ=UTC0"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(Lines(outcome.out), 20);
  EXPECT_THAT(outcome.out, StartsWith("2026-11-15 11:10:00  ok           python             120 ms"
                                      "    12 MB  "));
  EXPECT_THAT(outcome.out, HasSubstr("\n2026-11-15 11:29:00  ok "));
  EXPECT_THAT(outcome.out, EndsWith("  run       claude-code 2.0\n"));
  EXPECT_THAT(outcome.out, HasSubstr(Call(29).code_sha256.substr(0, 12)));
  EXPECT_EQ(Lines(Run({"log", "--limit", "3"}).out), 3);
  EXPECT_EQ(Lines(Run({"log", "--limit=1000"}).out), 30);
  EXPECT_THAT(Run({"log", "--limit", "1"}, {"TZ=XYZ-9"}).out, StartsWith("2026-11-15 20:29:00"));
}

TEST_F(LogCli, Filters) {
  Log(Call(0));
  Log(Call(1, "timeout"));
  audit::Record other = Call(2);
  other.environment = "node";
  other.client = "codex 1";
  Log(other);
  audit::Record now = Call(3, "failed");
  now.time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  now.error = "there is no environment 'x'";
  Log(now);
  EXPECT_EQ(Lines(Run({"log", "--env", "python"}).out), 3);
  EXPECT_THAT(Run({"log", "--env", "node"}).out, EndsWith("codex 1\n"));
  EXPECT_THAT(Run({"log", "--client", "codex"}).out, HasSubstr(" node "));
  EXPECT_THAT(Run({"log", "--verdict", "timeout"}).out, HasSubstr("timeout"));
  EXPECT_THAT(Run({"log", "--since", "2026-11-15T11:01:00Z", "--env", "python", "--limit", "9"},
                  {"TZ=UTC0"})
                  .out,
              Not(HasSubstr("11:00:00")));
  EXPECT_THAT(Run({"log", "--verdict", "failed", "--since", "1h"}).out,
              EndsWith("  there is no environment 'x'\n"));
  const Outcome none = Run({"log", "--client", "cursor"});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no call in the log is as asked for"));
}

TEST_F(LogCli, JsonIsWhatWasWrittenWhoeverWroteIt) {
  Log(Call(0));
  const std::string line =
      R"({"time":"2026-11-15T11:13:50.123Z","from_the_future":[1,2],"verdict":"ok"})"
      "\n";
  std::ofstream(audit::JournalFile(State()), std::ios::app) << line;
  audit::Record written = Call(0);
  written.code.reset();
  EXPECT_EQ(Run({"log", "--json"}).out, audit::Encode(written) + line);
}

TEST_F(LogCli, TheCodeIsNowhereUnlessItWasKept) {
  Log(Call(7));
  EXPECT_THAT(Run({"log", "--json"}).out, Not(HasSubstr("call 7")));
  audit::JournalOptions options = Options();
  options.code = audit::KeepCode::kYes;
  ASSERT_TRUE(audit::Journal(options).Write(Call(8)));
  EXPECT_THAT(Run({"log", "--json"}).out, HasSubstr("\"call 8\""));
  EXPECT_THAT(Run({"log"}).out, Not(HasSubstr("call 8")));
}

TEST_F(LogCli, ReadsAcrossRotatedFiles) {
  audit::JournalOptions options = Options();
  options.rotate_bytes = 1000;
  audit::Journal journal(options);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(journal.Write(Call(i)));
  ASSERT_TRUE(fs::exists(audit::JournalFile(State(), 3)));
  const Outcome outcome = Run({"log", "--limit", "8"}, {"TZ=UTC0"});
  EXPECT_EQ(Lines(outcome.out), 8);
  EXPECT_THAT(outcome.out, StartsWith("2026-11-15 11:04:00"));
}

TEST_F(LogCli, BrokenLinesAreNamedAndTheRestIsShown) {
  Log(Call(0));
  std::ofstream(audit::JournalFile(State()), std::ios::app) << "not a record\n\x1b[2J\n{\"time\":";
  Log(Call(1));
  const Outcome outcome = Run({"log"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(Lines(outcome.out), 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("3 lines of the log are no records, ignoring: "),
                                 HasSubstr("runs.jsonl' at byte ")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));
}

TEST_F(LogCli, NothingInALogReachesTheTerminalAsItIs) {
  fs::create_directories(State());
  std::ofstream(audit::JournalFile(State()))
      << R"({"time":"2026-11-15T11:13:50.123Z","client":"\u001b[2Jx","error":"a\nb","tool":"\u202e"})"
      << "\n";
  const Outcome outcome = Run({"log"});
  EXPECT_EQ(Lines(outcome.out), 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\\x1b[2Jx"), HasSubstr("a\\x0ab")));
  EXPECT_THAT(outcome.out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
}

TEST_F(LogCli, WrongWordsHaveHints) {
  const auto error = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "log");
    const Outcome outcome = Run(args);
    EXPECT_EQ(outcome.status, 125);
    return outcome.err;
  };
  EXPECT_THAT(error({"--since", "soon"}), AllOf(HasSubstr("is not a time"), HasSubstr("15m, 2h")));
  EXPECT_THAT(error({"--verdict", "timeou"}), HasSubstr("did you mean 'timeout'?"));
  EXPECT_THAT(error({"--verdict", "whatever"}), HasSubstr("choose one of ok, exit"));
  EXPECT_THAT(error({"--limit", "-1"}), HasSubstr("--limit 100"));
  EXPECT_THAT(error({"--limit", "1000001"}), HasSubstr("up to 1000000"));
  EXPECT_THAT(error({"--env", ""}), HasSubstr("needs a name"));
  EXPECT_THAT(error({"python"}), HasSubstr("does not understand 'python'"));
  EXPECT_THAT(error({"--folow"}), HasSubstr("did you mean '--follow'?"));
  const Outcome homeless = RunProgram(
      {.program = BinDirectory() + "/igloo", .args = {"log"}, .env = {"PATH=/usr/bin:/bin"}});
  EXPECT_EQ(homeless.status, 125);
  EXPECT_THAT(homeless.err, HasSubstr("set HOME"));
}

TEST_F(LogCli, FollowsFromBeforeTheFirstCallOverRotationsUntilCtrlC) {
  Running follower(Following({"--json"}));
  audit::JournalOptions options = Options();
  options.rotate_bytes = 1;
  audit::Journal journal(options);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(journal.Write(Call(i)));
    ASSERT_TRUE(follower.WaitForOutput(Call(i).code_sha256)) << i;
  }
  fs::remove_all(State());
  ASSERT_TRUE(journal.Write(Call(4)));
  ASSERT_TRUE(follower.WaitForOutput(Call(4).code_sha256));
  follower.Signal(SIGINT);
  const Outcome outcome = follower.Finish();
  EXPECT_EQ(outcome.status, 128 + SIGINT);
  EXPECT_EQ(Lines(outcome.out), 5);
  // Whoever started first decides whether there was a log.
  EXPECT_THAT(outcome.err, ::testing::AnyOf("", HasSubstr("there is no log of calls yet")));
}

TEST_F(LogCli, FollowingShowsTheLastOnesFirstAndFilters) {
  for (int i = 0; i < 5; ++i) Log(Call(i));
  Running follower(Following({"--limit", "2", "--verdict", "ok"}));
  ASSERT_TRUE(follower.WaitForOutput("11:04:00"));
  Log(Call(5, "timeout"));
  Log(Call(6));
  ASSERT_TRUE(follower.WaitForOutput("11:06:00"));
  follower.Signal(SIGTERM);
  const Outcome outcome = follower.Finish();
  EXPECT_EQ(Lines(outcome.out), 3);
  EXPECT_THAT(outcome.out, Not(HasSubstr("timeout")));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(LogCli, FollowingEndsWhenNobodyReadsAnyMore) {
  Log(Call(0));
  Invocation shell = Following();
  shell.args = {"-c", "\"$0\" log --follow | head -n 1", shell.program};
  shell.program = "/bin/sh";
  const Outcome outcome = Running(shell).Finish();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(Lines(outcome.out), 1);
}

TEST_F(LogCli, ATerminalHasColours) {
  Log(Call(0));
  Log(Call(1, "timeout"));
  Terminal terminal("/usr/bin/env", {"HOME=" + Path(""), BinDirectory() + "/igloo", "log"});
  EXPECT_EQ(terminal.Finish(), 0);
  EXPECT_THAT(terminal.output(), AllOf(HasSubstr("\x1b[32mok "), HasSubstr("\x1b[31mtimeout ")));
}

}  // namespace
}  // namespace igloo::testing
