// Attacks on the mount table and on the namespaces that hold it.
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

#include "attack.h"

namespace igloo::attack {
namespace {

/// PATH: a file system of our own over what the sandbox shows.
int MountTmpfs(const Words& words) {
  return WonIf(mount("tmpfs", words[0], "tmpfs", 0, nullptr) == 0, "mounted a tmpfs");
}

/// PATH: the root once more, without what was mounted read-only or masked in it.
int BindRoot(const Words& words) {
  return WonIf(mount("/", words[0], nullptr, MS_BIND | MS_REC, nullptr) == 0,
               "bound the root elsewhere");
}

bool CanWriteIn(const char* directory) {
  char path[512];
  snprintf(path, sizeof path, "%s/igloo-probe", directory);
  return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
}

/// PATH: drops the read-only flag.
int RemountWritable(const Words& words) {
  if (CanWriteIn(words[0])) Broken("it was writable before");
  if (mount(nullptr, words[0], nullptr, MS_REMOUNT, nullptr) != 0 &&
      mount(nullptr, words[0], nullptr, MS_REMOUNT | MS_BIND, nullptr) != 0) {
    return Held("mount(MS_REMOUNT)");
  }
  return WonIf(CanWriteIn(words[0]), "wrote after a remount");
}

struct MountAttr {
  uint64_t set, clear, propagation, userns;
};

/// PATH: the same through the new calls, which filters written for the old ones forget.
int ClearReadOnly(const Words& words) {
  MountAttr attr{0, 1 /* MOUNT_ATTR_RDONLY */, 0, 0};
  const long done = syscall(SYS_mount_setattr, AT_FDCWD, words[0], 0, &attr, sizeof attr);
  return WonIf(done == 0, "mount_setattr cleared the read-only flag");
}

int OpenTree(const Words&) {
  constexpr unsigned kClone = 1, kRecursive = 0x8000;
  return WonIf(syscall(SYS_open_tree, AT_FDCWD, "/", kClone | kRecursive) >= 0,
               "open_tree cloned the root");
}

int OpenFileSystem(const Words&) {
  return WonIf(syscall(SYS_fsopen, "tmpfs", 0) >= 0, "fsopen gave a file system context");
}

/// Takes the cover off an entry of /proc and reads what is below.
int UncoverKeys(const Words&) {
  if (umount2("/proc/keys", MNT_DETACH) != 0) return Held("umount2");
  const int fd = open("/proc/keys", O_RDONLY | O_CLOEXEC);
  return WonIf(fd >= 0, "uncovered /proc/keys");
}

/// DIR: leaves the root for one of our own.
int PivotRoot(const Words& words) {
  if (chdir(words[0]) != 0) Broken("chdir");
  return WonIf(syscall(SYS_pivot_root, ".", ".") == 0, "pivot_root");
}

int Chroot(const Words& words) { return WonIf(chroot(words[0]) == 0, "chroot"); }

/// Every kind of namespace; the user namespace gives the right to all others.
int UnshareUser(const Words&) { return WonIf(unshare(CLONE_NEWUSER) == 0, "unshare"); }

int UnshareEach(const Words&) {
  for (const int kind : {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
                         CLONE_NEWCGROUP, CLONE_NEWTIME}) {
    if (unshare(kind) == 0) return Won("unshare");
  }
  return Held("unshare of every kind");
}

int WonIfChild(long pid, const char* what) {
  if (pid == 0) _exit(0);
  if (pid > 0) ExitOf(static_cast<int>(pid));
  return WonIf(pid > 0, what);
}

int CloneUser(const Words&) {
  return WonIfChild(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), "clone");
}

/// clone's flags stand in a register, clone3's behind a pointer that a filter cannot follow.
int Clone3User(const Words&) {
  clone_args args{};
  args.flags = CLONE_NEWUSER;
  args.exit_signal = SIGCHLD;
  return WonIfChild(syscall(SYS_clone3, &args, sizeof args), "clone3");
}

/// Goes into the mount namespace of PID 1.
int JoinInit(const Words&) {
  const long pidfd = syscall(SYS_pidfd_open, 1, 0);
  if (pidfd < 0) return Held("pidfd_open(1)");
  return WonIf(setns(static_cast<int>(pidfd), CLONE_NEWNS) == 0, "setns");
}

/// The limit on user namespaces is a file that root of the namespace may write.
int RaiseNamespaceLimit(const Words&) {
  const int fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return Held("open");
  return WonIf(write(fd, "100", 3) == 3, "raised user.max_user_namespaces");
}

constexpr Attack kTable[] = {
    {"mount-tmpfs", "privileges", MountTmpfs},
    {"bind-root", "privileges", BindRoot},
    {"remount-writable", "privileges", RemountWritable},
    {"clear-read-only", "privileges", ClearReadOnly},
    {"open-tree", "privileges", OpenTree},
    {"open-file-system", "privileges", OpenFileSystem},
    {"uncover-keys", "privileges", UncoverKeys},
    {"pivot-root", "privileges", PivotRoot},
    {"chroot", "privileges", Chroot},
    {"unshare-user", "privileges", UnshareUser},
    {"unshare-each", "privileges", UnshareEach},
    {"clone-user", "privileges", CloneUser},
    {"clone3-user", "privileges", Clone3User},
    {"join-init", "privileges", JoinInit},
    {"raise-namespace-limit", "privileges", RaiseNamespaceLimit},
};

}  // namespace

extern const Family kMounts = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
