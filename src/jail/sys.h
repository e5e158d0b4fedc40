#pragma once

// System calls that the C library has no wrapper for, and nothing else.

#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "kernel/calls.h"

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

namespace igloo::jail {

using kernel::CloseQuietly;
using kernel::NowMicros;
using kernel::ScopedFd;
using kernel::WriteTextAt;

inline int OpenTree(int dir, const char* path, unsigned flags) {
  return static_cast<int>(syscall(SYS_open_tree, dir, path, flags | OPEN_TREE_CLOEXEC));
}
/// A detached copy of what the descriptor shows; with AT_RECURSIVE of what is mounted in it, too.
inline int CloneTree(int fd, unsigned recursive = 0) {
  return OpenTree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | recursive);
}
inline bool MoveMount(int from, int to_dir, const char* to_path, unsigned flags = 0) {
  return syscall(SYS_move_mount, from, "", to_dir, to_path, flags | MOVE_MOUNT_F_EMPTY_PATH) == 0;
}
/// Changes a mount; with AT_RECURSIVE what is mounted in it, too.
inline bool SetMount(int mount, const mount_attr& attr, unsigned recursive = 0) {
  return syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | recursive, &attr, sizeof attr) == 0;
}
inline bool MakeReadOnly(int mount) { return SetMount(mount, {MOUNT_ATTR_RDONLY, 0, 0, 0}); }
inline int FsOpen(const char* type) {
  return static_cast<int>(syscall(SYS_fsopen, type, FSOPEN_CLOEXEC));
}
inline bool FsConfig(int fs, unsigned command, const char* key, const char* value) {
  return syscall(SYS_fsconfig, fs, command, key, value, 0) == 0;
}
inline int FsMount(int fs, unsigned attributes) {
  return static_cast<int>(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes));
}
inline int OpenAt2(int dir, const char* path, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  return static_cast<int>(syscall(SYS_openat2, dir, path, &how, sizeof how));
}
inline int PidfdSignal(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}
/// A fork-like clone3: the child has a copy of everything and returns 0 here.
inline int Clone3(clone_args& args) {
  return static_cast<int>(syscall(SYS_clone3, &args, sizeof args));
}

}  // namespace igloo::jail
