// Attacks for more rights than the payload was given.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

int BecomeRoot(const Words&) {
  if (syscall(SYS_setresgid, 0, 0, 0) != 0 || syscall(SYS_setresuid, 0, 0, 0) != 0) {
    return Held("setresuid");
  }
  return WonIf(geteuid() == 0, "became root");
}

int RaiseCapability(const Words&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  sets[0].effective = sets[0].permitted = 1U << CAP_SYS_ADMIN;
  return WonIf(syscall(SYS_capset, &header, sets) == 0, "capset");
}

/// Any bit in any of the five sets.
int AnyCapability(const Words&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) Broken("capget");
  for (const auto& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) return Won("a capability is held");
  }
  for (unsigned long number = 0; number < 64; ++number) {
    if (prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1) return Won("the bounding set is not empty");
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, number, 0, 0) == 1) return Won("ambient");
  }
  return Held("all sets are empty");
}

int MayGainPrivileges(const Words&) {
  return WonIf(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0, "no_new_privs is not set");
}

/// The effective user of a process, or -1.
long EffectiveUser(pid_t pid) {
  char path[64];
  char text[4096] = {};
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  close(fd);
  long real = -1;
  long effective = -1;
  const char* line = count > 0 ? strstr(text, "\nUid:") : nullptr;
  if (line == nullptr || sscanf(line, "\nUid: %ld %ld", &real, &effective) != 2) return -1;
  return effective;
}

/// Starts a program of the host that is set-uid root and looks whose rights it runs with. It waits
/// for input that never comes, so there is time to look.
int ExecSetUid(const Words& words) {
  struct stat info{};
  if (stat(words[0], &info) != 0 || (info.st_mode & S_ISUID) == 0) Broken("not a set-uid program");
  if (geteuid() == 0) Broken("already root");
  int input[2];
  int go[2];
  if (pipe(input) != 0 || pipe2(go, O_CLOEXEC) != 0) Broken("pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(input[0], 0);
    close(input[1]);
    execl(words[0], words[0], nullptr);
    (void)!write(go[1], "f", 1);
    _exit(1);
  }
  close(go[1]);
  char failed = 0;
  // End of file: the exec closed it.
  if (read(go[0], &failed, 1) != 0) Broken("the program did not start");
  const long user = EffectiveUser(child);
  kill(child, SIGKILL);
  close(input[1]);  // a privileged one may not be ours to kill: it ends by end of file
  ExitOf(child);
  if (user < 0) Broken("its status cannot be read");
  return WonIf(user != static_cast<long>(geteuid()), "a set-uid program got its owner's rights");
}

/// TYPE MAJOR MINOR PATH
int MakeNode(const Words& words) {
  const bool block = strcmp(words[0], "block") == 0;
  const dev_t device =
      makedev(static_cast<unsigned>(words.Number(1)), static_cast<unsigned>(words.Number(2)));
  return WonIf(mknod(words[3], (block ? S_IFBLK : S_IFCHR) | 0666, device) == 0, "mknod");
}

int SetHostName(const Words&) { return WonIf(sethostname("igloo-attack", 12) == 0, "sethostname"); }

/// The kernel checks the time before the right to set it, so that nobody's clock is at risk here.
int SetTime(const Words&) {
  const timespec impossible{0, 2'000'000'000};
  return WonIfReached(clock_settime(CLOCK_REALTIME, &impossible), "clock_settime");
}

/// Size of the kernel's log.
int ReadLog(const Words&) {
  return WonIf(syscall(SYS_syslog, 10, nullptr, 0) > 0, "asked the kernel's log");
}

/// Without these bits locked, a process that somehow became root would have root's capabilities.
int OpenSecurebits(const Words&) {
  constexpr int kNoRoot = 1 | 2, kNoSetUidFixup = 4 | 8, kNoAmbient = 64 | 128;  // each with a lock
  constexpr int kLocked = kNoRoot | kNoSetUidFixup | kNoAmbient;
  const int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  if (bits < 0) Broken("PR_GET_SECUREBITS");
  return WonIf((bits & kLocked) != kLocked, "securebits are not locked");
}

constexpr Attack kTable[] = {
    {"become-root", "privileges", BecomeRoot},
    {"raise-capability", "privileges", RaiseCapability},
    {"any-capability", "privileges", AnyCapability},
    {"may-gain-privileges", "privileges", MayGainPrivileges},
    {"exec-set-uid", "privileges", ExecSetUid},
    {"make-node", "privileges", MakeNode},
    {"set-host-name", "privileges", SetHostName},
    {"set-time", "privileges", SetTime},
    {"read-log", "privileges", ReadLog},
    {"open-securebits", "privileges", OpenSecurebits},
};

}  // namespace

extern const Family kPrivileges = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
