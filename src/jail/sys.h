#pragma once

// System calls that the C library has no wrapper for, and nothing else.

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

namespace igloo::jail {

inline int OpenTree(int dir, const char* path, unsigned flags) {
  return static_cast<int>(syscall(SYS_open_tree, dir, path, flags | OPEN_TREE_CLOEXEC));
}
inline int MoveMount(int from, int to_dir, const char* to_path, unsigned flags) {
  return static_cast<int>(
      syscall(SYS_move_mount, from, "", to_dir, to_path, flags | MOVE_MOUNT_F_EMPTY_PATH));
}
inline int MountSetattr(int dir, const char* path, unsigned flags, mount_attr& attr) {
  return static_cast<int>(syscall(SYS_mount_setattr, dir, path, flags, &attr, sizeof attr));
}
inline int FsOpen(const char* type) {
  return static_cast<int>(syscall(SYS_fsopen, type, FSOPEN_CLOEXEC));
}
inline int FsConfig(int fs, unsigned command, const char* key, const char* value) {
  return static_cast<int>(syscall(SYS_fsconfig, fs, command, key, value, 0));
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

inline uint64_t NowMicros() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000;
}

/// Closes and keeps errno: for error paths.
inline void CloseQuietly(int fd) {
  const int saved_errno = errno;
  if (fd >= 0) close(fd);
  errno = saved_errno;
}

/// Writes a whole setting at once; errno says why not. It is not touched otherwise: jail/helper.cc
/// shares it with another process.
inline bool WriteTextAt(int directory, const char* path, const char* text) {
  const int fd = openat(directory, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const size_t size = strlen(text);
  if (write(fd, text, size) == static_cast<ssize_t>(size)) return close(fd) == 0;
  CloseQuietly(fd);
  return false;
}

}  // namespace igloo::jail
