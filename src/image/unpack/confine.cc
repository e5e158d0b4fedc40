#include "image/unpack/confine.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"

#if defined(__SANITIZE_ADDRESS__)
#define IGLOO_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IGLOO_SANITIZED
#endif
#endif

namespace igloo::image::unpack {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "igloo supports x86_64 and aarch64"
#endif

/// All that unpacking does, and what the C library needs for memory and for an end.
constexpr auto kCalls = std::to_array<std::uint32_t>({
    SYS_read,         SYS_write,       SYS_close,         SYS_lseek,        SYS_fstat,
    SYS_newfstatat,   SYS_statx,       SYS_openat,        SYS_openat2,      SYS_getdents64,
    SYS_mkdirat,      SYS_unlinkat,    SYS_linkat,        SYS_symlinkat,    SYS_fchmod,
    SYS_utimensat,    SYS_ftruncate,   SYS_fcntl,         SYS_brk,          SYS_mmap,
    SYS_munmap,       SYS_mremap,      SYS_mprotect,      SYS_madvise,      SYS_futex,
    SYS_sched_yield,  SYS_getrandom,   SYS_clock_gettime, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_sigaltstack, SYS_getpid,        SYS_gettid,       SYS_exit,
    SYS_exit_group,
#ifdef IGLOO_SANITIZED  // how it finds out whether memory can be read
    SYS_pipe2,
#ifdef SYS_pipe
    SYS_pipe,
#endif
#endif
});

std::unexpected<Error> Cannot(const char* what) {
  const int saved_errno = errno;
  return FailSys(saved_errno, std::string("cannot ") + what + " before an image is unpacked");
}

Result<void> DropCapabilities() {
  for (unsigned long each = 0; each < 64; ++each) {
    // EINVAL: the kernel has no more; EPERM: there was none to begin with.
    if (::prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) break;
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return Cannot("drop capabilities");
  return {};
}

Result<void> Limit(const Limits& limits) {
  struct {
    int resource;
    rlim_t value;
  } const wanted[] = {
      {RLIMIT_CORE, 0},      {RLIMIT_NOFILE, 256},  // one for each level of a tree that is removed
      {RLIMIT_CPU, 3600},    {RLIMIT_FSIZE, limits.bytes},
#ifndef IGLOO_SANITIZED  // what looks for mistakes wants room for shadows
      {RLIMIT_AS, 1U << 30},
#endif
  };
  for (const auto& each : wanted) {
    rlimit now{};
    ::getrlimit(static_cast<__rlimit_resource_t>(each.resource), &now);
    const rlim_t value = now.rlim_max < each.value ? now.rlim_max : each.value;
    const rlimit both{value, value};
    if (::setrlimit(static_cast<__rlimit_resource_t>(each.resource), &both) != 0) {
      return Cannot("limit itself");
    }
  }
  return {};
}

bool Allow(int ruleset, int fd, std::uint64_t rights) {
  struct stat info{};
  // A file that is open already needs no rule.
  if (fd < 0 || ::fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode)) return true;
  const landlock_path_beneath_attr rule{rights, fd};
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

/// Second to the descriptors: even a mistake in unpacking reaches nothing else.
Result<void> RestrictFiles(int source, int target) {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi <= 0) return {};  // this kernel has none; `igloo doctor` says so
  // The first version has 13 rights, each of the next two one more (moving between directories,
  // truncating).
  const std::uint64_t all = (1ULL << (abi >= 3 ? 15 : abi == 2 ? 14 : 13)) - 1;
  const landlock_ruleset_attr attr{all};
  const UniqueFd ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0)));
  constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  constexpr std::uint64_t kRefer = 1ULL << 13, kTruncate = 1ULL << 14;
  const std::uint64_t write =
      (kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
       LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
       LANDLOCK_ACCESS_FS_MAKE_SYM | kRefer | kTruncate) &
      all;
  const bool done = ruleset && Allow(ruleset.get(), source, kRead) &&
                    Allow(ruleset.get(), target, write) &&
                    ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
  return done ? Result<void>() : Cannot("give up other files");
}

Result<void> RestrictCalls() {
  std::array<sock_filter, kCalls.size() + 8> code{};
  unsigned short size = 0;
  const auto emit = [&](std::uint16_t what, std::uint32_t value, std::uint8_t yes = 0,
                        std::uint8_t no = 0) { code[size++] = {what, yes, no, value}; };
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kIs = BPF_JMP | BPF_JEQ | BPF_K,
                          kReturn = BPF_RET | BPF_K;
  emit(kLoad, offsetof(seccomp_data, arch));
  emit(kIs, kArchitecture, 1, 0);
  emit(kReturn, SECCOMP_RET_KILL_PROCESS);
  emit(kLoad, offsetof(seccomp_data, nr));
  for (std::size_t i = 0; i < kCalls.size(); ++i) {
    emit(kIs, kCalls[i], static_cast<std::uint8_t>(kCalls.size() - i));
  }
  emit(kReturn, SECCOMP_RET_ERRNO | EPERM);
  emit(kReturn, SECCOMP_RET_ALLOW);
  const sock_fprog program{size, code.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) return {};
  return Cannot("give up system calls");
}

}  // namespace

Result<void> Confine(int source, int target, const Limits& limits) {
  ::umask(0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Cannot("give up privileges");
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  IGLOO_TRY(DropCapabilities());
  IGLOO_TRY(Limit(limits));
  IGLOO_TRY(RestrictFiles(source, target));
  return RestrictCalls();
}

}  // namespace igloo::image::unpack
