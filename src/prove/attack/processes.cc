// Attacks on other processes: seeing, reading, signalling, tracing and outliving them.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "attack.h"

namespace igloo::attack {
namespace {

/// Calls `visit` with the number of every process in /proc until it answers true.
template <class Visit>
bool AnyProcess(Visit visit) {
  DIR* directory = opendir("/proc");
  if (directory == nullptr) Broken("there is no /proc");
  while (const dirent* entry = readdir(directory)) {
    const int pid = atoi(entry->d_name);
    if (pid > 0 && visit(pid)) return true;
  }
  return false;
}

bool Contains(int pid, const char* file, const char* wanted) {
  char path[64];
  static char text[65536];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t count = read(fd, text, sizeof text);
  close(fd);
  return count > 0 && memmem(text, static_cast<size_t>(count), wanted, strlen(wanted)) != nullptr;
}

/// Some process shows the host's environment.
int ReadEnvironments(const Words&) {
  return WonIf(AnyProcess([](int pid) { return Contains(pid, "environ", kSecret); }),
               "read the secret from an environment");
}

/// MARKER: a process whose command line has the word, other than ourselves.
int SeeProcess(const Words& words) {
  return WonIf(
      AnyProcess([&](int pid) { return pid != getpid() && Contains(pid, "cmdline", words[0]); }),
      "saw a process of the host");
}

/// FILE: what /proc/1 gives away about the process that holds the control channel.
int ReadInit(const Words& words) {
  char path[64];
  snprintf(path, sizeof path, "/proc/1/%s", words[0]);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Held("open");
  char text[64];
  if (strcmp(words[0], "mem") == 0) {
    const auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(g_planted));
    return WonIf(pread(fd, text, sizeof g_planted, at) > 0, "read PID 1's memory");
  }
  if (strcmp(words[0], "environ") == 0 || strcmp(words[0], "maps") == 0) {
    return WonIf(read(fd, text, sizeof text) > 0, "read it");
  }
  return Won("opened it");
}

bool Gone(long pid) {
  const timespec pause{0, 5'000'000};
  // SIGKILL is asynchronous; a quarter of a second is a hundred times what it needs.
  for (int i = 0; i < 50; ++i) {
    if (kill(static_cast<pid_t>(pid), 0) != 0) return true;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    char text[128] = {};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && strstr(text, ") Z") != nullptr) {
      return true;  // dead, only its parent has not looked yet
    }
    close(fd);
    nanosleep(&pause, nullptr);
  }
  return false;
}

/// PID: ends it.
int KillProcess(const Words& words) {
  const long pid = words.Number(0);
  for (const int number : {SIGTERM, SIGSEGV, SIGSTOP, SIGKILL}) {
    if (kill(static_cast<pid_t>(pid), number) != 0) return Held("kill");
  }
  return WonIf(Gone(pid), "killed it");
}

/// PID: signals everybody that can be reached and looks whether this one was among them.
int KillEveryone(const Words& words) {
  const long pid = words.Number(0);
  // On the host, root's would end the machine: only with a PID namespace around.
  if (getpid() > 64) Broken("this is not a PID namespace");
  const bool seen = kill(static_cast<pid_t>(pid), 0) == 0;
  kill(-1, SIGKILL);
  return WonIf(seen && Gone(pid), "killed a bystander");
}

/// PID
int Trace(const Words& words) {
  const long done = ptrace(PTRACE_SEIZE, static_cast<pid_t>(words.Number(0)), nullptr, nullptr);
  return WonIf(done == 0, "traced it");
}

/// Calls `attack` with a child that waits to be misused.
template <class Misuse>
int OnOwnChild(Misuse misuse) {
  const pid_t child = fork();
  if (child < 0) Broken("fork");
  if (child == 0) {
    for (;;) pause();
  }
  const int verdict = misuse(child);
  kill(child, SIGKILL);
  ExitOf(child);
  return verdict;
}

/// Tracing even a child of one's own is how filters were talked out of their verdict.
int TraceChild(const Words&) {
  return OnOwnChild([](pid_t child) {
    return WonIf(ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0, "traced a child");
  });
}

int StealDescriptor(const Words&) {
  return OnOwnChild([](pid_t child) {
    const long pidfd = syscall(SYS_pidfd_open, child, 0);
    if (pidfd < 0) Broken("pidfd_open of a child");
    return WonIf(syscall(SYS_pidfd_getfd, pidfd, 2, 0) >= 0, "took a descriptor");
  });
}

int CompareChild(const Words&) {
  return OnOwnChild([](pid_t child) {
    return WonIf(syscall(SYS_kcmp, getpid(), child, 3 /* KCMP_FS */, 0, 0) >= 0, "kcmp");
  });
}

/// PID: memory of another process.
int ReadMemory(const Words& words) {
  char text[sizeof g_planted] = {};
  const iovec here{text, sizeof text};
  const iovec there{g_planted, sizeof g_planted};
  const auto pid = static_cast<pid_t>(words.Number(0));
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) < 0) return Held("process_vm_readv");
  return WonIf(strstr(text, kSecret) != nullptr, "read its memory");
}

/// PID
int OpenPidfd(const Words& words) {
  return WonIf(syscall(SYS_pidfd_open, words.Number(0), 0) >= 0, "pidfd_open");
}

/// PID: places and priorities of another process.
int Reschedule(const Words& words) {
  const auto pid = static_cast<pid_t>(words.Number(0));
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int i = 0; i < 64; ++i) CPU_SET(i, &cpus);
  if (sched_setaffinity(pid, sizeof cpus, &cpus) == 0) return Won("sched_setaffinity");
  if (setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 5) == 0) return Won("setpriority");
  if (syscall(SYS_ioprio_set, 1, pid, (2 << 13) | 7) == 0) return Won("ioprio_set");
  rlimit now{};
  if (prlimit(pid, RLIMIT_CORE, nullptr, &now) == 0) return Won("prlimit");
  return Held("every call");
}

/// PID: takes its descriptors away. A process that polls with none gets an error for ever.
int LimitProcess(const Words& words) {
  const rlimit none{0, 0};
  const auto pid = static_cast<pid_t>(words.Number(0));
  return WonIf(prlimit(pid, RLIMIT_NOFILE, &none, nullptr) == 0, "limited another process");
}

/// MARKER: leaves a process behind that ignores what can be ignored and holds nothing of ours.
/// Whether it outlives us is for the host to see, by the marker in its command line.
int Daemonise(const Words& words) {
  (void)words[0];
  int ready[2];
  if (pipe(ready) != 0) Broken("pipe");
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    for (int fd = 0; fd < 3; ++fd) close(fd);
    (void)!write(ready[1], "r", 1);
    close(ready[1]);
    for (;;) pause();
  }
  close(ready[1]);
  char byte = 0;
  if (child < 0 || ExitOf(child) != 0 || read(ready[0], &byte, 1) != 1) Broken("no daemon");
  return kHeld;
}

/// MARKER: stays, whatever it is asked.
int Stay(const Words& words) {
  (void)words[0];
  alarm(0);
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  (void)!write(1, "staying\n", 8);
  for (;;) pause();
}

constexpr Attack kTable[] = {
    {"read-environments", "processes", ReadEnvironments},
    {"see-process", "processes", SeeProcess},
    {"read-init", "processes", ReadInit},
    {"kill-process", "processes", KillProcess},
    {"kill-everyone", "processes", KillEveryone},
    {"trace", "processes", Trace},
    {"trace-child", "processes", TraceChild},
    {"steal-descriptor", "processes", StealDescriptor},
    {"compare-child", "processes", CompareChild},
    {"read-memory", "processes", ReadMemory},
    {"open-pidfd", "processes", OpenPidfd},
    {"reschedule", "processes", Reschedule},
    {"limit-process", "processes", LimitProcess},
    {"daemonise", "processes", Daemonise},
    {"stay", "processes", Stay},
};

}  // namespace

extern const Family kProcesses = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
