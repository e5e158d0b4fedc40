#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "backend/backend.h"

namespace igloo::backend {
namespace {

using ::testing::HasSubstr;

TEST(StartMessageTest, CarriesThePayloadWholeAndTheNonce) {
  const sandbox::Payload payload{.argv = {"/bin/echo", "a"},
                                 .env = {"A=1"},
                                 .cwd = "/work",
                                 .time_ms = 1,
                                 .grace_ms = 2,
                                 .limits = {{"core", 4, 0}, {"nproc", 6, 256}},
                                 .paths = {{sandbox::PathRight::kRead, "/"},
                                           {sandbox::PathRight::kReadWrite, "/tmp"},
                                           {sandbox::PathRight::kDevice, "/dev/null"}},
                                 .seccomp = sandbox::Seccomp::kDebug,
                                 .extra_descriptors = 3};
  const wire::Start expected{.nonce = {7, 8},
                             .time_limit_ms = 1,
                             .grace_ms = 2,
                             .seccomp = wire::SeccompProfile::kDebug,
                             .limits = {{4, 0}, {6, 256}},
                             .paths = {{wire::PathRight::kRead, "/"},
                                       {wire::PathRight::kReadWrite, "/tmp"},
                                       {wire::PathRight::kDevice, "/dev/null"}},
                             .cwd = "/work",
                             .extra_descriptors = 3,
                             .argv = {"/bin/echo", "a"},
                             .env = {"A=1"}};
  EXPECT_EQ(StartMessage(payload, {7, 8}), expected);
}

TEST(StartMessageTest, TheDefaultFilterIsTheDefault) {
  EXPECT_EQ(StartMessage({}, {}).seccomp, wire::SeccompProfile::kDefault);
}

TEST(ExplainRefusalTest, EveryStepHasWordsAndTheReason) {
  const sandbox::Payload payload{.argv = {"/bin/x"}, .cwd = "/work"};
  for (int step = 0; step <= static_cast<int>(wire::InitStep::kRestore); ++step) {
    const Error error =
        ExplainRefusal({.step = static_cast<wire::InitStep>(step), .sys_errno = EIO}, payload);
    EXPECT_THAT(error.what, HasSubstr("Input/output error")) << step;
    EXPECT_EQ(error.sys_errno, EIO) << step;
  }
}

TEST(ExplainRefusalTest, AMissingProgramIsSaidSoAndItsNameIsHarmless) {
  const Error error =
      ExplainRefusal({.step = wire::InitStep::kExec, .sys_errno = ENOENT}, {.argv = {"/bin/\x1b"}});
  EXPECT_EQ(error.code, Errc::kNoProgram);
  EXPECT_EQ(error.what, "cannot start '/bin/\\x1b' in the sandbox: No such file or directory");
  EXPECT_NE(error.hint, "");
}

}  // namespace
}  // namespace igloo::backend
