#pragma once

// The payload's system call filter: rules as data, compiled to BPF by the compiler itself, so that
// nothing is built or linked for it at run time. The same tables generate the tests.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace igloo::guest {

struct DeniedCall {
  const char* name;
  uint32_t number;
  /// Also denied by the debug profile; the others are what debuggers need.
  bool always = true;
};

// Numbers that this C library's headers do not know yet; equal on every 64-bit architecture.
inline constexpr uint32_t kSysQuotactlFd = 443, kSysMemfdSecret = 447, kSysStatmount = 457,
                          kSysListmount = 458, kSysLsmSetSelfAttr = 460,
                          kSysSetMempolicyHomeNode = 450;
/// SECURITY: calls newer than this list answer ENOSYS, so a new kernel never widens the wall.
inline constexpr uint32_t kLastKnownCall = 462;

#define IGLOO_DENY(name) \
  DeniedCall { #name, SYS_##name }
/// Every call that fails with EPERM whatever its arguments.
inline constexpr DeniedCall kDeniedCalls[] = {
    // Other processes' memory and descriptors.
    {"ptrace", SYS_ptrace, false},
    {"process_vm_readv", SYS_process_vm_readv, false},
    {"process_vm_writev", SYS_process_vm_writev, false},
    IGLOO_DENY(process_madvise),
    IGLOO_DENY(pidfd_getfd),
    IGLOO_DENY(kcmp),
    // Large, young or historically broken parts of the kernel.
    IGLOO_DENY(perf_event_open),
    IGLOO_DENY(bpf),
    IGLOO_DENY(userfaultfd),
    IGLOO_DENY(io_uring_setup),
    IGLOO_DENY(io_uring_enter),
    IGLOO_DENY(io_uring_register),
    IGLOO_DENY(vmsplice),
    {"memfd_secret", kSysMemfdSecret},
    // Keys.
    IGLOO_DENY(add_key),
    IGLOO_DENY(request_key),
    IGLOO_DENY(keyctl),
    // Mounts and namespaces.
    IGLOO_DENY(mount),
    IGLOO_DENY(umount2),
    IGLOO_DENY(pivot_root),
    IGLOO_DENY(chroot),
    IGLOO_DENY(unshare),
    IGLOO_DENY(setns),
    IGLOO_DENY(open_tree),
    IGLOO_DENY(move_mount),
    IGLOO_DENY(fsopen),
    IGLOO_DENY(fsconfig),
    IGLOO_DENY(fsmount),
    IGLOO_DENY(fspick),
    IGLOO_DENY(mount_setattr),
    {"statmount", kSysStatmount},
    {"listmount", kSysListmount},
    // Files behind handles, and file system wide watching.
    IGLOO_DENY(name_to_handle_at),
    IGLOO_DENY(open_by_handle_at),
    IGLOO_DENY(fanotify_init),
    IGLOO_DENY(fanotify_mark),
    IGLOO_DENY(quotactl),
    {"quotactl_fd", kSysQuotactlFd},
    // The machine.
    IGLOO_DENY(acct),
    IGLOO_DENY(swapon),
    IGLOO_DENY(swapoff),
    IGLOO_DENY(reboot),
    IGLOO_DENY(kexec_load),
    IGLOO_DENY(init_module),
    IGLOO_DENY(finit_module),
    IGLOO_DENY(delete_module),
    IGLOO_DENY(syslog),
    IGLOO_DENY(sethostname),
    IGLOO_DENY(setdomainname),
    IGLOO_DENY(vhangup),
    IGLOO_DENY(nfsservctl),
    IGLOO_DENY(lookup_dcookie),
    {"lsm_set_self_attr", kSysLsmSetSelfAttr},
    IGLOO_DENY(settimeofday),
    IGLOO_DENY(clock_settime),
    IGLOO_DENY(adjtimex),
    IGLOO_DENY(clock_adjtime),
    // Placement of memory.
    IGLOO_DENY(mbind),
    IGLOO_DENY(set_mempolicy),
    IGLOO_DENY(get_mempolicy),
    IGLOO_DENY(migrate_pages),
    IGLOO_DENY(move_pages),
    {"set_mempolicy_home_node", kSysSetMempolicyHomeNode},
#ifdef SYS_kexec_file_load
    IGLOO_DENY(kexec_file_load),
#endif
#ifdef __x86_64__
    IGLOO_DENY(iopl),
    IGLOO_DENY(ioperm),
    IGLOO_DENY(modify_ldt),
    IGLOO_DENY(uselib),
    IGLOO_DENY(sysfs),
    IGLOO_DENY(ustat),
    IGLOO_DENY(create_module),
    IGLOO_DENY(get_kernel_syms),
    IGLOO_DENY(query_module),
    IGLOO_DENY(_sysctl),
#endif
};
#undef IGLOO_DENY
inline constexpr size_t kDeniedCount = sizeof kDeniedCalls / sizeof kDeniedCalls[0];

inline constexpr uint32_t kNewNamespaceFlags =
    0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;
inline constexpr uint32_t kTiocsti = 0x5412, kTioclinux = 0x541C;

#if defined(__x86_64__)
inline constexpr uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#else
#error "igloo supports x86_64 and aarch64"
#endif

inline constexpr size_t kMaxFilter = 512;

/// A finished filter.
struct Filter {
  sock_filter code[kMaxFilter] = {};
  uint16_t size = 0;
};

/// In what filters differ.
struct FilterRights {
  bool debug = false;    ///< what debuggers need
  bool counted = false;  ///< a cgroup counts memory that no process has mapped; see guest/memory.h
  bool raw_sockets = false;
  uint32_t granted = kLastKnownCall + 1;  ///< a call that is allowed although the tables deny it
};

/// Puts BPF instructions together; `Label` positions are patched forward.
class FilterBuilder {
 public:
  constexpr Filter Build(const FilterRights& rights) {
    Load(offsetof(seccomp_data, arch));
    JumpIfEqual(kNativeArch, 1, 0);  // SECURITY: also closes int 0x80 on x86_64
    ReturnErrno(ENOSYS);
    Load(offsetof(seccomp_data, nr));
    Emit(BPF_JMP | BPF_JGT | BPF_K, kLastKnownCall, 0, 1);  // x32 numbers are far above, too
    ReturnErrno(ENOSYS);
    if (rights.granted <= kLastKnownCall) {
      const uint16_t block = BeginBlock(rights.granted);
      Return(kAllow);
      EndBlock(block);
    }
    OnlyErrno(SYS_clone3, ENOSYS);  // its flags are behind a pointer; libc falls back to clone
    CloneRule();
    IoctlRule();
    RawSocketRule(rights.raw_sockets ? kAllow : SECCOMP_RET_ERRNO | EPERM);
    SocketRule();
    SocketPairRule();
#ifdef SYS_mknod
    MknodRule(SYS_mknod, 1);
#endif
    MknodRule(SYS_mknodat, 2);
    PersonalityRule();
    if (!rights.counted) {
      OnlyErrno(SYS_memfd_create, ENOSYS);
      OnlyErrno(SYS_shmget, ENOSYS);
    }
    InitRule(SYS_prlimit64);
    InitRule(SYS_sched_setaffinity);
    InitRule(SYS_sched_setscheduler);
    InitRule(SYS_sched_setparam);
    InitRule(SYS_sched_setattr);
    PriorityRule(SYS_setpriority, 0 /* PRIO_PROCESS */, 2 /* PRIO_USER */);
    PriorityRule(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, 3 /* IOPRIO_WHO_USER */);
    RangeSearch(rights.debug);
    return filter_;
  }

 private:
  static constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
  static constexpr uint32_t kInit = 1;  ///< igloo-init's process number

  constexpr void Emit(uint16_t code, uint32_t k, uint8_t jt = 0, uint8_t jf = 0) {
    filter_.code[filter_.size++] = {code, jt, jf, k};
  }
  constexpr void Load(uint32_t offset) { Emit(BPF_LD | BPF_W | BPF_ABS, offset); }
  /// SECURITY: the low half only: the kernel reads 32 bits of these arguments, and a filter that
  /// compares 64 is passed by garbage in the high half.
  constexpr void LoadArgument(uint32_t index) {
    Load(static_cast<uint32_t>(offsetof(seccomp_data, args)) + index * 8);
  }
  constexpr void JumpIfEqual(uint32_t k, uint8_t jt, uint8_t jf) {
    Emit(BPF_JMP | BPF_JEQ | BPF_K, k, jt, jf);
  }
  constexpr void Return(uint32_t action) { Emit(BPF_RET | BPF_K, action); }
  constexpr void ReturnErrno(uint32_t error) { Return(SECCOMP_RET_ERRNO | error); }

  /// Starts the block of one call; EndBlock makes every other call skip it.
  constexpr uint16_t BeginBlock(uint32_t number) {
    JumpIfEqual(number, 0, 0);
    return static_cast<uint16_t>(filter_.size - 1);
  }
  constexpr void EndBlock(uint16_t begin) {
    filter_.code[begin].jf = static_cast<uint8_t>(filter_.size - begin - 1);
  }

  constexpr void OnlyErrno(uint32_t number, uint32_t error) {
    const uint16_t block = BeginBlock(number);
    ReturnErrno(error);
    EndBlock(block);
  }
  constexpr void CloneRule() {
    const uint16_t block = BeginBlock(SYS_clone);
    LoadArgument(0);
    Emit(BPF_JMP | BPF_JSET | BPF_K, kNewNamespaceFlags, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
    EndBlock(block);
  }
  constexpr void IoctlRule() {
    const uint16_t block = BeginBlock(SYS_ioctl);
    LoadArgument(1);
    JumpIfEqual(kTiocsti, 1, 0);
    JumpIfEqual(kTioclinux, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
    EndBlock(block);
  }
  /// Packets of code's own making, and all that come. Who may not is told so in the words of the
  /// right that is missing; what else this family of calls has is judged by the next rule.
  constexpr void RawSocketRule(uint32_t verdict) {
    const uint16_t block = BeginBlock(SYS_socket);
    LoadArgument(0);
    JumpIfEqual(AF_PACKET, 5, 0);
    JumpIfEqual(AF_INET, 1, 0);
    JumpIfEqual(AF_INET6, 0, 4);
    LoadArgument(1);
    Emit(BPF_ALU | BPF_AND | BPF_K, 0xF);  // without SOCK_CLOEXEC and SOCK_NONBLOCK
    JumpIfEqual(SOCK_RAW, 0, 1);
    Return(verdict);
    Load(offsetof(seccomp_data, nr));
    EndBlock(block);
  }
  /// Unix; Internet streams and datagrams of the everyday protocols; netlink routing.
  constexpr void SocketRule() {
    const uint16_t block = BeginBlock(SYS_socket);
    LoadArgument(0);
    JumpIfEqual(AF_UNIX, 16, 0);
    JumpIfEqual(AF_INET, 4, 0);
    JumpIfEqual(AF_INET6, 3, 0);
    JumpIfEqual(AF_NETLINK, 0, 12);
    LoadArgument(2);
    Emit(BPF_JMP | BPF_JEQ | BPF_K, 0 /* NETLINK_ROUTE */, 11, 10);
    LoadArgument(1);
    Emit(BPF_ALU | BPF_AND | BPF_K, 0xF);  // without SOCK_CLOEXEC and SOCK_NONBLOCK
    JumpIfEqual(SOCK_STREAM, 1, 0);
    JumpIfEqual(SOCK_DGRAM, 0, 6);
    LoadArgument(2);
    JumpIfEqual(0, 5, 0);
    JumpIfEqual(6 /* TCP */, 4, 0);
    JumpIfEqual(17 /* UDP */, 3, 0);
    JumpIfEqual(1 /* ICMP */, 2, 0);
    JumpIfEqual(58 /* ICMPv6 */, 1, 0);
    ReturnErrno(EAFNOSUPPORT);
    Return(kAllow);
    EndBlock(block);
  }
  constexpr void SocketPairRule() {
    const uint16_t block = BeginBlock(SYS_socketpair);
    LoadArgument(0);
    JumpIfEqual(AF_UNIX, 1, 0);
    ReturnErrno(EAFNOSUPPORT);
    Return(kAllow);
    EndBlock(block);
  }
  /// No devices, not even the 0:0 that overlayfs takes for a whiteout.
  constexpr void MknodRule(uint32_t number, uint32_t mode_argument) {
    const uint16_t block = BeginBlock(number);
    LoadArgument(mode_argument);
    Emit(BPF_ALU | BPF_AND | BPF_K, S_IFMT);
    JumpIfEqual(S_IFCHR, 1, 0);
    JumpIfEqual(S_IFBLK, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
    EndBlock(block);
  }
  constexpr void PersonalityRule() {
    const uint16_t block = BeginBlock(SYS_personality);
    LoadArgument(0);
    JumpIfEqual(0, 2, 0);
    JumpIfEqual(0xFFFFFFFF, 1, 0);  // asks, does not set
    ReturnErrno(EPERM);
    Return(kAllow);
    EndBlock(block);
  }

  /// SECURITY: igloo-init has the payload's own id, so the kernel would let the payload take its
  /// descriptors or its processor away, and an init that cannot poll hears neither igloo nor the
  /// end of a child. The first argument of these calls is a process number.
  constexpr void InitRule(uint32_t number) {
    const uint16_t block = BeginBlock(number);
    LoadArgument(0);
    JumpIfEqual(kInit, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
    EndBlock(block);
  }
  /// The same where the first argument says what the second one is: init itself, or all processes
  /// of its user.
  constexpr void PriorityRule(uint32_t number, uint32_t process, uint32_t user) {
    const uint16_t block = BeginBlock(number);
    LoadArgument(0);
    JumpIfEqual(user, 3, 0);
    JumpIfEqual(process, 0, 3);
    LoadArgument(1);
    JumpIfEqual(kInit, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
    EndBlock(block);
  }

  struct Range {
    uint32_t first;
    bool denied;
  };
  /// A binary search over runs of equal verdict: the kernel evaluates the filter once for every
  /// call number at install time, so depth is what costs.
  constexpr void RangeSearch(bool debug) {
    bool denied[kLastKnownCall + 1] = {};
    for (const DeniedCall& call : kDeniedCalls) denied[call.number] = call.always || !debug;
    for (uint32_t number = 0; number <= kLastKnownCall; ++number) {
      if (ranges_ == 0 || range_[ranges_ - 1].denied != denied[number]) {
        range_[ranges_++] = {number, denied[number]};
      }
    }
    EmitSearch(0, ranges_ - 1);
  }
  constexpr void EmitSearch(size_t low, size_t high) {
    if (low == high) {
      Return(range_[low].denied ? (SECCOMP_RET_ERRNO | EPERM) : kAllow);
      return;
    }
    const size_t middle = (low + high + 1) / 2;
    const uint16_t at = filter_.size;
    Emit(BPF_JMP | BPF_JGE | BPF_K, range_[middle].first);
    EmitSearch(low, middle - 1);
    filter_.code[at].jt = static_cast<uint8_t>(filter_.size - at - 1);
    EmitSearch(middle, high);
  }

  Filter filter_ = {};
  Range range_[2 * kDeniedCount + 2] = {};
  size_t ranges_ = 0;
};

inline constexpr Filter kDefaultFilter = FilterBuilder().Build({});
inline constexpr Filter kDebugFilter = FilterBuilder().Build({.debug = true});
inline constexpr Filter kRawFilter = FilterBuilder().Build({.raw_sockets = true});
inline constexpr Filter kCountedFilter = FilterBuilder().Build({.counted = true});
inline constexpr Filter kCountedDebugFilter =
    FilterBuilder().Build({.debug = true, .counted = true});
inline constexpr Filter kCountedRawFilter =
    FilterBuilder().Build({.counted = true, .raw_sockets = true});
/// Of an interpreter whose forks go into other sandboxes. It runs nobody's code, and they get a
/// second filter before they do.
inline constexpr Filter kZygoteFilter =
    FilterBuilder().Build({.counted = true, .granted = SYS_setns});

}  // namespace igloo::guest
