#include "backend/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace igloo::backend {
namespace {

namespace step = sandbox::step;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

sandbox::Plan Example() {
  sandbox::Plan plan;
  plan.environment = {step::Root{}, step::Bind{"/home/ada\x1b", "/project"}, step::Proc{"/proc"}};
  plan.fresh = {step::Tmpfs{"/tmp"}, step::Bind{"/each", "/each"}};
  plan.run = {
      step::Overlay{"/lower", "/view"},
      step::Overlay{.source = "/seen", .target = "/seen", .access = sandbox::Access::kReadOnly},
      step::PrivateNetwork{}, step::Hostname{"\"proc \"overlay "}, step::File{"/run/code", "x"}};
  return plan;
}

Error ExplainFailure(ops::Step where, int sys_errno, std::uint32_t index = 0) {
  ops::Reply reply{};
  reply.kind = ops::ReplyKind::kFailed;
  reply.step = where;
  reply.index = index;
  reply.sys_errno = sys_errno;
  return Explain(reply, Example());
}

TEST(ExplainTest, EveryStepHasWordsTheReasonAndAnAction) {
  for (std::uint32_t number = 0; number <= static_cast<std::uint32_t>(ops::Step::kOperation) + 1;
       ++number) {
    for (const int sys_errno : {EPERM, EACCES, ENOENT, EINVAL, ENOSPC, EAGAIN, ELOOP, EIO}) {
      const Error error = ExplainFailure(static_cast<ops::Step>(number), sys_errno);
      EXPECT_THAT(error.what, HasSubstr(ErrnoText(sys_errno))) << number;
      EXPECT_NE(error.hint, "") << number;
      EXPECT_EQ(error.sys_errno, sys_errno) << number;
    }
  }
}

TEST(ExplainTest, AnOverlayThatKeepsItsChangesMayLackADiskForThem) {
  sandbox::Plan plan;
  plan.run = {step::Overlay{.source = "/p", .target = "/project", .keeps_changes = true}};
  ops::Reply reply{};
  reply.kind = ops::ReplyKind::kFailed;
  reply.step = ops::Step::kOperation;
  reply.sys_errno = EINVAL;
  EXPECT_THAT(Explain(reply, plan).hint, HasSubstr("set XDG_STATE_HOME"));
}

TEST(ExplainTest, ARequestTheLauncherCannotReadIsABugAndAMachineThatRefusesIsNot) {
  for (const ops::Step where : {ops::Step::kNone, ops::Step::kDecode}) {
    EXPECT_EQ(ExplainFailure(where, EINVAL).code, Errc::kInternal);
  }
  for (const ops::Step where :
       {ops::Step::kClone, ops::Step::kMaps, ops::Step::kSource, ops::Step::kSourceChanged,
        ops::Step::kSourceMap, ops::Step::kIdentity, ops::Step::kUnshare, ops::Step::kTemplateFull,
        ops::Step::kOperation}) {
    EXPECT_EQ(ExplainFailure(where, EPERM).code, Errc::kFailedPrecondition)
        << static_cast<std::uint32_t>(where);
  }
}

TEST(ExplainTest, ForbiddenNamespacesAreNamed) {
  for (const ops::Step where : {ops::Step::kClone, ops::Step::kUnshare}) {
    for (const int sys_errno : {EPERM, EACCES}) {
      EXPECT_THAT(ExplainFailure(where, sys_errno).hint, HasSubstr("user namespaces"));
    }
    EXPECT_THAT(ExplainFailure(where, ENOSPC).hint, HasSubstr("max_user_namespaces"));
    EXPECT_THAT(ExplainFailure(where, EUSERS).hint, HasSubstr("max_user_namespaces"));
    EXPECT_THAT(ExplainFailure(where, EAGAIN).hint, HasSubstr("processes"));
    EXPECT_THAT(ExplainFailure(where, ENOSYS).hint, HasSubstr("igloo doctor"));
  }
}

TEST(ExplainTest, SourcesAreNamedWithoutTheirControls) {
  for (const ops::Step where :
       {ops::Step::kSource, ops::Step::kSourceChanged, ops::Step::kSourceMap}) {
    EXPECT_THAT(ExplainFailure(where, EACCES, 1).what, HasSubstr("'/home/ada\\x1b'"));
    EXPECT_THAT(ExplainFailure(where, EACCES, 4).what, HasSubstr("'/each'"));
    EXPECT_THAT(ExplainFailure(where, EACCES, 5).what, HasSubstr("'/lower'"))
        << "counted over all lists";
    EXPECT_THAT(ExplainFailure(where, EACCES, 0).what, HasSubstr("a mount source"));
    EXPECT_THAT(ExplainFailure(where, EACCES, 999).what, HasSubstr("a mount source"))
        << "a wrong index is no crash";
  }
  EXPECT_THAT(ExplainFailure(ops::Step::kSource, EINVAL, 1).hint, HasSubstr("mounted below"));
}

TEST(ExplainTest, OperationsAreShownInThePlansWords) {
  const auto operation = [](std::uint32_t index, int sys_errno) {
    return ExplainFailure(ops::Step::kOperation, sys_errno, index);
  };
  EXPECT_THAT(operation(3, EIO).what, AllOf(HasSubstr("memory"), HasSubstr("/tmp")));
  EXPECT_THAT(operation(2, EPERM).hint, HasSubstr("unmasked /proc"));
  EXPECT_THAT(operation(2, EIO).hint, Not(HasSubstr("unmasked /proc")));
  EXPECT_THAT(operation(5, EINVAL).hint, HasSubstr("overlay"));
  EXPECT_THAT(operation(1, ENOENT).hint, HasSubstr("does not exist"));
  EXPECT_THAT(operation(1, ELOOP).hint, HasSubstr("symbolic link"));
  EXPECT_THAT(operation(999, EIO).what, HasSubstr("step "));
}

TEST(ExplainTest, HintsFollowTheKindOfStepAndNotItsWords) {
  const auto hint = [](std::uint32_t index, int sys_errno) {
    return ExplainFailure(ops::Step::kOperation, sys_errno, index).hint;
  };
  // Root, /tmp, the overlay and a file take room that somebody gave a size.
  for (const std::uint32_t sized : {0U, 3U, 5U, 9U}) {
    EXPECT_THAT(hint(sized, ENOSPC), HasSubstr("too small")) << sized;
  }
  for (const std::uint32_t other : {1U, 2U, 4U, 6U, 7U, 8U}) {
    EXPECT_THAT(hint(other, ENOSPC), Not(HasSubstr("too small"))) << other;
  }
  for (const int sys_errno : {ENOSPC, EUSERS}) {
    EXPECT_THAT(hint(7, sys_errno), HasSubstr("user.max_net_namespaces"));
  }
  EXPECT_THAT(hint(7, EPERM), HasSubstr("igloo doctor"));
  for (const int sys_errno : {EPERM, EINVAL, ENOENT}) {
    EXPECT_THAT(hint(8, sys_errno), Not(AnyOf(HasSubstr("/proc"), HasSubstr("project"))))
        << "a name that only looks like a step";
  }
}

TEST(ExplainTest, ReadOnlyViewsAreNotToldToBeReadOnly) {
  for (const int sys_errno : {EINVAL, EPERM, ENOENT, ELOOP, ENODEV}) {
    const std::string overlay = ExplainFailure(ops::Step::kOperation, sys_errno, 5).hint;
    const std::string view = ExplainFailure(ops::Step::kOperation, sys_errno, 6).hint;
    EXPECT_THAT(overlay, HasSubstr("use ':ro' instead"));
    EXPECT_THAT(view, AllOf(HasSubstr("cannot be shown as a read-only view"),
                            HasSubstr("copy the project elsewhere"), Not(HasSubstr(":ro"))));
  }
}

TEST(ExplainTest, TooManyOpenFilesHasOneCureWhereverItHappens) {
  for (std::uint32_t number = 0; number <= static_cast<std::uint32_t>(ops::Step::kOperation);
       ++number) {
    const Error error = ExplainFailure(static_cast<ops::Step>(number), EMFILE);
    EXPECT_EQ(error.hint, "raise the limit on open files: ulimit -n 1024") << number;
  }
}

TEST(ExplainTest, MissingIdMapsNameTheRange) {
  EXPECT_THAT(ExplainFailure(ops::Step::kMaps, EPERM).hint,
              HasSubstr(std::to_string(Example().identity.host_id_base)));
}

}  // namespace
}  // namespace igloo::backend
