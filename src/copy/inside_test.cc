#include "copy/inside.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace igloo::copy {
namespace {

/// Without a PID namespace a process has one number: "inside" is here.
class InsideTest : public ::testing::Test {
 protected:
  InsideTest() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    child_ = ::fork();
    if (child_ == 0) {
      const pid_t grandchild = ::fork();
      if (grandchild == 0) ::pause();
      (void)!::write(ready[1], &grandchild, sizeof grandchild);
      ::pause();
    }
    EXPECT_EQ(::read(ready[0], &grandchild_, sizeof grandchild_),
              static_cast<ssize_t>(sizeof grandchild_));
    ::close(ready[0]);
    ::close(ready[1]);
    pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)));
  }
  ~InsideTest() override {
    ::kill(grandchild_, SIGKILL);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  pid_t child_ = 0, grandchild_ = 0;
  UniqueFd pidfd_ = {};
};

TEST_F(InsideTest, FindsDescendants) {
  EXPECT_EQ(FindInside(pidfd_.get(), child_).value(), child_);
  EXPECT_EQ(FindInside(pidfd_.get(), grandchild_).value(), grandchild_);
}

/// A session may name any number: it gets nobody who is not below its init.
TEST_F(InsideTest, FindsNobodyElse) {
  for (const pid_t other : {::getpid(), ::getppid(), 1, 0, -1, (1 << 22) - 1}) {
    EXPECT_FALSE(FindInside(pidfd_.get(), other)) << other;
  }
}

TEST_F(InsideTest, FindsNobodyOnceItEnded) {
  ::kill(child_, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED), 0);
  EXPECT_FALSE(FindInside(pidfd_.get(), child_));
  EXPECT_FALSE(FindInside(pidfd_.get(), grandchild_));
}

TEST_F(InsideTest, FailsOnADescriptorOfAnythingElse) {
  EXPECT_FALSE(FindInside(0, child_));
  EXPECT_FALSE(FindInside(-1, child_));
}

TEST_F(InsideTest, KnowsWhoIsAlone) {
  EXPECT_TRUE(IsAlone(pidfd_.get(), grandchild_));
  EXPECT_FALSE(IsAlone(pidfd_.get(), child_));
  EXPECT_FALSE(IsAlone(pidfd_.get(), ::getpid()));
  // With somebody else beside it: this process has two children, of which one has one.
  const UniqueFd own(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  EXPECT_FALSE(IsAlone(own.get(), child_));
  ::kill(grandchild_, SIGKILL);
  ::kill(child_, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED), 0);
  EXPECT_FALSE(IsAlone(pidfd_.get(), grandchild_));
  EXPECT_FALSE(IsAlone(-1, grandchild_));
}

}  // namespace
}  // namespace igloo::copy
