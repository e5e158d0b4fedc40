// Code and callers that do what nobody expects.

#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace json = boost::json;
using namespace std::string_literals;

/// Code that no command line can carry, through --file.
Outcome RunFile(const std::string& environment, std::string_view code,
                std::vector<std::string> more = {}) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string file = directory.path() + "/code";
  std::ofstream(file, std::ios::binary) << code;
  std::vector<std::string> args = {"run", "--env", environment, "--file", file};
  args.insert(args.end(), more.begin(), more.end());
  return Igloo(args);
}

TEST(BadInput, EmptyCodeSucceeds) {
  for (const char* environment : {"shell", "python", "node", "ruby", "perl"}) {
    const Outcome word = Igloo({"run", "--env", environment, ""});
    EXPECT_EQ(word.status, 0) << environment << ": " << word.err;
    EXPECT_EQ(word.out + word.err, "");
    EXPECT_EQ(RunFile(environment, "").status, 0) << environment;
    EXPECT_EQ(Igloo({"run", "--env", environment, "-"}).status, 0) << environment;
  }
}

TEST(BadInput, FiftyMegabytesOfCodeRun) {
  std::string code = "#";
  code.append(50U << 20, 'x');
  code += "\nprint('behind it')\n";
  const Outcome outcome = RunFile("python", code);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "behind it\n");
}

TEST(BadInput, TooMuchCodeIsRefused) {
  const Outcome outcome = RunFile("shell", std::string((64U << 20) + 1, '#'));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("more than 64 MB"));
}

TEST(BadInput, NulBytesReachTheInterpreter) {
  const Outcome python = RunFile("python", "print(1)\n\0print(2)\n"s);
  // Older versions stop reading there, newer ones call it an error; both are python's own answer.
  EXPECT_THAT(python.out + python.err, AnyOf(Eq("1\n"), HasSubstr("null byte")));
  EXPECT_EQ(python.status, python.err.empty() ? 0 : 1);
  const Outcome shell = RunFile("shell", "echo one\n\0echo two\n"s);
  EXPECT_THAT(shell.out, HasSubstr("one\n"));
  EXPECT_LT(shell.status, 124) << "an answer of bash, not of igloo: " << shell.err;
  // Inside a string they are data and must arrive as they are.
  const Outcome node = RunFile("node", "console.log('a\0b'.length)"s);
  EXPECT_EQ(node.out, "3\n") << node.err;
}

TEST(BadInput, InvalidUtf8StaysBytesOnPipesAndBecomesValidInJson) {
  const std::string code = "printf 'a\\xff\\xc3(\\xed\\xa0\\x80z'; printf '\\xfe' >&2 # \xff\xfe";
  const Outcome plain = RunFile("shell", code);
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(plain.out, "a\xff\xc3(\xed\xa0\x80z");
  EXPECT_EQ(plain.err, "\xfe");
  const Outcome outcome = RunFile("shell", code, {"--json"});
  const json::value document = json::parse(outcome.out);  // throws on invalid UTF-8
  EXPECT_EQ(document.at("stdout").at("bytes"), 8);
  EXPECT_EQ(document.at("stderr").at("text"), "\uFFFD");
  EXPECT_THAT(std::string(document.at("stdout").at("text").as_string()), HasSubstr("(\uFFFD"));
}

TEST(BadInput, CodeThatClosesItsDescriptorsEndsAsItWants) {
  const Outcome outcome =
      Igloo({"run", "--env", "python",
             "import os\nprint('before', flush=True)\nos.closerange(0, 4096)\nos._exit(4)"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.out, "before\n");
}

TEST(BadInput, CodeThatDaemonisesLeavesNothing) {
  const std::string marker = UniqueMarker();
  Running igloo = StartIgloo({"run", "--env", "shell",
                              "setsid --fork bash -c 'trap \"\" HUP TERM INT; exec -a " + marker +
                                  " sleep 1000'; echo ready; read line; exit 5"});
  ASSERT_TRUE(igloo.WaitForOutput("ready\n")) << igloo.Finish().err;
  ASSERT_NE(WaitForMarked(marker), 0) << "control: the daemon must run";
  const Outcome outcome = igloo.Finish();
  EXPECT_EQ(outcome.status, 5) << "the daemon held the pipes, the run still ended";
  EXPECT_THAT(FindMarked(marker), IsEmpty());
}

TEST(BadInput, CodeThatIgnoresEverySignalIsStopped) {
  const std::string marker = UniqueMarker();
  const Outcome outcome =
      Igloo({"run", "--env", "python", "--timeout", "2", "--", "/usr/bin/python3", "-c",
             "import signal, time\n"
             "for n in range(1, 65):\n"
             "  try: signal.signal(n, signal.SIG_IGN)\n"
             "  except (OSError, ValueError): pass\n"
             "print('deaf', flush=True)\n"
             "while True: time.sleep(1)",
             marker});
  EXPECT_EQ(outcome.out, "deaf\n") << outcome.err;
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(FindMarked(marker), IsEmpty());
}

TEST(BadInput, AMegabyteOfArgumentsArrives) {
  std::vector<std::string> args = {"run",     "--env", "shell",          "--",
                                   "/bin/sh", "-c",    "echo $# ${#10}", "sh"};
  for (int i = 0; i < 10; ++i) args.push_back(std::string(100'000, 'x'));
  const Outcome outcome = Igloo(args);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "10 100000\n");
}

TEST(BadInput, MoreThanTheKernelTakesIsAnError) {
  // More than the 2 MB that an 8 MB stack allows: the kernel refuses, igloo explains. Only a shell
  // without a limit can pass as much to igloo in the first place.
  const Outcome outcome = RunProgram(
      {.program = "/bin/bash",
       .args = {"-c",
                "ulimit -s unlimited; word=$(head -c 100000 /dev/zero | tr '\\0' x); words=(); "
                "for i in {1..30}; do words+=(\"$word\"); done; "
                "exec \"$0\" run --env shell -- /bin/true \"${words[@]}\"",
                BinDirectory() + "/igloo"}});
  EXPECT_EQ(outcome.status, 126);
  EXPECT_THAT(outcome.err, HasSubstr("cannot start '/bin/true' in the sandbox: Argument list"));
}

TEST(BadInput, AClosedInputIsAnEmptyInput) {
  const Outcome outcome =
      RunProgram({.program = BinDirectory() + "/igloo",
                  .args = {"run", "--env", "shell", "--timeout", "20", "cat; echo end"},
                  .close_input = true});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "end\n");
}

TEST(BadInput, ClosedOutputsDoNotDisturbTheRun) {
  // It lives on behind its output: time enough for whoever got the bytes by mistake to act.
  const std::vector<std::string> args = {
      "run",   "--env",
      "shell", "--timeout",
      "20",    "echo out; echo err >&2; for i in {1..200}; do /bin/true; done; exit 3"};
  const Outcome no_output = RunProgram(IglooAfter("exec 1>&-", args));
  EXPECT_EQ(no_output.status, 3);
  EXPECT_EQ(no_output.err, "err\n");
  const Outcome no_error = RunProgram(IglooAfter("exec 2>&-", args));
  EXPECT_EQ(no_error.status, 3);
  EXPECT_EQ(no_error.out, "out\n");
  EXPECT_EQ(RunProgram(IglooAfter("exec 0<&- 1>&- 2>&-", args)).status, 3);
}

TEST(BadInput, NeedsNoHome) {
  const std::vector<std::string> args = {"run", "--env", "shell", "echo $HOME"};
  const std::string igloo = BinDirectory() + "/igloo";
  for (const std::vector<std::string>& env :
       std::vector<std::vector<std::string>>{{}, {"HOME="}, {"HOME=/proc"}, {"HOME=/no/such"}}) {
    const Outcome outcome = RunProgram({.program = igloo, .args = args, .env = env});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "/workspace\n");
  }
}

TEST(BadInput, LeavesAReadOnlyHomeAlone) {
  const TempDir home = TempDir::Make(TempParent()).value();
  std::filesystem::permissions(home.path(), std::filesystem::perms(0555));
  const auto before = SnapshotOf(home.path());
  for (const char* command : {"run", "doctor"}) {
    std::vector<std::string> args = {command};
    if (args[0] == "run") args.insert(args.end(), {"--env", "shell", "echo $HOME"});
    const Outcome outcome = RunProgram({.program = BinDirectory() + "/igloo",
                                        .args = args,
                                        .env = {"PATH=/usr/bin:/bin", "HOME=" + home.path()}});
    EXPECT_EQ(outcome.status, 0) << command << ": " << outcome.out << outcome.err;
  }
  EXPECT_EQ(SnapshotOf(home.path()), before);
  std::filesystem::permissions(home.path(), std::filesystem::perms(0755));
}

TEST(BadInput, WorksInADirectoryThatIsGone) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string gone = directory.path() + "/gone";
  const Outcome outcome = RunProgram(IglooAfter(
      "mkdir " + gone + "; cd " + gone + "; rmdir " + gone, {"run", "--env", "shell", "pwd"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "/workspace\n");
}

TEST(BadInput, ForkBombsAreHeldAndEnd) {
  const Outcome outcome = Igloo({"run", "--env", "python", "--timeout", "30",
                                 "import os, time\n"
                                 "made = 0\n"
                                 "try:\n"
                                 "  while made < 2000:\n"
                                 "    if os.fork() == 0: time.sleep(1000)\n"
                                 "    made += 1\n"
                                 "except BlockingIOError:\n"
                                 "  print('held below 2000')\n"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "held below 2000\n");
}

}  // namespace
}  // namespace igloo::testing
