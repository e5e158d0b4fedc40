#include "language/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/file.h"
#include "support/driven.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::HasSubstr;

TEST(FindDriver, KnowsFourInterpretersAndNoOther) {
  for (const std::string_view name : {"python", "node", "bash", "ruby"}) {
    const Driver* driver = FindDriver(name);
    ASSERT_NE(driver, nullptr);
    EXPECT_EQ(driver->interpreter, name);
    EXPECT_FALSE(driver->file.empty());
    EXPECT_TRUE(driver->text.ends_with('\n'));
  }
  EXPECT_EQ(FindDriver("perl"), nullptr);
  EXPECT_EQ(FindDriver(""), nullptr);
}

/// The same thing said in each language.
struct Phrases {
  std::string_view print_hi;       ///< without a newline
  std::string_view both_streams;   ///< 10 MB to standard output, 200 KB to standard error
  std::string_view child_listing;  ///< a child prints the descriptors it has
  std::string_view child_prints;   ///< a child writes to 1 what looks like the protocol
  std::string_view reads_input;    ///< prints "end of file" for what it got from its input
  std::string_view exits;          ///< with 3
  std::string_view comment;        ///< begins a comment
  std::string_view fails;          ///< any failure
  std::string_view waits;          ///< prints "go" and waits for ever in a child
};

const Phrases& PhrasesOf(std::string_view interpreter) {
  static const std::map<std::string_view, Phrases> kPhrases = {
      {"bash",
       {.print_hi = "printf hi",
        .both_streams =
            "head -c 200000 /dev/zero | tr '\\0' e >&2; head -c 10000000 /dev/zero | tr '\\0' o",
        .child_listing = "ls /proc/self/fd",
        .child_prints = "sh -c 'echo done 1 2; echo {}; cat'",
        .reads_input = "read x || echo \"end of file$x\"",
        .exits = "exit 3",
        .comment = "#",
        .fails = "cd /nowhere/at/all",
        .waits = "sh -c 'echo go; exec sleep 1000'; echo not reached"}},
      {"node",
       {.print_hi = "process.stdout.write('hi')",
        .both_streams =
            "process.stderr.write('e'.repeat(200000)); process.stdout.write('o'.repeat(1e7))",
        .child_listing =
            "require('child_process').execSync('ls /proc/self/fd', {stdio: 'inherit'})",
        .child_prints =
            "require('child_process').execSync('echo done 1 2; echo {}; cat', {stdio: 'inherit'})",
        .reads_input = "console.log('end of file' + require('fs').readFileSync(0, 'utf8'))",
        .exits = "process.exit(3)",
        .comment = "//",
        .fails = "nothing.like.this",
        .waits =
            "require('child_process').execSync('echo go; exec sleep 1000', {stdio: 'inherit'}); "
            "console.log('not reached')"}},
      {"python",
       {.print_hi = "print('hi', end='')",
        .both_streams =
            "import sys\nsys.stderr.write('e' * 200000)\nsys.stdout.write('o' * 10000000)",
        .child_listing = "import os\nx = os.system('ls /proc/self/fd')",
        .child_prints = "import os\nx = os.system('echo done 1 2; echo {}; cat')",
        .reads_input = "try:\n  input()\nexcept EOFError:\n  print('end of file')",
        .exits = "import sys\nsys.exit(3)",
        .comment = "#",
        .fails = "nothing.like_this",
        .waits = "import subprocess\nsubprocess.run(['sh', '-c', 'echo go; exec sleep 1000'])\n"
                 "print('not reached')"}},
      {"ruby",
       {.print_hi = "print 'hi'",
        .both_streams = "$stderr.write('e' * 200000)\n$stdout.write('o' * 10000000)",
        .child_listing = "system('ls /proc/self/fd')",
        .child_prints = "system('echo done 1 2; echo {}; cat')",
        .reads_input = "puts 'end of file' if gets.nil?",
        .exits = "exit 3",
        .comment = "#",
        .fails = "nothing.like_this",
        .waits = "system('echo go; exec sleep 1000')\nputs 'not reached'"}},
  };
  return kPhrases.at(interpreter);
}

class EveryDriver : public ::testing::TestWithParam<std::string_view> {
 protected:
  const Phrases& say_ = PhrasesOf(GetParam());
  Driven driven_ = Driven(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Drivers, EveryDriver, ::testing::Values("bash", "node", "python", "ruby"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(EveryDriver, LosesNoOutputWithoutNewline) {
  const DrivenRun run = driven_.Run(say_.print_hi, "-");
  EXPECT_EQ(run.out, "hi");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.value, "");
  EXPECT_EQ(driven_.Run(say_.print_hi).out, "hi");
}

TEST_P(EveryDriver, PassesMuchOutputOnBothStreams) {
  const DrivenRun run = driven_.Run(say_.both_streams, "-");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, std::string(10'000'000, 'o'));
  EXPECT_EQ(run.err, std::string(200'000, 'e'));
}

TEST_P(EveryDriver, TakesAMegabyteOfCode) {
  // Bytes and not characters are counted, so every character here has two of them.
  std::string code(say_.comment);
  while (code.size() < 1'000'000) code += "\xc3\xbc";
  code += "\n";
  code += say_.print_hi;
  const DrivenRun run = driven_.Run(code, "-");
  EXPECT_EQ(run.status, 0) << run.err.substr(0, 1000);
  EXPECT_EQ(run.out, "hi");
}

TEST_P(EveryDriver, TakesEmptyCode) {
  const DrivenRun run = driven_.Run("");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out + run.err + run.value, "");
}

TEST_P(EveryDriver, GivesItsChannelToNoChild) {
  // 3 is the directory that ls itself reads.
  EXPECT_EQ(driven_.Run(say_.child_listing, "-").out, "0\n1\n2\n3\n");
}

TEST_P(EveryDriver, IsNotConfusedByOutputThatLooksLikeItsProtocol) {
  const DrivenRun run = driven_.Run(say_.child_prints, "-");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "done 1 2\n{}\n");
  EXPECT_EQ(driven_.Run(say_.print_hi, "-").out, "hi");
}

TEST_P(EveryDriver, GivesCodeNoInput) {
  EXPECT_EQ(driven_.Run(say_.reads_input, "-").out, "end of file\n");
  EXPECT_EQ(driven_.Run(say_.print_hi, "-").out, "hi");
}

TEST_P(EveryDriver, EndsWithTheStatusThatCodeExitsWith) {
  const DrivenRun run = driven_.Run(say_.exits);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 3);
}

TEST_P(EveryDriver, GoesOnAfterAFailure) {
  const DrivenRun run = driven_.Run(say_.fails);
  EXPECT_FALSE(run.ended);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err, "");
  EXPECT_THAT(run.err, ::testing::Not(HasSubstr("driver.")));
  EXPECT_EQ(driven_.Run(say_.print_hi, "-").out, "hi");
}

TEST_P(EveryDriver, IsInterruptedBySigintAndGoesOn) {
  driven_.Begin(say_.waits);
  ASSERT_TRUE(driven_.WaitForOutput("go"));
  driven_.Interrupt();
  const DrivenRun run = driven_.End();
  EXPECT_FALSE(run.ended);
  EXPECT_TRUE(run.interrupted);
  EXPECT_EQ(run.status, 130);
  EXPECT_EQ(run.out, "go\n");
  EXPECT_EQ(driven_.Run(say_.print_hi, "-").out, "hi");
}

TEST_P(EveryDriver, IgnoresSigintBetweenRuns) {
  for (int round = 0; round < 3; ++round) {
    driven_.Interrupt();
    const DrivenRun run = driven_.Run(say_.print_hi, "-");
    EXPECT_FALSE(run.ended);
  }
  EXPECT_EQ(driven_.Run(say_.print_hi, "-").out, "hi");
}

TEST_P(EveryDriver, IgnoresFlagsItDoesNotKnow) {
  const DrivenRun run = driven_.Run(say_.print_hi, "later,x-1,-");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "hi");
}

TEST_P(EveryDriver, EndsWhenTheHostGoes) {
  driven_.HangUp();
  EXPECT_EQ(driven_.WaitForEnd(), 0);
}

TEST_P(EveryDriver, EndsWhenTheHostTalksNonsense) {
  driven_.Order("walk", "hi", "-");
  EXPECT_LT(driven_.WaitForEnd(), 2);
}

TEST_P(EveryDriver, LeavesNoFileBehind) {
  EXPECT_EQ(driven_.Run(say_.print_hi).status, 0);
  const std::string files = Driven("bash").Run("ls -A " + driven_.directory()).out;
  EXPECT_EQ(files, std::string(FindDriver(GetParam())->file) + "\n");
}

}  // namespace
}  // namespace igloo::language
