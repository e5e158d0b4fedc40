#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace igloo {
namespace {

TEST(ErrorTest, FailKeepsItsWordsAndHasNoErrno) {
  const Result<int> failed = Fail(Errc::kTimeout, "too slow", "wait longer");
  EXPECT_EQ(failed.error(),
            (Error{.code = Errc::kTimeout, .what = "too slow", .hint = "wait longer"}));
}

TEST(ErrorTest, FailSysEndsWithTheSystemsReason) {
  const Result<int> failed = FailSys(ENOENT, "cannot open '/a'", "create it");
  EXPECT_EQ(failed.error(), (Error{.code = Errc::kNotFound,
                                   .what = "cannot open '/a': No such file or directory",
                                   .hint = "create it",
                                   .sys_errno = ENOENT}));
}

TEST(ErrorTest, WrapAddsContextAndKeepsTheRest) {
  const Error inner{.code = Errc::kPermissionDenied,
                    .what = "cannot open 'x'",
                    .hint = "ask",
                    .sys_errno = EACCES};
  const Result<int> wrapped = Wrap("starting", inner);
  EXPECT_EQ(wrapped.error(), (Error{.code = Errc::kPermissionDenied,
                                    .what = "starting: cannot open 'x'",
                                    .hint = "ask",
                                    .sys_errno = EACCES}));
}

TEST(ErrorTest, EveryErrnoHasTheCodeCallersBranchOn) {
  const struct {
    int sys_errno;
    Errc code;
  } rows[] = {{ENOENT, Errc::kNotFound},          {ENOTDIR, Errc::kNotFound},
              {EACCES, Errc::kPermissionDenied},  {EPERM, Errc::kPermissionDenied},
              {EINVAL, Errc::kInvalidArgument},   {ENAMETOOLONG, Errc::kInvalidArgument},
              {ENOSPC, Errc::kExhausted},         {EMFILE, Errc::kExhausted},
              {ENFILE, Errc::kExhausted},         {EAGAIN, Errc::kExhausted},
              {ENOMEM, Errc::kExhausted},         {EBUSY, Errc::kFailedPrecondition},
              {ENOSYS, Errc::kFailedPrecondition}};
  for (const auto& row : rows) {
    const Result<int> failed = FailSys(row.sys_errno, "x");
    EXPECT_EQ(failed.error().code, row.code) << row.sys_errno;
    EXPECT_EQ(failed.error().sys_errno, row.sys_errno);
  }
}

TEST(ErrorTest, TooManyOpenFilesSaysHowToHaveMore) {
  const Result<int> failed = FailSys(EMFILE, "cannot watch 'x'", "get a newer kernel");
  EXPECT_EQ(failed.error().hint, "raise the limit on open files: ulimit -n 1024")
      << "the cure that a caller guessed is for another illness";
  const Result<int> other = FailSys(ENOSYS, "cannot watch 'x'", "get a newer kernel");
  EXPECT_EQ(other.error().hint, "get a newer kernel");
}

TEST(ErrorTest, ErrnoTextKnowsNamesAndSurvivesUnknownNumbers) {
  EXPECT_EQ(ErrnoText(EACCES), "Permission denied");
  EXPECT_EQ(ErrnoText(99999), "error 99999");
  EXPECT_EQ(ErrnoText(-1), "error -1");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return Fail(Errc::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  IGLOO_ASSIGN(const int half, Half(value));
  IGLOO_TRY(Half(half));
  return half / 2;
}

TEST(ErrorTest, MacrosPassValuesOnAndReturnErrors) {
  EXPECT_EQ(Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().what, "odd") << "from IGLOO_TRY";
  EXPECT_EQ(Quarter(7).error().what, "odd") << "from IGLOO_ASSIGN";
}

}  // namespace
}  // namespace igloo
