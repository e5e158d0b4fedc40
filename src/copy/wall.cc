#include "copy/wall.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/allow_list.h"
#include "base/unique_fd.h"
#include "copy/proc.h"

namespace igloo::copy {
namespace {

constexpr std::uint32_t kAllowedCalls[] = {
    // Bytes, of files that are open. SECURITY: none that takes a path: whatever has a name stays
    // where it is.
    SYS_read,
    SYS_write,
    SYS_pread64,
    SYS_pwrite64,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_recvfrom,
    SYS_sendto,
    SYS_close,
    SYS_lseek,
    SYS_memfd_create,
    SYS_ftruncate,
    SYS_fcntl,
    // Processes that are held.
    SYS_ptrace,
    SYS_wait4,
    SYS_waitid,
    SYS_process_vm_writev,
    // Waiting.
    SYS_ppoll,
    SYS_futex,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_sched_yield,
    SYS_restart_syscall,
    // Memory.
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    // Itself and its threads.
    SYS_close_range,
    SYS_setsid,
    SYS_socketpair,
    SYS_pipe2,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_getpid,
    SYS_gettid,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_sigaltstack,
    SYS_exit,
    SYS_exit_group,
#ifdef __x86_64__
    SYS_poll,
    SYS_dup2,
#else
    SYS_dup3,
#endif
};

/// As the C library makes threads, and the process that keeps descriptors
/// (copy/descriptor_holder.h).
constexpr std::uint32_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM |
                                  CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
                                  CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
constexpr std::uint32_t kFork = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;

Result<void> Fails(const char* what) {
  const int saved_errno = errno;
  return FailSys(saved_errno, std::string("igloo-copy cannot ") + what);
}

bool HasOwnNetwork(pid_t pid) {
  struct stat own{};
  struct stat other{};
  const auto look = [](pid_t whose, struct stat& into) {
    return ::fstatat(ProcDirectory(), (std::to_string(whose) + "/ns/net").c_str(), &into, 0) == 0;
  };
  return !look(::getpid(), own) || !look(pid, other) || own.st_ino != other.st_ino;
}

Result<bool> IsSameNamespace(int one, int other) {
  struct stat first{};
  struct stat second{};
  if (::fstat(one, &first) != 0 || ::fstat(other, &second) != 0) {
    return std::unexpected(Fails("tell namespaces apart").error());
  }
  return first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

/// The outermost user namespace around that of `inside` that lies in this process's own.
Result<UniqueFd> OutermostOf(pid_t inside) {
  IGLOO_ASSIGN(const UniqueFd own, OpenProc(::getpid(), "ns/user", O_RDONLY));
  IGLOO_ASSIGN(UniqueFd space, OpenProc(inside, "ns/user", O_RDONLY));
  for (;;) {
    UniqueFd around(::ioctl(space.get(), NS_GET_PARENT));
    if (!around) return std::unexpected(Fails("find the sandbox's user namespace").error());
    IGLOO_ASSIGN(const bool here, IsSameNamespace(around.get(), own.get()));
    if (here) return space;
    space = std::move(around);
  }
}

}  // namespace

Result<void> ReachIdOf(pid_t inside) {
  struct stat owner{};
  if (::fstatat(ProcDirectory(), std::to_string(inside).c_str(), &owner, 0) != 0) {
    return Fails("see whose the sandbox is");
  }
  // Root reaches every id.
  if (::geteuid() == 0 || owner.st_uid == ::geteuid()) return {};
  IGLOO_ASSIGN(const UniqueFd space, OutermostOf(inside));
  return ::setns(space.get(), CLONE_NEWUSER) == 0 ? Result<void>()
                                                  : Fails("reach the sandbox's id");
}

Result<void> EnterSandboxOf(pid_t inside) {
  const pid_t igloo = ::getppid();
  // SECURITY: root's groups would stay what files judge it by; in the sandbox nobody can change
  // them.
  if (::geteuid() == 0 && ::setgroups(0, nullptr) != 0) return Fails("leave root's groups");
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, inside, 0)));
  constexpr int kAlways =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  // A sandbox with the host's network has none of its own to enter.
  const int network = HasOwnNetwork(inside) ? CLONE_NEWNET : 0;
  if (!process || ::setns(process.get(), kAlways | network) != 0) return Fails("enter the sandbox");
  // Who the code is, in there.
  struct stat owner{};
  if (::fstatat(ProcDirectory(), std::to_string(inside).c_str(), &owner, 0) != 0) {
    return Fails("see whose the sandbox is");
  }
  // SECURITY: started by root it would still be root to files. The rights over the sandbox outlive
  // the change.
  ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
  if (::setresgid(owner.st_gid, owner.st_gid, owner.st_gid) != 0 ||
      ::setresuid(owner.st_uid, owner.st_uid, owner.st_uid) != 0) {
    return Fails("become the sandbox's user");
  }
  IGLOO_TRY(KeepCapabilities(1ULL << CAP_SYS_PTRACE));
  // Whoever becomes somebody else does not end with its parent any more, which may have ended by
  // now.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return Fails("end with igloo");
  if (::getppid() != igloo) return Fail(Errc::kFailedPrecondition, "igloo has ended");
  return {};
}

Result<void> RaiseWall() {
  // SECURITY: code in the sandbox has the same user id now, and could look into this process.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return Fails("close itself to others");
  CloseProc();
  AllowList filter;
  filter.Allow(kAllowedCalls);
  filter.AllowMemory();
  filter.AllowIf(SYS_clone, 0, {kThread, kFork});
  filter.Pretend(SYS_clone3);  // its flags are behind a pointer
  filter.AllowIf(
      SYS_ioctl, 1,
      {static_cast<std::uint32_t>(UFFDIO_REGISTER), static_cast<std::uint32_t>(UFFDIO_COPY),
       static_cast<std::uint32_t>(UFFDIO_ZEROPAGE), static_cast<std::uint32_t>(UFFDIO_WAKE)});
  // To end what it holds, by a descriptor that it has.
  filter.AllowIf(SYS_pidfd_send_signal, 1, {SIGKILL});
  filter.AllowIf(SYS_tgkill, 0, {static_cast<std::uint32_t>(::getpid())});
  filter.AllowIf(SYS_prctl, 0, {PR_SET_NAME, PR_SET_DUMPABLE});
  return std::move(filter).Install();
}

}  // namespace igloo::copy
