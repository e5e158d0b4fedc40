#include "proxy/wall.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace igloo::proxy {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#endif

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

sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter Return(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }
/// Skips the next `skip` instructions unless the loaded word is `value`.
sock_filter Unless(std::uint32_t value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}
constexpr std::size_t Argument(unsigned i) {
  return offsetof(seccomp_data, args) +
         i * sizeof(std::uint64_t);  // the low half: little end first
}

constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;

/// A call whose argument must be one of these. The kernel takes 32 bits of all of them.
void OneOf(std::vector<sock_filter>& filter, std::uint32_t call, unsigned argument,
           std::initializer_list<std::uint32_t> values) {
  filter.push_back(Unless(call, static_cast<std::uint8_t>(2 * values.size() + 2)));
  filter.push_back(Load(Argument(argument)));
  for (const std::uint32_t value : values) {
    filter.push_back(Unless(value, 1));
    filter.push_back(Return(SECCOMP_RET_ALLOW));
  }
  filter.push_back(Return(kDeny));
}

/// A call that makes memory, which must not be code.
void NoCode(std::vector<sock_filter>& filter, std::uint32_t call) {
  const std::array<sock_filter, 5> part = {Unless(call, 4), Load(Argument(2)),
                                           BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
                                           Return(kDeny), Return(SECCOMP_RET_ALLOW)};
  filter.insert(filter.end(), part.begin(), part.end());
}

std::vector<sock_filter> MakeFilter() {
  std::vector<sock_filter> filter = {
      Load(offsetof(seccomp_data, arch)), Unless(kNativeArch, 1), BPF_STMT(BPF_JMP | BPF_JA, 1),
      Return(SECCOMP_RET_KILL_PROCESS), Load(offsetof(seccomp_data, nr))};
  for (const std::uint32_t call : kAllowedCalls) {
    filter.push_back(Unless(call, 1));
    filter.push_back(Return(SECCOMP_RET_ALLOW));
  }
  NoCode(filter, SYS_mmap);
  NoCode(filter, SYS_mprotect);
  OneOf(filter, SYS_socket, 0, {AF_INET, AF_INET6});
  // SECURITY: none that has the kernel signal somebody (F_SETOWN), and none that asks for devices.
  OneOf(filter, SYS_ioctl, 1, {FIONBIO});
  OneOf(filter, SYS_fcntl, 1, {F_GETFL, F_SETFL, F_SETFD, F_SETPIPE_SZ, F_GET_SEALS});
  // SECURITY: a failed check ends this process; signals to others are not its business.
  OneOf(filter, SYS_tgkill, 0, {static_cast<std::uint32_t>(::getpid())});
  filter.push_back(Return(kDeny));
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
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none = {};
  if (::syscall(SYS_capset, &header, none.data()) != 0) return Fails("capabilities");
  return {};
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
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Fails("new privileges");
  IGLOO_TRY(SetLimits());
  IGLOO_TRY(ApplyLandlock());
  // SECURITY: it holds the secrets of all sandboxes: nobody may trace it or read its memory. After
  // the change of ids, which would undo it.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return Fails("being looked at");
  const std::vector<sock_filter> filter = MakeFilter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    return Fails("system calls");
  return {};
}

}  // namespace igloo::proxy
