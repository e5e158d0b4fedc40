// What igloo prints and how it answers wrong command lines.

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "base/temp_dir.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
namespace json = boost::json;

std::set<std::string> KeysOf(const json::value& value) {
  std::set<std::string> keys;
  for (const auto& each : value.as_object()) keys.insert(std::string(each.key()));
  return keys;
}

TEST(Json, IsOneDocumentWithEveryField) {
  const Outcome outcome =
      Igloo({"run", "--env", "shell", "--json", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.err, "");
  const json::value document = json::parse(outcome.out);
  EXPECT_EQ(KeysOf(document),
            (std::set<std::string>{"verdict", "exit_code", "signal", "stdout", "stderr",
                                   "duration_ms", "cpu_ms", "peak_memory_kb", "landlock_abi",
                                   "parts", "refused", "warned", "refused_more", "put_right"}));
  EXPECT_EQ(document.at("verdict"), "exit");
  EXPECT_EQ(document.at("exit_code"), 3);
  EXPECT_TRUE(document.at("signal").is_null());
  EXPECT_EQ(document.at("stdout"), (json::value{{"text", "out\n"}, {"bytes", 4}, {"cut", false}}));
  EXPECT_EQ(document.at("stderr"), (json::value{{"text", "err\n"}, {"bytes", 4}, {"cut", false}}));
  EXPECT_GT(document.at("duration_ms").as_double(), 0);
  EXPECT_GE(document.at("cpu_ms").as_double(), 0);
  EXPECT_GT(document.at("peak_memory_kb").to_number<int>(), 0);
  EXPECT_GE(document.at("landlock_abi").to_number<int>(), 1);
}

TEST(Json, CutsLongOutputAndCountsItExactly) {
  const Outcome outcome = Igloo({"run", "--env", "shell", "--json",
                                 "head -c 9000001 /dev/zero | tr '\\0' x; "
                                 "head -c 8388608 /dev/zero | tr '\\0' y >&2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json::value document = json::parse(outcome.out);
  const json::value& out = document.at("stdout");
  EXPECT_EQ(out.at("bytes"), 9'000'001);
  EXPECT_EQ(out.at("cut"), true);
  EXPECT_TRUE(out.at("text").as_string() == std::string(8U << 20, 'x'));
  const json::value& err = document.at("stderr");
  EXPECT_EQ(err.at("bytes"), 8U << 20);
  EXPECT_EQ(err.at("cut"), false) << "exactly as much as is kept";
  EXPECT_TRUE(err.at("text").as_string() == std::string(8U << 20, 'y'));
}

TEST(Json, ReportsIgloosOwnFailures) {
  const Outcome outcome = Igloo({"run", "--env", "pyhton", "--json", "1"});
  EXPECT_EQ(outcome.status, 125);
  const json::value document = json::parse(outcome.out);
  EXPECT_EQ(document.at("verdict"), "error");
  EXPECT_EQ(document.at("error"), (json::value{{"what", "there is no environment 'pyhton'"},
                                               {"hint", "did you mean 'python'?"}}));
  const Outcome missing = Igloo({"run", "--env", "shell", "--json", "--", "/no/program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(json::parse(missing.out).at("verdict"), "error");
}

TEST(DryRun, DescribesThePlanTwiceAlike) {
  const std::vector<std::string> args = {"run",       "--env", "python",  "--dry-run",
                                         "--timeout", "2.5",   "print(1)"};
  const Outcome first = Igloo(args);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.err, "");
  for (const char* line : {"read-only  /usr <- /usr (a view: own inodes, no sockets)\n",
                           "private network: loopback and nothing else\n",
                           "empty the bounding set, lock securebits, set no_new_privs\n",
                           "drop every capability\n", "file       /run/igloo/main.py (8 bytes)\n",
                           "make the root read-only\n", "time       2.5 s, then interrupt"}) {
    EXPECT_THAT(first.out, HasSubstr(line));
  }
  EXPECT_EQ(first.out, Igloo(args).out);
}

TEST(DryRun, IsJsonOnDemand) {
  const std::vector<std::string> args = {"run", "--env", "shell", "--dry-run", "--json", "true"};
  const Outcome first = Igloo(args);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, Igloo(args).out);
  const json::value document = json::parse(first.out);
  EXPECT_THAT(KeysOf(document), ::testing::IsSupersetOf({"environment", "run", "payload"}));
}

TEST(DryRun, StartsNothing) {
  // Without the launcher beside it igloo can plan, but not run.
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string lonely = directory.path() + "/igloo";
  std::filesystem::copy_file(BinDirectory() + "/igloo-core", lonely);
  const auto run = [&](std::vector<std::string> args) {
    return RunProgram({.program = lonely, .args = std::move(args)});
  };
  const Outcome real = run({"run", "--env", "shell", "true"});
  EXPECT_EQ(real.status, 125) << "control: a real run needs the launcher";
  EXPECT_THAT(real.err, HasSubstr("igloo-jail is not beside"));
  EXPECT_EQ(run({"run", "--env", "shell", "--dry-run", "true"}).status, 0);
  EXPECT_EQ(run({"run", "--env", "shell", "--dry-run", "--json", "true"}).status, 0);
}

TEST(DryRun, PrintsABubblewrapCommand) {
  const std::vector<std::string> args = {"run",  "--env", "shell",           "--dry-run",
                                         "--as", "bwrap", "echo 'two words'"};
  const Outcome outcome = Igloo(args);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("bwrap \\\n"), HasSubstr("--unshare-net"),
                                 HasSubstr("--cap-drop ALL"), HasSubstr("--ro-bind /usr /usr"),
                                 HasSubstr("--remount-ro /")));
  EXPECT_EQ(outcome.out, Igloo(args).out);
  const Outcome alone = Igloo({"run", "--env", "shell", "--as", "bwrap", "true"});
  EXPECT_EQ(alone.status, 125);
  EXPECT_THAT(alone.err, HasSubstr("together with --dry-run"));
}

TEST(CommandLine, ShowsHelp) {
  for (const char* word : {"--help", "-h", "help"}) {
    const Outcome outcome = Igloo({word});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Usage: igloo COMMAND"), HasSubstr("\n  run ")));
  }
  const Outcome nothing = RunProgram({.program = BinDirectory() + "/igloo", .close_input = true});
  EXPECT_EQ(nothing.status, 125);
  EXPECT_THAT(nothing.out, HasSubstr("Usage: igloo COMMAND"));
  Terminal terminal(BinDirectory() + "/igloo", {});
  EXPECT_EQ(terminal.Finish(), 125);
  EXPECT_THAT(terminal.output(), HasSubstr("Usage: igloo COMMAND"));
}

TEST(CommandLine, WithoutAWordServesAProgramThatSpeaksToIt) {
  const Outcome outcome = Igloo({}, R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                                    "\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(R"("id":1)"));
}

TEST(CommandLine, ListsEveryOptionOfRun) {
  const Outcome outcome = Igloo({"run", "--help"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* flag : {"--env NAME", "--file FILE", "--project DIR[:MODE]", "--timeout SECONDS",
                           "--memory MB", "--network TIER", "--allow RULE", "--publish HOST:BOX",
                           "--reach PORT", "--secret NAME=SOURCE@HOST:HEADER", "--backend NAME",
                           "--json", "--dry-run", "--as bwrap", "--timing", "--help"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  ") + flag + " "));
  }
  EXPECT_THAT(outcome.out, HasSubstr("Examples:"));
}

TEST(CommandLine, SaysItsVersion) {
  const Outcome outcome = Igloo({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, MatchesRegex("igloo [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

struct WrongLine {
  std::vector<std::string> args;
  std::string what, hint;
};

TEST(CommandLine, AnswersMistakesWithAdvice) {
  const std::vector<WrongLine> lines = {
      {{"rnu"}, "there is no command 'rnu'", "did you mean 'run'?"},
      {{"frobnicate"}, "there is no command 'frobnicate'", "'igloo --help' lists the commands"},
      {{"run", "--evn", "shell", "true"}, "no option '--evn'", "did you mean '--env'?"},
      {{"run", "--frobnicate"}, "no option '--frobnicate'", "see 'igloo run --help'"},
      {{"run", "true"}, "no environment is named", "add --env shell"},
      {{"run", "--env", "shel", "true"}, "no environment 'shel'", "did you mean 'shell'?"},
      {{"run", "--env", "cobol", "true"}, "no environment 'cobol'", "shell, python, node, go"},
      {{"run", "--env", "shell"}, "there is nothing to run", "give code in quotes"},
      {{"run", "--env", "shell", "a", "b"}, "more than one thing to run", "give code in quotes"},
      {{"run", "--env", "shell", "a", "--", "b"}, "more than one thing to run", "-- PROGRAM ARGS"},
      {{"run", "--env", "shell", "--timeout", "soon", "true"}, "'--timeout soon'", "--timeout 2.5"},
      {{"run", "--env", "shell", "--timeout", "-1", "true"}, "'--timeout -1'", "above 0"},
      {{"run", "--env", "shell", "--timeout", "nan", "true"}, "'--timeout nan'", "above 0"},
      {{"run", "--env", "shell", "--timeout", "1e9", "true"}, "'--timeout 1e9'", "up to 86400"},
      {{"run", "--env", "shell", "--backend", "paper", "true"},
       "no backend 'paper'",
       "choose jail"},
      {{"run", "--env", "shell", "--project", "/usr:rx", "true"},
       "'rx' is not a project mode",
       "DIR:ro or DIR:overlay"},
      {{"run", "--env", "shell", "--project", "/usr:rw", "true"},
       "cannot be made writable from the command line",
       "':overlay'"},
      {{"run", "--env", "shell", "--project", "/usr:readwrite", "true"},
       "cannot be made writable from the command line",
       "':overlay'"},
  };
  for (const WrongLine& line : lines) {
    const Outcome outcome = Igloo(line.args);
    EXPECT_EQ(outcome.status, 125) << line.what;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("igloo: "), HasSubstr(line.what),
                                   HasSubstr("\n  hint: "), HasSubstr(line.hint)));
  }
}

TEST(CommandLine, RefusesIncompleteOptions) {
  EXPECT_THAT(Igloo({"run", "--env"}).err, HasSubstr("'--env' needs a value"));
  EXPECT_THAT(Igloo({"run", "--json=1"}).err, HasSubstr("'--json' takes no value"));
  EXPECT_THAT(Igloo({"run", "--env", "a", "--env=b", "c"}).err, HasSubstr("given twice"));
  EXPECT_THAT(Igloo({"run", "--env", "shell", "--"}).err, HasSubstr("no program behind '--'"));
}

TEST(CommandLine, ShowsNoControlCharactersOfOthers) {
  const Outcome outcome = Igloo({"run", "--env", "\x1b[31mred\x07", "true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("red"), Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
}

}  // namespace
}  // namespace igloo::testing
