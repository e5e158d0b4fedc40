#include "base/allow_list.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace igloo {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;

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

}  // namespace

AllowList::AllowList()
    : code_{Load(offsetof(seccomp_data, arch)), Unless(kNativeArch, 1),
            BPF_STMT(BPF_JMP | BPF_JA, 1), Return(SECCOMP_RET_KILL_PROCESS),
            Load(offsetof(seccomp_data, nr))} {}

void AllowList::Allow(std::span<const std::uint32_t> calls) {
  for (const std::uint32_t call : calls) {
    code_.push_back(Unless(call, 1));
    code_.push_back(Return(SECCOMP_RET_ALLOW));
  }
}

void AllowList::AllowIf(std::uint32_t call, unsigned argument,
                        std::initializer_list<std::uint32_t> values) {
  code_.push_back(Unless(call, static_cast<std::uint8_t>(2 * values.size() + 2)));
  code_.push_back(Load(Argument(argument)));
  for (const std::uint32_t value : values) {
    code_.push_back(Unless(value, 1));
    code_.push_back(Return(SECCOMP_RET_ALLOW));
  }
  code_.push_back(Return(kDeny));
}

void AllowList::AllowMemory() {
  for (const std::uint32_t call : {SYS_mmap, SYS_mprotect}) {
    const std::array<sock_filter, 5> part = {Unless(call, 4), Load(Argument(2)),
                                             BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
                                             Return(kDeny), Return(SECCOMP_RET_ALLOW)};
    code_.insert(code_.end(), part.begin(), part.end());
  }
}

void AllowList::Pretend(std::uint32_t call) {
  code_.push_back(Unless(call, 1));
  code_.push_back(Return(SECCOMP_RET_ERRNO | ENOSYS));
}

Result<void> AllowList::Install() && {
  code_.push_back(Return(kDeny));
  const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot give up system calls");
}

Result<void> KeepCapabilities(std::uint64_t kept) {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets = {};
  for (unsigned i = 0; i < sets.size(); ++i) {
    sets[i].effective = sets[i].permitted = static_cast<std::uint32_t>(kept >> 32 * i);
  }
  if (::syscall(SYS_capset, &header, sets.data()) != 0 ||
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot give up capabilities");
  }
  return {};
}

}  // namespace igloo
