// Attacks with what came along: descriptors, variables, signals, keys, terminals, shared memory.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attack.h"

extern char** environ;

namespace igloo::attack {
namespace {

bool IsPipeOrNull(const struct stat& info) {
  return S_ISFIFO(info.st_mode) || (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
}

/// Anything open but three pipes (or /dev/null).
int FindDescriptor(const Words&) {
  for (int fd = 0; fd < 4096; ++fd) {
    struct stat info{};
    if (fstat(fd, &info) != 0) continue;
    if (fd > 2) return Won("a descriptor above 2 is open");
    if (!IsPipeOrNull(info)) return Won("standard input or output is a file of the host");
  }
  return Held("nothing else is open");
}

/// A directory of the host behind an inherited descriptor or the working directory.
int LeaveByDescriptor(const Words&) {
  for (int fd = 3; fd < 4096; ++fd) {
    if (fchdir(fd) == 0 && access("secret", F_OK) == 0) return Won("a descriptor leads outside");
  }
  return WonIf(access("secret", F_OK) == 0, "the working directory is outside");
}

int FindVariable(const Words&) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (strstr(*entry, kSecret) != nullptr) return Won(*entry);
  }
  return Held("no variable has it");
}

/// Ignored or blocked signals make a program deaf to its end.
int FindSignalState(const Words&) {
  for (int number = 1; number < 65; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      return Won("a signal is ignored");
    }
  }
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < 65; ++number) {
    if (sigismember(&mask, number) == 1) return Won("a signal is blocked");
  }
  return Held("none is ignored or blocked");
}

/// The caller's umask would decide who can read what the payload writes.
int FindUmask(const Words&) { return WonIf(umask(022) != 022, "another umask came along"); }

/// Weakened address randomisation outlives exec.
int FindPersonality(const Words&) {
  return WonIf(personality(0xFFFFFFFF) != 0, "another personality came along");
}

int FindGroups(const Words&) {
  return WonIf(getgroups(0, nullptr) > 0, "supplementary groups came along");
}

/// A terminal of any kind: typed characters run as commands outside.
int FindTerminal(const Words&) {
  for (int fd = 0; fd < 3; ++fd) {
    if (isatty(fd) == 1) return Won("standard input or output is a terminal");
  }
  if (open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0) return Won("/dev/tty opens");
  return WonIf(open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0, "/dev/console opens");
}

constexpr int kKeySearch = 10, kKeyRead = 11, kSessionKeyring = -3, kUserKeyring = -4;

/// NAME: a key of the session that started igloo.
int ReadKey(const Words& words) {
  const long key = syscall(SYS_keyctl, kKeySearch, kSessionKeyring, "user", words[0], 0);
  if (key < 0) return Held("keyctl(search)");
  char text[64] = {};
  if (syscall(SYS_keyctl, kKeyRead, key, text, sizeof text - 1) < 0) return Held("keyctl(read)");
  return WonIf(strstr(text, kSecret) != nullptr, "read a key of the host");
}

/// NAME
int RequestKey(const Words& words) {
  return WonIf(syscall(SYS_request_key, "user", words[0], nullptr, 0) >= 0, "request_key");
}

/// Keys live outside of every limit of ours.
int AddKey(const Words&) {
  return WonIf(syscall(SYS_add_key, "user", "igloo-attack", "x", 1, kUserKeyring) >= 0, "add_key");
}

/// KEY: a System V segment of the host.
int ReadSharedMemory(const Words& words) {
  const int id = shmget(static_cast<key_t>(words.Number(0)), 0, 0);
  if (id < 0) return Held("shmget");
  const void* at = shmat(id, nullptr, SHM_RDONLY);
  if (at == reinterpret_cast<void*>(-1)) return Held("shmat");
  return WonIf(strstr(static_cast<const char*>(at), kSecret) != nullptr, "read shared memory");
}

/// NAME: a message queue of the host.
int OpenQueue(const Words& words) {
  return WonIf(mq_open(words[0], O_RDONLY | O_NONBLOCK) >= 0, "mq_open");
}

constexpr Attack kTable[] = {
    {"find-descriptor", "inherited", FindDescriptor},
    {"leave-by-descriptor", "inherited", LeaveByDescriptor},
    {"find-variable", "inherited", FindVariable},
    {"find-signal-state", "inherited", FindSignalState},
    {"find-umask", "inherited", FindUmask},
    {"find-personality", "inherited", FindPersonality},
    {"find-groups", "inherited", FindGroups},
    {"find-terminal", "inherited", FindTerminal},
    {"read-key", "inherited", ReadKey},
    {"request-key", "inherited", RequestKey},
    {"add-key", "inherited", AddKey},
    {"read-shared-memory", "inherited", ReadSharedMemory},
    {"open-queue", "inherited", OpenQueue},
};

}  // namespace

extern const Family kInherited = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
