#include "service/caller.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::service {
namespace {

using config::SecretSource;
using Kind = SecretSource::Kind;
using ::testing::HasSubstr;
using ::testing::Not;

Result<std::string> Read(Kind kind, std::string value) {
  return ReadSecretValue({kind, std::move(value)});
}

class CallerTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text, mode_t mode) {
    std::string path = directory_.path() + "/secret";
    // One that only its owner may read is not written to again.
    ::unlink(path.c_str());
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  TempDir directory_ = TempDir::Make(igloo::testing::TempParent()).value();
};

TEST_F(CallerTest, ASecretCanBeAVariable) {
  ::setenv("IGLOO_TEST_SECRET", "hunter2\n", 1);
  EXPECT_EQ(*Read(Kind::kVariable, "IGLOO_TEST_SECRET"), "hunter2\n") << "as it is";
  ::setenv("IGLOO_TEST_SECRET", "", 1);
  EXPECT_EQ(Read(Kind::kVariable, "IGLOO_TEST_SECRET").error().what,
            "your variable 'IGLOO_TEST_SECRET' is empty");
  ::unsetenv("IGLOO_TEST_SECRET");
  EXPECT_EQ(Read(Kind::kVariable, "IGLOO_TEST_SECRET").error().what,
            "your variable 'IGLOO_TEST_SECRET' is not set");
}

TEST_F(CallerTest, AFileLosesOneNewline) {
  EXPECT_EQ(*Read(Kind::kFile, Write("hunter2\n", 0600)), "hunter2");
  EXPECT_EQ(*Read(Kind::kFile, Write("hunter2\n\n", 0400)), "hunter2\n");
  EXPECT_EQ(*Read(Kind::kFile, Write("hunter2", 0600)), "hunter2");
}

TEST_F(CallerTest, AFileThatOthersReadIsRefused) {
  for (const mode_t mode : {0640, 0604, 0622}) {
    const std::string path = Write("hunter2\n", mode);
    const auto read = Read(Kind::kFile, path);
    ASSERT_FALSE(read) << mode;
    EXPECT_EQ(read.error(), (Error{.code = Errc::kPermissionDenied,
                                   .what = "'" + path + "' can be read by others than you",
                                   .hint = "chmod 600 " + path}));
  }
}

TEST_F(CallerTest, AFileThatIsNoneIsNamed) {
  EXPECT_THAT(Read(Kind::kFile, directory_.path() + "/gone").error().what, HasSubstr("/gone'"));
  const auto large = Read(Kind::kFile, Write(std::string((64U << 10) + 1, 'x'), 0600));
  EXPECT_EQ(large.error().code, Errc::kExhausted);
}

TEST_F(CallerTest, AFileThatWouldHaveToBeWaitedForIsRefused) {
  const std::string path = directory_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto read = Read(Kind::kFile, path);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "'" + path + "' is no regular file");
  EXPECT_THAT(Read(Kind::kFile, directory_.path()).error().what, HasSubstr("is no regular file"));
}

TEST_F(CallerTest, ACommandThatClosesItsOutputIsWaitedForWithItsLimit) {
  const std::string script = Write("#!/bin/sh\necho hunter2\nexec >&-\nexec sleep 1000\n", 0700);
  const auto slow = ReadSecretValue({Kind::kCommand, script}, std::chrono::milliseconds(50));
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, Errc::kTimeout);
}

TEST_F(CallerTest, ACommandIsWordsWithoutAShell) {
  EXPECT_EQ(*Read(Kind::kCommand, "echo  hunter2 ; $HOME"), "hunter2 ; $HOME");
  EXPECT_EQ(*Read(Kind::kCommand, "/bin/echo x"), "x");
  EXPECT_EQ(Read(Kind::kCommand, "igloo-no-such-program x").error().what,
            "there is no program 'igloo-no-such-program'");
}

TEST_F(CallerTest, ACommandThatFailsGivesNothing) {
  const std::string script = Write("#!/bin/sh\necho hunter2\nexit 3\n", 0700);
  const auto read = Read(Kind::kCommand, script);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "the command '" + script + "' failed");
  EXPECT_THAT(read.error().hint, Not(HasSubstr("hunter2")));
}

TEST_F(CallerTest, ACommandHasLimits) {
  EXPECT_EQ(Read(Kind::kCommand, "yes").error().code, Errc::kExhausted);
  const auto slow = ReadSecretValue({Kind::kCommand, "sleep 1000"}, std::chrono::milliseconds(10));
  EXPECT_EQ(slow.error().code, Errc::kTimeout);
}

TEST_F(CallerTest, WhatIsShownHasNoValues) {
  ::setenv("IGLOO_TEST_SECRET", "hunter2", 1);
  const config::Caller caller = NamesOfCaller();
  EXPECT_EQ(caller.variable("IGLOO_TEST_SECRET"), "(yours)");
  EXPECT_EQ(*caller.secret({Kind::kCommand, "false"}), "(yours)");
  ::unsetenv("IGLOO_TEST_SECRET");
  EXPECT_EQ(caller.variable("IGLOO_TEST_SECRET"), std::nullopt);
  EXPECT_EQ(*ShownPlaceholder("github"),
            "igloo-placeholder-github-00000000000000000000000000000000");
}

}  // namespace
}  // namespace igloo::service
