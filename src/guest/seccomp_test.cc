#include "guest/seccomp.h"

#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>

#include <set>
#include <string>

#include "guest/seccomp_testing.h"

namespace igloo::guest {
namespace {

class DeniedCallTest : public ::testing::TestWithParam<DeniedCall> {};

TEST_P(DeniedCallTest, FailsWithEpermInTheNativeAbi) {
  const Call call{.number = GetParam().number};
  EXPECT_EQ(Evaluate(kDefaultFilter, call), Denied(EPERM));
  EXPECT_EQ(Evaluate(kDebugFilter, call), GetParam().always ? Denied(EPERM) : kAllow);
}

TEST_P(DeniedCallTest, FailsWithEpermWhateverItsArguments) {
  const Call call{.number = GetParam().number, .args = {~0ULL, 1, ~0ULL, 2, 3, 4}};
  EXPECT_EQ(Evaluate(kDefaultFilter, call), Denied(EPERM));
}

TEST_P(DeniedCallTest, DoesNotExistInOtherAbis) {
  EXPECT_EQ(Verdict({.number = GetParam().number, .arch = AUDIT_ARCH_I386}), Denied(ENOSYS));
  EXPECT_EQ(Verdict({.number = GetParam().number, .arch = AUDIT_ARCH_ARM}), Denied(ENOSYS));
  EXPECT_EQ(Verdict({.number = GetParam().number | 0x40000000}), Denied(ENOSYS)) << "x32";
}

class RuledCallTest : public ::testing::TestWithParam<RuledCall> {};

TEST_P(RuledCallTest, DoesNotExistInOtherAbis) {
  EXPECT_EQ(Verdict({.number = GetParam().number, .arch = AUDIT_ARCH_I386}), Denied(ENOSYS));
  EXPECT_EQ(Verdict({.number = GetParam().number | 0x40000000}), Denied(ENOSYS)) << "x32";
}

/// A rule that refuses nothing would be a mistake in its code. One of these argument lists is
/// refused by each of them.
TEST_P(RuledCallTest, RefusesSomethingInEveryProfile) {
  const Call calls[] = {{.args = {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL}},
                        {.args = {1, 1}},
                        {.args = {0, kTiocsti}},
                        {.args = {0, kSetLease}},
                        {.args = {0, SOL_SOCKET, SO_SNDBUF}}};
  for (const Filter* filter : kAllFilters) {
    bool refused = false;
    for (Call call : calls) {
      call.number = GetParam().number;
      refused = refused || Evaluate(*filter, call) != kAllow;
    }
    EXPECT_TRUE(refused) << GetParam().name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seccomp, RuledCallTest, ::testing::ValuesIn(kRuledCalls),
                         [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(Seccomp, DeniedCallTest, ::testing::ValuesIn(kDeniedCalls),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(SeccompTest, NoCallIsListedTwiceOrOutOfReach) {
  std::set<uint32_t> numbers;
  for (const DeniedCall& call : kDeniedCalls) {
    EXPECT_TRUE(numbers.insert(call.number).second) << call.name;
    EXPECT_LE(call.number, kLastKnownCall) << call.name;
  }
  for (const RuledCall& call : kRuledCalls) {
    EXPECT_TRUE(numbers.insert(call.number).second) << call.name;
    EXPECT_LE(call.number, kLastKnownCall) << call.name;
  }
}

TEST(SeccompTest, EveryNumberHasTheVerdictOfTheTable) {
  std::set<uint32_t> denied;
  for (const DeniedCall& call : kDeniedCalls) denied.insert(call.number);
  // Judged by their arguments, all zero here.
  const std::set<uint32_t> special = {SYS_clone3,     SYS_openat2,      SYS_io_setup, SYS_socket,
                                      SYS_socketpair, SYS_memfd_create, SYS_shmget};
  for (uint32_t number = 0; number <= kLastKnownCall; ++number) {
    if (special.contains(number)) continue;
    EXPECT_EQ(Evaluate(kDefaultFilter, {.number = number}),
              denied.contains(number) ? Denied(EPERM) : kAllow)
        << number;
  }
}

TEST(SeccompTest, ProfilesDifferExactlyInWhatDebuggersNeed) {
  std::set<uint32_t> different;
  for (uint32_t number = 0; number <= kLastKnownCall + 10; ++number) {
    const Call call{.number = number};
    if (Evaluate(kDefaultFilter, call) == Evaluate(kDebugFilter, call)) continue;
    EXPECT_EQ(Evaluate(kDebugFilter, call), kAllow);
    different.insert(number);
  }
  EXPECT_EQ(different,
            (std::set<uint32_t>{SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev}));
}

TEST(SeccompTest, TheRightToRawSocketsIsNoRightToAnythingElse) {
  for (uint32_t number = 0; number <= kLastKnownCall + 10; ++number) {
    const Call call{.number = number, .args = {~0ULL, 1, ~0ULL, 2, 3, 4}};
    EXPECT_EQ(Evaluate(kToldFilters<false, true>.plain, call), Evaluate(kDefaultFilter, call))
        << number;
    EXPECT_EQ(Evaluate(kToldFilters<true, true>.plain, call),
              Evaluate(kToldFilters<true, false>.plain, call))
        << number;
  }
}

TEST(SeccompTest, CallsOfFutureKernelsDoNotExist) {
  EXPECT_EQ(Verdict({.number = kLastKnownCall}), kAllow);
  for (const uint64_t number : {kLastKnownCall + 1ULL, kLastKnownCall + 100ULL, 0x40000000ULL,
                                0x7FFFFFFFULL, 0x80000000ULL, 0xFFFFFFFFULL}) {
    EXPECT_EQ(Verdict({.number = number}), Denied(ENOSYS)) << number;
  }
}

TEST(SeccompTest, OtherArchitecturesHaveNoCallsAtAll) {
  for (uint32_t number = 0; number <= kLastKnownCall; ++number) {
    EXPECT_EQ(Verdict({.number = number, .arch = AUDIT_ARCH_I386}), Denied(ENOSYS)) << number;
    EXPECT_EQ(Verdict({.number = number | 0x40000000}), Denied(ENOSYS)) << number;
  }
}

TEST(SeccompTest, LimitsOfInitStayAsTheyAre) {
  EXPECT_EQ(Verdict({.number = SYS_prlimit64, .args = {1}}), Denied(EPERM));
  EXPECT_EQ(Verdict({.number = SYS_prlimit64, .args = {1 | kGarbage}}), Denied(EPERM));
  EXPECT_EQ(Verdict({.number = SYS_prlimit64, .args = {0}}), kAllow);
  EXPECT_EQ(Verdict({.number = SYS_prlimit64, .args = {2}}), kAllow);
}

TEST(SeccompTest, ThePayloadMayNotTakeTheProcessorFromInit) {
  for (const uint64_t number :
       {SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr}) {
    EXPECT_EQ(Verdict({.number = number, .args = {1}}), Denied(EPERM)) << number;
    EXPECT_EQ(Verdict({.number = number, .args = {1 | kGarbage}}), Denied(EPERM)) << number;
    EXPECT_EQ(Verdict({.number = number, .args = {0}}), kAllow) << number;
    EXPECT_EQ(Verdict({.number = number, .args = {2}}), kAllow) << number;
  }
  struct Which {
    uint64_t number, process, group, user;
  };
  for (const Which& call : {Which{SYS_setpriority, 0, 1, 2}, Which{SYS_ioprio_set, 1, 2, 3}}) {
    EXPECT_EQ(Verdict({.number = call.number, .args = {call.process, 1}}), Denied(EPERM));
    EXPECT_EQ(Verdict({.number = call.number, .args = {call.user, 0}}), Denied(EPERM));
    EXPECT_EQ(Verdict({.number = call.number, .args = {call.user, 1000}}), Denied(EPERM));
    EXPECT_EQ(Verdict({.number = call.number, .args = {call.process, 0}}), kAllow);
    EXPECT_EQ(Verdict({.number = call.number, .args = {call.group, 0}}), kAllow);
  }
}

TEST(SeccompTest, MemoryThatNoProcessHasMappedCannotBeMade) {
  EXPECT_EQ(Verdict({.number = SYS_memfd_create}), Denied(ENOSYS));
  EXPECT_EQ(Verdict({.number = SYS_shmget}), Denied(ENOSYS));
}

TEST(SeccompTest, Clone3DoesNotExistSoThatLibcFallsBackToClone) {
  EXPECT_EQ(Verdict({.number = SYS_clone3}), Denied(ENOSYS));
}

TEST(SeccompTest, CloneMakesProcessesAndThreadsButNoNamespaces) {
  const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                          CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  for (const uint64_t flags : {uint64_t{17}, thread, uint64_t{CLONE_VM | CLONE_VFORK | 17},
                               kGarbage | 17, uint64_t{CLONE_PIDFD}}) {
    EXPECT_EQ(Verdict({.number = SYS_clone, .args = {flags}}), kAllow) << flags;
  }
  for (const uint64_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                              CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    for (const uint64_t other : {uint64_t{0}, uint64_t{17}, thread, kGarbage}) {
      EXPECT_EQ(Verdict({.number = SYS_clone, .args = {flag | other}}), Denied(EPERM)) << flag;
    }
  }
}

TEST(SeccompTest, TerminalInputCannotBeForgedNorALineDisciplineLoaded) {
  for (const uint64_t request : {uint64_t{TIOCSTI}, uint64_t{TIOCLINUX}, uint64_t{TIOCSETD}}) {
    EXPECT_EQ(Verdict({.number = SYS_ioctl, .args = {0, request}}), Denied(EPERM));
    EXPECT_EQ(Verdict({.number = SYS_ioctl, .args = {0, request | kGarbage}}), Denied(EPERM))
        << "the kernel reads 32 bits";
  }
  for (const uint64_t request : {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO}) {
    EXPECT_EQ(Verdict({.number = SYS_ioctl, .args = {TIOCSTI, request}}), kAllow) << request;
  }
}

TEST(SeccompTest, SocketsAreUnixInternetOrRouting) {
  for (uint64_t family = 0; family < 50; ++family) {
    for (const uint64_t type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_PACKET}) {
      for (const uint64_t protocol : {0, 1, 2, 6, 17, 58, 132, 136, 255, 262}) {
        const bool internet = family == AF_INET || family == AF_INET6;
        const bool everyday =
            protocol == 0 || protocol == 6 || protocol == 17 || protocol == 1 || protocol == 58;
        const bool allowed =
            family == AF_UNIX ||
            (internet && everyday && (type == SOCK_STREAM || type == SOCK_DGRAM)) ||
            (family == AF_NETLINK && protocol == 0);
        // A right that can be had, by name.
        const bool raw = family == AF_PACKET || (internet && type == SOCK_RAW);
        const uint32_t refused = Denied(raw ? EPERM : EAFNOSUPPORT);
        for (const uint64_t flags : {0, SOCK_CLOEXEC | SOCK_NONBLOCK}) {
          const Call call{
              .number = SYS_socket,
              .args = {family | kGarbage, type | flags | kGarbage, protocol | kGarbage}};
          EXPECT_EQ(Verdict(call), allowed ? kAllow : refused)
              << family << " " << type << " " << protocol;
          for (const Filter* filter :
               {&kToldFilters<false, true>.plain, &kToldFilters<true, true>.plain}) {
            EXPECT_EQ(Evaluate(*filter, call), allowed || raw ? kAllow : refused)
                << family << " " << type << " " << protocol;
          }
        }
      }
    }
  }
  EXPECT_EQ(Verdict({.number = SYS_socket, .args = {~0ULL, SOCK_STREAM}}), Denied(EAFNOSUPPORT));
}

TEST(SeccompTest, SocketPairsAreUnix) {
  for (uint64_t family = 0; family < 50; ++family) {
    EXPECT_EQ(Verdict({.number = SYS_socketpair, .args = {family, SOCK_STREAM}}),
              family == AF_UNIX ? kAllow : Denied(EAFNOSUPPORT))
        << family;
  }
}

TEST(SeccompTest, NodesAreNeverDevices) {
  const auto mknodat = [](uint64_t mode) {
    return Verdict({.number = SYS_mknodat, .args = {~0ULL, 0, mode | kGarbage}});
  };
  for (const uint64_t mode : {S_IFCHR, S_IFBLK}) {
    EXPECT_EQ(mknodat(mode | 0666), Denied(EPERM));
    EXPECT_EQ(mknodat(mode | 0666 | 0x10000), Denied(EPERM)) << "the kernel reads 16 bits";
  }
  for (const uint64_t mode : {0, S_IFREG, S_IFIFO, S_IFSOCK}) {
    EXPECT_EQ(mknodat(mode | 0666), kAllow) << mode;
  }
#ifdef SYS_mknod
  const auto mknod = [](uint64_t mode) {
    return Verdict({.number = SYS_mknod, .args = {0, mode | kGarbage, S_IFCHR}});
  };
  for (const uint64_t mode : {S_IFCHR, S_IFBLK}) EXPECT_EQ(mknod(mode | 0666), Denied(EPERM));
  for (const uint64_t mode : {0, S_IFREG, S_IFIFO, S_IFSOCK}) EXPECT_EQ(mknod(mode), kAllow);
#endif
}

TEST(SeccompTest, PersonalityMayBeAskedButNotWeakened) {
  const auto personality = [](uint64_t persona) {
    return Verdict({.number = SYS_personality, .args = {persona}});
  };
  EXPECT_EQ(personality(0), kAllow);
  EXPECT_EQ(personality(0xFFFFFFFF), kAllow);
  EXPECT_EQ(personality(~0ULL), kAllow) << "-1 as a long asks, too";
  for (const uint32_t persona :
       {uint32_t{READ_IMPLIES_EXEC}, uint32_t{ADDR_NO_RANDOMIZE}, uint32_t{ADDR_COMPAT_LAYOUT},
        uint32_t{MMAP_PAGE_ZERO}, uint32_t{PER_LINUX32}, uint32_t{PER_SVR4}}) {
    EXPECT_EQ(personality(persona), Denied(EPERM)) << persona;
    EXPECT_EQ(personality(persona | kGarbage), Denied(EPERM)) << persona;
  }
}

TEST(SeccompTest, EverydayCallsWork) {
  for (const uint64_t number : {SYS_read,
                                SYS_write,
                                SYS_openat,
                                SYS_close,
                                SYS_newfstatat,
                                SYS_lseek,
                                SYS_mmap,
                                SYS_mprotect,
                                SYS_munmap,
                                SYS_brk,
                                SYS_rt_sigaction,
                                SYS_ioctl,
                                SYS_pread64,
                                SYS_readv,
                                SYS_pipe2,
                                SYS_execve,
                                SYS_execveat,
                                SYS_exit_group,
                                SYS_wait4,
                                SYS_kill,
                                SYS_clone,
                                SYS_futex,
                                SYS_set_robust_list,
                                SYS_getrandom,
                                SYS_prlimit64,
                                SYS_epoll_create1,
                                SYS_epoll_ctl,
                                SYS_epoll_pwait,
                                SYS_eventfd2,
                                SYS_timerfd_create,
                                SYS_connect,
                                SYS_bind,
                                SYS_listen,
                                SYS_accept4,
                                SYS_sendmsg,
                                SYS_recvmsg,
                                SYS_getdents64,
                                SYS_statx,
                                SYS_renameat2,
                                SYS_unlinkat,
                                SYS_inotify_init1,

                                SYS_copy_file_range,
                                SYS_clock_gettime,
                                SYS_nanosleep,
                                SYS_sched_yield,
                                SYS_prctl,
                                SYS_seccomp,
                                SYS_rseq,
                                SYS_pidfd_open,
                                SYS_landlock_restrict_self,
                                SYS_close_range,
                                SYS_faccessat2}) {
    EXPECT_EQ(Verdict({.number = number}), kAllow) << number;
  }
}

// A change of the filter is a change of the wall: update these numbers in the commit that argues
// it.
#ifdef __x86_64__
/// FNV-1a over the instructions that are used.
uint64_t HashOf(const Filter& filter) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) hash = (hash ^ (value >> (8 * i) & 0xFF)) * 0x100000001b3;
  };
  for (size_t i = 0; i < filter.size; ++i) {
    mix(filter.code[i].code, 2);
    mix(filter.code[i].jt, 1);
    mix(filter.code[i].jf, 1);
    mix(filter.code[i].k, 4);
  }
  return hash;
}

TEST(SeccompTest, TheFilterIsTheOneThatWasReviewed) {
  EXPECT_EQ(kDefaultFilter.size, 338);
  EXPECT_EQ(HashOf(kDefaultFilter), 6346826524458732972U);
  EXPECT_EQ(kDebugFilter.size, 334);
  EXPECT_EQ(HashOf(kDebugFilter), 11453271435002950172U);
}
#endif

}  // namespace
}  // namespace igloo::guest
