#pragma once

// What the payload's filter says about each system call, as data. guest/seccomp.h compiles it;
// the tests are generated from it.

#include <stddef.h>
#include <stdint.h>
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
inline constexpr uint32_t kSysFchmodat2 = 452;
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

/// Refused calls that igloo-init is told of where somebody wants to know: few, and of those that
/// people ask about. `clone` with namespaces and raw sockets belong to them. All answer EPERM.
inline constexpr uint32_t kToldCalls[] = {
    SYS_ptrace,     SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2,
    SYS_pivot_root, SYS_chroot,           SYS_unshare,           SYS_setns, SYS_perf_event_open,
    SYS_bpf,        SYS_userfaultfd,
};

/// How a call asks for the path that is its argument.
enum class PathUse : uint8_t {
  kOpen,   ///< the flags are the argument behind it
  kMake,   ///< makes a name that is not there yet
  kProbe,  ///< asks whether it is there
};
struct PathCall {
  uint32_t number;
  uint8_t path;  ///< the argument's number; of `at` calls, the one before it is a directory
  bool at;
  PathUse use;
};
inline constexpr uint32_t kSysFaccessat2 = 439;
/// Calls that igloo-init sees before they are made, where files are watched. The filter allows all
/// of them, with these arguments, to everybody.
inline constexpr PathCall kPathCalls[] = {
    {SYS_openat, 1, true, PathUse::kOpen},     {SYS_mkdirat, 1, true, PathUse::kMake},
    {SYS_faccessat, 1, true, PathUse::kProbe}, {kSysFaccessat2, 1, true, PathUse::kProbe},
#ifdef __x86_64__
    {SYS_open, 0, false, PathUse::kOpen},      {SYS_mkdir, 0, false, PathUse::kMake},
    {SYS_access, 0, false, PathUse::kProbe},
#endif
};

/// What the filter answers to a call: always the same, or by its arguments.
enum class Rule : uint8_t {
  kAllow,
  kEperm,
  kMissing,  ///< ENOSYS, so that libraries fall back to an older call
  kAsked,    ///< igloo-init answers: with EPERM, or that the call may be made
  kClone,    ///< processes and threads, no namespaces
  kIoctl,
  kFcntl,
  kSocket,
  kSocketPair,
  kSocketOption,
  // The number is that of the argument with the mode.
  kMode1,
  kMode2,
  kOpen2,  ///< the flags are the argument before it
  kOpen3,
  kNode1,
  kNode2,
  kPersonality,
  kNotInit,  ///< the first argument is a process number, and not igloo-init's
  kProcessPriority,
  kIoPriority,
  kMap,
  kMemoryFile,
  kSharedMemory,
  kCount,
};

struct RuledCall {
  const char* name;
  uint32_t number;
  Rule rule;
};

#define IGLOO_RULE(name, rule) \
  RuledCall { #name, SYS_##name, Rule::rule }
/// Every call whose answer is neither kAllow nor EPERM whatever its arguments.
inline constexpr RuledCall kRuledCalls[] = {
    // Their flags or modes are behind a pointer, where a filter cannot look.
    IGLOO_RULE(clone3, kMissing),
    IGLOO_RULE(openat2, kMissing),
    // Its events are counted for the whole machine (fs.aio-max-nr): one sandbox could take all.
    IGLOO_RULE(io_setup, kMissing),
    IGLOO_RULE(clone, kClone),
    IGLOO_RULE(ioctl, kIoctl),
    IGLOO_RULE(fcntl, kFcntl),
    IGLOO_RULE(socket, kSocket),
    IGLOO_RULE(socketpair, kSocketPair),
    IGLOO_RULE(setsockopt, kSocketOption),
    // Not mkdir and mkdirat: the kernel ignores these bits there.
    IGLOO_RULE(fchmod, kMode1),
    IGLOO_RULE(fchmodat, kMode2),
    {"fchmodat2", kSysFchmodat2, Rule::kMode2},
    IGLOO_RULE(openat, kOpen3),
    IGLOO_RULE(mknodat, kNode2),
#ifdef __x86_64__
    IGLOO_RULE(chmod, kMode1),
    IGLOO_RULE(creat, kMode1),
    IGLOO_RULE(open, kOpen2),
    IGLOO_RULE(mknod, kNode1),
#endif
    IGLOO_RULE(personality, kPersonality),
    IGLOO_RULE(prlimit64, kNotInit),
    IGLOO_RULE(sched_setaffinity, kNotInit),
    IGLOO_RULE(sched_setscheduler, kNotInit),
    IGLOO_RULE(sched_setparam, kNotInit),
    IGLOO_RULE(sched_setattr, kNotInit),
    IGLOO_RULE(setpriority, kProcessPriority),
    IGLOO_RULE(ioprio_set, kIoPriority),
    IGLOO_RULE(mmap, kMap),
    IGLOO_RULE(memfd_create, kMemoryFile),
    IGLOO_RULE(shmget, kSharedMemory),
};
#undef IGLOO_RULE
inline constexpr size_t kRuledCount = sizeof kRuledCalls / sizeof kRuledCalls[0];

}  // namespace igloo::guest
