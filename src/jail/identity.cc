#include "jail/identity.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "jail/sys.h"

namespace igloo::jail {
namespace {

bool WriteProc(int proc_fd, pid_t pid, const char* name, const char* text) {
  char path[64];
  snprintf(path, sizeof path, "%d/%s", pid, name);
  return WriteTextAt(proc_fd, path, text);
}

bool WriteMap(int proc_fd, pid_t pid, const char* name, uint32_t inner, uint32_t outer,
              uint32_t count) {
  char text[64];
  snprintf(text, sizeof text, "%u %u %u", inner, outer, count);
  return WriteProc(proc_fd, pid, name, text);
}

}  // namespace

bool WriteMaps(int proc_fd, pid_t pid, const IdMap& map) {
  return WriteProc(proc_fd, pid, "setgroups", "deny") &&
         WriteMap(proc_fd, pid, "uid_map", map.inner.uid, map.outer.uid, map.count) &&
         WriteMap(proc_fd, pid, "gid_map", map.inner.gid, map.outer.gid, map.count);
}

bool BecomeUser(const Ids& ids) {
  const auto [uid, gid] = ids;
  if (syscall(SYS_setresgid, gid, gid, gid) != 0 || syscall(SYS_setresuid, uid, uid, uid) != 0) {
    return false;
  }
  // A change of id makes a process undumpable, and its /proc files root's; this one is still
  // only our own code.
  return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

bool DenyGroups(int proc_fd) { return WriteProc(proc_fd, getpid(), "setgroups", "deny"); }

int OwnerNamespace(int proc_fd, const Ids& owner, const Ids& host) {
  clone_args args{};
  args.flags = CLONE_NEWUSER;
  args.exit_signal = SIGCHLD;
  const pid_t pid = Clone3(args);
  if (pid == 0) {
    for (;;) pause();  // exists only to be looked at
  }
  if (pid < 0) return -1;
  int fd = -1;
  if (WriteMaps(proc_fd, pid, {owner, host, 1})) {
    char path[64];
    snprintf(path, sizeof path, "%d/ns/user", pid);
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
  }
  const int saved_errno = errno;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  errno = saved_errno;
  return fd;
}

bool MapOwners(int tree, int owners, unsigned recursive) {
  return SetMount(tree, {MOUNT_ATTR_IDMAP, 0, 0, static_cast<uint64_t>(owners)}, recursive);
}

}  // namespace igloo::jail
