// Rules against what a sandbox could leave on the host or take from everybody: set-uid files, huge
// pages, buffers, counters of the whole machine.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "guest/seccomp_testing.h"

namespace igloo::guest {
namespace {

constexpr uint64_t kSetUid = 04000, kSetGid = 02000;

/// A call that takes a mode.
struct ModeCall {
  const char* name;
  uint64_t number;
  int mode_argument;
};

constexpr ModeCall kModeCalls[] = {
    {"fchmod", SYS_fchmod, 1},   {"fchmodat", SYS_fchmodat, 2}, {"fchmodat2", kSysFchmodat2, 2},
    {"mknodat", SYS_mknodat, 2},
#ifdef __x86_64__
    {"chmod", SYS_chmod, 1},     {"creat", SYS_creat, 1},       {"mknod", SYS_mknod, 1},
#endif
};

TEST(SeccompBoundsTest, NoCallSetsTheSetUidOrSetGidBit) {
  for (const ModeCall& call : kModeCalls) {
    for (const uint64_t bits : {kSetUid, kSetGid, kSetUid | kSetGid}) {
      Call made{.number = call.number};
      made.args[call.mode_argument] = bits | 0755 | kGarbage;
      EXPECT_EQ(Verdict(made), Denied(EPERM)) << call.name;
    }
    for (const uint64_t mode : {0, 0755, 01777}) {
      Call made{.number = call.number};
      made.args[call.mode_argument] = mode;
      EXPECT_EQ(Verdict(made), kAllow) << call.name << " " << mode;
    }
  }
}

struct OpenCall {
  uint64_t number;
  int flags_argument;
};
constexpr OpenCall kOpenCalls[] = {
    {SYS_openat, 2},
#ifdef __x86_64__
    {SYS_open, 1},
#endif
};

TEST(SeccompBoundsTest, NoFileIsMadeSetUid) {
  for (const OpenCall& call : kOpenCalls) {
    const auto verdict = [&](uint64_t flags, uint64_t mode) {
      Call made{.number = call.number};
      made.args[call.flags_argument] = flags | kGarbage;
      made.args[call.flags_argument + 1] = mode | kGarbage;
      return Verdict(made);
    };
    for (const uint64_t flags : {O_CREAT, O_CREAT | O_EXCL | O_WRONLY, O_TMPFILE | O_RDWR,
                                 020000000 /* the half of O_TMPFILE that the kernel looks for */}) {
      EXPECT_EQ(verdict(flags, kSetUid | 0755), Denied(EPERM)) << flags;
      EXPECT_EQ(verdict(flags, kSetGid | 0755), Denied(EPERM)) << flags;
      EXPECT_EQ(verdict(flags, 01644), kAllow) << flags;
    }
    // Without one of these flags nobody reads the mode, and libraries pass what lies around.
    EXPECT_EQ(verdict(O_RDONLY, kSetUid), kAllow);
    EXPECT_EQ(verdict(O_RDWR | O_DIRECTORY, ~0ULL), kAllow);
  }
}

TEST(SeccompBoundsTest, CallsWhoseModeCannotBeReadDoNotExist) {
  EXPECT_EQ(Verdict({.number = SYS_openat2}), Denied(ENOSYS));
}

TEST(SeccompBoundsTest, HugePagesCannotBeHad) {
  const uint64_t huge_2mb = MAP_HUGETLB | (21U << 26);
  for (const uint64_t flags : {uint64_t{MAP_HUGETLB}, huge_2mb, MAP_HUGETLB | kGarbage}) {
    EXPECT_EQ(Verdict({.number = SYS_mmap, .args = {0, 0, 0, flags}}), Denied(ENOMEM));
  }
  for (const uint64_t flags : {MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS,
                               MAP_PRIVATE | MAP_FIXED | MAP_STACK | MAP_NORESERVE}) {
    EXPECT_EQ(Verdict({.number = SYS_mmap, .args = {0, 0, 0, flags}}), kAllow);
  }
  for (const Filter* filter :
       {&kToldFilters<true, false>.plain, &kCountedDebugFilter, &kToldFilters<true, true>.plain}) {
    const auto verdict = [&](uint64_t number, uint64_t a, uint64_t b, uint64_t c) {
      return Evaluate(*filter, {.number = number, .args = {a, b, c}});
    };
    EXPECT_EQ(verdict(SYS_memfd_create, 0, MFD_CLOEXEC | MFD_HUGETLB, 0), Denied(EINVAL));
    EXPECT_EQ(verdict(SYS_memfd_create, 0, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0), kAllow);
    EXPECT_EQ(verdict(SYS_shmget, 0, 0, 04000 | 01000 | 0600), Denied(ENOMEM));
    EXPECT_EQ(verdict(SYS_shmget, 0, 0, 01000 | 0600), kAllow);
  }
}

TEST(SeccompBoundsTest, AskingForLargerBuffersChangesNothingAndSaysYes) {
  const auto verdict = [](uint64_t level, uint64_t option) {
    return Verdict({.number = SYS_setsockopt, .args = {3, level | kGarbage, option | kGarbage}});
  };
  EXPECT_EQ(verdict(SOL_SOCKET, SO_SNDBUF), Denied(0));
  EXPECT_EQ(verdict(SOL_SOCKET, SO_RCVBUF), Denied(0));
  EXPECT_EQ(verdict(SOL_SOCKET, SO_REUSEADDR), kAllow);
  EXPECT_EQ(verdict(SOL_SOCKET, SO_KEEPALIVE), kAllow);
  EXPECT_EQ(verdict(6 /* TCP */, SO_SNDBUF), kAllow) << "another option of the same number";
}

TEST(SeccompBoundsTest, LeasesOldNotificationsAndLargerPipesAreRefused) {
  for (const uint64_t command : {F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ}) {
    EXPECT_EQ(Verdict({.number = SYS_fcntl, .args = {3, command | kGarbage}}), Denied(EPERM));
  }
  for (const uint64_t command : {F_GETFL, F_SETFL, F_SETLK, F_OFD_SETLK, F_DUPFD_CLOEXEC,
                                 F_GETLEASE, F_GETPIPE_SZ, F_ADD_SEALS}) {
    EXPECT_EQ(Verdict({.number = SYS_fcntl, .args = {F_NOTIFY, command}}), kAllow) << command;
  }
}

TEST(SeccompBoundsTest, EventsThatTheWholeMachineSharesCannotBeTaken) {
  EXPECT_EQ(Verdict({.number = SYS_io_setup}), Denied(ENOSYS));
}

}  // namespace
}  // namespace igloo::guest
