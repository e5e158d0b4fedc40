#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "language/driver.h"
#include "support/driven.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Its command is `/bin/sh -u`, so code is a script here and nothing has to be compiled.
class CommandDriver : public ::testing::Test {
 protected:
  std::string Out(std::string_view code) { return driven_.Run(code).out; }

  Driven driven_ = Driven("command");
};

TEST(DriveByCommand, HandsOnTheCommandWordByWord) {
  const std::vector<std::string> argv =
      DriveByCommand("main.x", std::vector<std::string>{"/bin/x", "two words", "$(no)"});
  EXPECT_THAT(argv, ElementsAre("/bin/sh", "-c", FindDriver("command")->text, "igloo", "main.x",
                                "/bin/x", "two words", "$(no)"));
}

TEST_F(CommandDriver, RunsEveryPieceAsAProgramOfItsOwn) {
  EXPECT_EQ(Out("x=1; cd /; echo $x $-; printf end"), "1 u\nend");
  const DrivenRun next = driven_.Run("echo ${x-gone}; echo wrong >&2; exit 7");
  EXPECT_EQ(next.out, "gone\n");
  EXPECT_EQ(next.err, "wrong\n");
  EXPECT_EQ(next.status, 7);
  EXPECT_FALSE(next.ended);
}

TEST_F(CommandDriver, KeepsFiles) {
  const std::string file = driven_.directory() + "/kept";
  driven_.Run("echo one >" + file);
  EXPECT_EQ(Out("cat " + file), "one\n");
}

TEST_F(CommandDriver, GivesItsChannelToNoProgram) {
  // 3 is the directory that ls itself reads.
  EXPECT_THAT(Out("exec ls /proc/self/fd"), "0\n1\n2\n3\n");
  EXPECT_EQ(driven_.Run("echo 'done 3 2' >&3; echo out").out, "out\n");
  EXPECT_EQ(Out("echo 'done 4 2'; echo {}"), "done 4 2\n{}\n");
}

TEST_F(CommandDriver, GivesCodeNoInput) {
  EXPECT_EQ(Out("read x || echo end of file"), "end of file\n");
}

TEST_F(CommandDriver, TellsASignalAsShellsDo) {
  EXPECT_EQ(driven_.Run("kill -SEGV $$").status, 128 + 11);
  EXPECT_EQ(driven_.Run("kill -KILL $$").status, 128 + 9);
  EXPECT_EQ(Out("echo fine"), "fine\n");
}

TEST_F(CommandDriver, TakesBytesOfAnyKindAndNumber) {
  EXPECT_EQ(Out(""), "");
  EXPECT_EQ(Out("#" + std::string(1'000'000, '\xff') + "\nprintf '%s' '\xc3\xbc'"), "\xc3\xbc");
  EXPECT_EQ(Out("echo 'no newline at the end'"), "no newline at the end\n");
}

TEST_F(CommandDriver, PassesMuchOutputOnBothStreams) {
  const DrivenRun run = driven_.Run(
      "head -c 200000 /dev/zero | tr '\\0' e >&2; head -c 10000000 /dev/zero | tr '\\0' o");
  EXPECT_EQ(run.out, std::string(10'000'000, 'o'));
  EXPECT_EQ(run.err, std::string(200'000, 'e'));
}

TEST_F(CommandDriver, AnInterruptEndsTheProgramAlone) {
  const std::string wait = "sh -c 'echo go; exec sleep 1000'";
  for (const std::string& code :
       {"exec " + wait, wait + "; echo no", "trap 'exit 0' INT; " + wait + "; echo no",
        std::string("echo go; while :; do :; done")}) {
    driven_.Begin(code);
    ASSERT_TRUE(driven_.WaitForOutput("go\n")) << code;
    driven_.Interrupt();
    const DrivenRun run = driven_.End();
    EXPECT_TRUE(run.interrupted) << code;
    EXPECT_EQ(run.status, 130) << code;
    EXPECT_EQ(run.out, "go\n") << code;
    EXPECT_FALSE(run.ended) << code;
    EXPECT_EQ(Out("echo next"), "next\n") << code;
  }
}

TEST_F(CommandDriver, AnInterruptBetweenRunsIsNobodys) {
  for (int round = 0; round < 5; ++round) {
    driven_.Interrupt();
    EXPECT_FALSE(driven_.Run("echo hi").ended);
  }
  EXPECT_EQ(Out("echo hi"), "hi\n");
}

TEST_F(CommandDriver, SaysThatThereIsNoRoomForTheCodeAndGoesOn) {
  const std::string place = driven_.directory() + "/igloo";
  driven_.Run("rm -r " + place + "; mkdir " + place + "; ln -s /dev/full " + place + "/main.sh");
  const DrivenRun run = driven_.Run("echo never; #" + std::string(500'000, 'x'));
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.error, "there is no room for the code");
  EXPECT_THAT(run.err, HasSubstr("No space left on device"));
  ASSERT_EQ(::unlink((place + "/main.sh").c_str()), 0);
  EXPECT_EQ(Out("echo again"), "again\n");
}

TEST_F(CommandDriver, EndsWhenTheHostGoesOrTalksNonsense) {
  driven_.HangUp();
  EXPECT_EQ(driven_.WaitForEnd(), 0);
  for (const char* nonsense : {"walk 1 2 -\nhi", "run 1 -2 -\n", "run 1\n", "\n"}) {
    Driven other("command");
    other.Send(nonsense);
    EXPECT_EQ(other.WaitForEnd(), 1) << nonsense;
  }
}

}  // namespace
}  // namespace igloo::language
