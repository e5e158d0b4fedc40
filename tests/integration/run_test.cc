#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

void WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

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

TEST(Run, KeepsTheOrderOfOutput) {
  std::string expected;
  for (int i = 1; i <= 5000; ++i) expected += std::to_string(i) + "\n";
  const Outcome outcome = Igloo({"run", "--env", "shell", "seq 1 5000"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected);
}

TEST(Run, ShowsOutputWhileTheCodeStillRuns) {
  // The code cannot end before its input is closed, and that happens after its output was seen.
  Running igloo = StartIgloo({"run", "--env", "shell", "echo first; cat; echo last"});
  ASSERT_TRUE(igloo.WaitForOutput("first\n")) << igloo.Finish().err;
  igloo.Write("middle\n");
  ASSERT_TRUE(igloo.WaitForOutput("middle\n"));
  const Outcome outcome = igloo.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "first\nmiddle\nlast\n");
}

TEST(Run, PassesInputOnByteForByte) {
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += static_cast<char>(i * 7 + i / 256);
  const Outcome outcome = Igloo({"run", "--env", "shell", "cat"}, input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out == input) << outcome.out.size() << " bytes came back";
}

TEST(Run, PassesAFileAsInputOn) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string file = directory.path() + "/input";
  WriteText(file, std::string(200'000, 'x') + "end");
  const Outcome outcome =
      RunProgram(IglooAfter("exec <" + file, {"run", "--env", "shell", "wc -c; cat"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "200003\n");
}

TEST(Run, EndsThoughTheCodeNeverReadsItsInput) {
  const Outcome outcome =
      Igloo({"run", "--env", "shell", "echo done"}, std::string(1'000'000, 'x'));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
}

TEST(Run, ReadsTheCodeFromInput) {
  const Outcome outcome = Igloo({"run", "--env", "python", "-"}, "print(6 * 7)\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "42\n");
}

TEST(Run, GivesCodeFromInputAnEmptyInput) {
  const Outcome outcome = Igloo({"run", "--env", "shell", "-"}, "cat; echo end\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "end\n");
}

TEST(Run, ReadsTheCodeFromAFile) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string file = directory.path() + "/code with 'quotes'";
  WriteText(file, "console.log('from a file')");
  const Outcome outcome = Igloo({"run", "--env", "node", "--file", file});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "from a file\n");

  const Outcome missing = Igloo({"run", "--env", "node", "--file", file + ".not"});
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.err, HasSubstr("No such file or directory"));
}

TEST(Run, StartsAProgramWithItsArgumentsAsTheyAre) {
  const Outcome outcome = Igloo({"run", "--env", "shell", "--", "/usr/bin/printf", "<%s>\n", "",
                                 "two words", "--json", "--", "$HOME", "'\"\n"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "<>\n<two words>\n<--json>\n<-->\n<$HOME>\n<'\"\n>\n");
}

TEST(Run, LooksForProgramsInThePathInside) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string tool = directory.path() + "/igloo-test-tool";
  WriteText(tool, "#!/bin/sh\necho outside\n");
  ASSERT_EQ(::chmod(tool.c_str(), 0755), 0);
  const std::vector<std::string> outside = {"PATH=" + directory.path() + ":/usr/bin"};
  const std::string igloo = BinDirectory() + "/igloo";

  // Control: the tool is in the caller's PATH and works there.
  ASSERT_EQ(
      RunProgram({.program = "/usr/bin/env", .args = {"igloo-test-tool"}, .env = outside}).out,
      "outside\n");
  const Outcome missing = RunProgram({.program = igloo,
                                      .args = {"run", "--env", "shell", "--", "igloo-test-tool"},
                                      .env = outside});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("'igloo-test-tool'"));

  const Outcome found = RunProgram({.program = igloo,
                                    .args = {"run", "--env", "shell", "--", "expr", "6", "*", "7"},
                                    .env = {}});
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.out, "42\n");
}

TEST(Run, StartsEveryRunFresh) {
  const std::string code = "ls -A /workspace /tmp /dev/shm; touch /workspace/a /tmp/b /dev/shm/c";
  const Outcome first = Igloo({"run", "--env", "shell", code});
  const Outcome second = Igloo({"run", "--env", "shell", code});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.out, "/dev/shm:\n\n/tmp:\n\n/workspace:\n");
  EXPECT_EQ(first.out, second.out);
}

TEST(Run, WorksOnBubblewrapAlike) {
  const Outcome outcome = Igloo(
      {"run", "--env", "shell", "--backend", "bubblewrap", "cat; id -u; pwd; exit 6"}, "input\n");
  EXPECT_EQ(outcome.status, 6) << outcome.err;
  EXPECT_EQ(outcome.out, "input\n1000\n/workspace\n");
  EXPECT_THAT(outcome.err, HasSubstr("note: bubblewrap cannot limit"));
}

TEST(Run, SaysWhereTheTimeWent) {
  const Outcome outcome = Igloo({"run", "--env", "shell", "--timing", "echo hello"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "hello\n");
  for (const char* stage : {"launcher", "namespaces", "root", "exec", "init", "program", "ended"}) {
    EXPECT_THAT(outcome.err, HasSubstr(std::string("timing ") + stage));
  }
}

TEST(Run, EndsWhenNobodyReadsItsOutput) {
  // 'head' leaves after one line; the code would print for ever.
  const Outcome outcome = RunProgram(
      {.program = "/bin/bash",
       .args = {"-c", "\"$0\" run --env shell --timeout 60 yes | head -n 1; exit ${PIPESTATUS[0]}",
                BinDirectory() + "/igloo"}});
  EXPECT_EQ(outcome.out, "y\n");
  EXPECT_EQ(outcome.status, 137) << outcome.err;
}

}  // namespace
}  // namespace igloo::testing
