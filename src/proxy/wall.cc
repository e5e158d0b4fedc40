#include "proxy/wall.h"

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/allow_list.h"

namespace igloo::proxy {

namespace {

/// An id that owns nothing, on every system.
constexpr uid_t kNobody = 65534;

/// All that carrying bytes needs. Calls of which only a part is needed have rules of their own
/// below.
constexpr std::uint32_t kAllowedCalls[] = {
    // Bytes.
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_recvfrom,
    SYS_sendto,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_splice,
    SYS_pipe2,
    SYS_close,
    SYS_lseek,
    SYS_pread64,
    // Sockets that are there already.
    SYS_accept4,
    SYS_connect,
    SYS_shutdown,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
    // Waiting.
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_timerfd_settime,
    SYS_futex,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_restart_syscall,
    SYS_ppoll,
    // Memory.
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    // Itself.
    SYS_getrandom,
    SYS_getpid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_sigaltstack,
    SYS_sched_yield,
    SYS_exit,
    SYS_exit_group,
#ifdef __x86_64__
    SYS_epoll_wait,
    SYS_poll,
    SYS_time,
    SYS_gettimeofday,
#endif
};

AllowList MakeFilter() {
  AllowList filter;
  filter.Allow(kAllowedCalls);
  filter.AllowMemory();
  filter.AllowIf(SYS_socket, 0, {AF_INET, AF_INET6});
  // SECURITY: none that has the kernel signal somebody (F_SETOWN), and none that asks for devices.
  filter.AllowIf(SYS_ioctl, 1, {FIONBIO});
  filter.AllowIf(SYS_fcntl, 1, {F_GETFL, F_SETFL, F_SETFD, F_SETPIPE_SZ, F_GET_SEALS});
  // SECURITY: a failed check ends this process; signals to others are not its business.
  filter.AllowIf(SYS_tgkill, 0, {static_cast<std::uint32_t>(::getpid())});
  return filter;
}

Result<void> Fails(const char* what) {
  const int saved_errno = errno;
  return FailSys(saved_errno, std::string("igloo-proxy cannot give up ") + what);
}

/// Started by root, it goes on as nobody where there is one; in every case without capabilities.
Result<void> DropPrivileges() {
  if (::geteuid() == 0) {
    // In a user namespace of one id nobody else is there to become.
    const bool gone = ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                      ::setresuid(kNobody, kNobody, kNobody) == 0;
    if (!gone && errno != EINVAL && errno != EPERM) return Fails("root");
  }
  return KeepCapabilities(0);
}

Result<void> SetLimits() {
  const std::pair<int, rlim_t> limits[] = {
      {RLIMIT_NPROC, 0}, {RLIMIT_FSIZE, 0}, {RLIMIT_CORE, 0}, {RLIMIT_MEMLOCK, 0}};
  for (const auto& [which, most] : limits) {
    const rlimit limit{most, most};
    if (::setrlimit(static_cast<__rlimit_resource_t>(which), &limit) != 0)
      return Fails("resources");
  }
  return {};
}

/// No file at all, no port to listen on, no signal and no named socket of others.
Result<void> ApplyLandlock() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1 /* VERSION */);
  if (abi <= 0) return {};  // the filter below lets no file be opened either
  struct {
    std::uint64_t files, network, scope;
  } attributes = {};
  attributes.files = (abi >= 5   ? 1ULL << 16
                      : abi >= 3 ? 1ULL << 15
                      : abi == 2 ? 1ULL << 14
                                 : 1ULL << 13) -
                     1;
  attributes.network = abi >= 4 ? 1 : 0;  // bind
  attributes.scope = abi >= 6 ? 3 : 0;
  const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const auto ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) return Fails("files");
  const bool restricted = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  if (!restricted) return Fails("files");
  ::close(ruleset);
  return {};
}

}  // namespace

Result<void> RaiseWall() {
  IGLOO_TRY(DropPrivileges());
  IGLOO_TRY(SetLimits());
  IGLOO_TRY(ApplyLandlock());
  // SECURITY: it holds the secrets of a trust domain: nobody may trace it or read its memory. After
  // the change of ids, which would undo it.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return Fails("being looked at");
  return MakeFilter().Install();
}

}  // namespace igloo::proxy
