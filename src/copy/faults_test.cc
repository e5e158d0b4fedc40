#include "copy/faults.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "base/file.h"

namespace igloo::copy {
namespace {

/// What the held process has open, and all other numbers that are looked at.
constexpr int kOpen = 3, kLowest = 4, kHighest = 200;

/// What the processes of a test have in common.
struct Watch {
  std::atomic<bool> known = false;  ///< the watcher has seen what there was
  std::atomic<int> grabbed = 0;     ///< a number that came later; 0: none
  std::atomic<bool> look = false;   ///< looked once more on demand
};

/// A process that waits in read(), and one beside it that has all descriptors in common with it and
/// grabs every new one.
class SharedDescriptors : public ::testing::Test {
 protected:
  SharedDescriptors() : ends_(MakePipe().value()) {
    watch_ = new (::mmap(nullptr, sizeof(Watch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0)) Watch;
    child_ = ::fork();
    if (child_ == 0) {
      // Nothing else is open in there.
      ::dup2(ends_.first.get(), kOpen);
      ::syscall(SYS_close_range, kOpen + 1, ~0U, 0);
      if (::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, 0) == 0) Grab();
      char byte = 0;
      while (::read(kOpen, &byte, 1) < 0) {
      }
      ::_exit(0);
    }
    while (!watch_->known) ::sched_yield();
  }
  ~SharedDescriptors() override {
    ends_.second.Reset();
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(watch_, sizeof(Watch));
  }

  [[noreturn]] void Grab() const {
    bool before[kHighest] = {};
    for (int fd = kLowest; fd < kHighest; ++fd) before[fd] = ::fcntl(fd, F_GETFD) >= 0;
    const pid_t parent = ::getppid();
    watch_->known = true;
    while (::getppid() == parent) {
      for (int fd = kLowest; fd < kHighest; ++fd) {
        if (!before[fd] && ::fcntl(fd, F_GETFD) >= 0) watch_->grabbed = fd;
      }
      watch_->look = true;
    }
    ::_exit(0);
  }

  /// What it has grabbed, when it has certainly looked at everything once more.
  int Grabbed() const {
    for (int round = 0; round < 2; ++round) {
      watch_->look = false;
      while (!watch_->look) ::sched_yield();
    }
    return watch_->grabbed.exchange(0);
  }

  FdPair ends_;
  Watch* watch_ = nullptr;
  pid_t child_ = 0;
};

TEST_F(SharedDescriptors, NobodyElseGetsHoldOfWhatMakesFaults) {
  const auto tracee = Tracee::Hold(child_);
  ASSERT_TRUE(tracee) << tracee.error().what;
  const auto memory = AddressSpace::Open(child_);
  ASSERT_TRUE(memory) << memory.error().what;
  // The control: whatever else it opens, the other one has, too.
  EXPECT_EQ(tracee->Call(SYS_dup3, {0, 150, O_CLOEXEC}).value(), 150);
  EXPECT_EQ(Grabbed(), 150) << "control";
  EXPECT_EQ(tracee->Call(SYS_close, {150}).value(), 0);
  (void)Grabbed();
  const auto faults = Faults::Of(*tracee, *memory);
  ASSERT_TRUE(faults) << faults.error().what;
  // Where the user may have such a thing at all.
  EXPECT_EQ(faults->has_value(), ::access("/dev/userfaultfd", R_OK | W_OK) == 0);
  EXPECT_EQ(Grabbed(), 0) << "another process had a descriptor of igloo's";
  // What it was given while it was held it has no more itself.
  for (int fd = kLowest; fd < kHighest; ++fd) {
    EXPECT_LT(tracee->Call(SYS_fcntl, {static_cast<std::uint64_t>(fd), F_GETFD}).value(), 0) << fd;
  }
}

}  // namespace
}  // namespace igloo::copy
