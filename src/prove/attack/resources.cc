// Attacks on the machine's room: processes, memory, files, descriptors, output.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

constexpr long kMegabyte = 1L << 20;
constexpr long kMaxProcesses = 4096;

/// COUNT: as many processes at once.
int ForkMany(const Words& words) {
  const long wanted = words.Number(0);
  if (wanted > kMaxProcesses) Broken("more than a test needs");
  static pid_t children[kMaxProcesses];
  long count = 0;
  while (count < wanted) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      for (;;) pause();
    }
    children[count++] = child;
  }
  const int saved_errno = errno;
  for (long i = 0; i < count; ++i) kill(children[i], SIGKILL);
  for (long i = 0; i < count; ++i) ExitOf(children[i]);
  errno = saved_errno;
  if (count < 10) Broken("not even a few processes");
  return WonIf(count == wanted, "forked all of them");
}

/// MARKER: never stops. Ends only when the sandbox does.
int ForkForever(const Words& words) {
  // On the host nothing would end it: only with a PID namespace around.
  if (getpid() > 64) Broken("this is not a PID namespace");
  (void)words[0];
  alarm(0);
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  for (;;) {
    if (fork() < 0) sched_yield();
  }
}

/// Private memory that code may be written to as well, as interpreters reserve it.
void* Reserve(size_t size) {
  return mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/// MEGABYTES: private memory, used again and again, so that whoever looks now and then sees it. In
/// a child, so that a limit which kills is seen as one that holds.
int UsePrivate(const Words& words) {
  constexpr int kTimes = 20;
  const auto size = static_cast<size_t>(words.Number(0) * kMegabyte);
  const pid_t child = fork();
  if (child < 0) Broken("fork");
  if (child == 0) {
    void* at = Reserve(size);
    if (at == MAP_FAILED) _exit(1);
    for (int i = 1; i <= kTimes; ++i) memset(at, i, size);
    _exit(0);
  }
  return WonIf(ExitOf(child) == 0, "used private memory");
}

/// MEGABYTES USED: the same memory reserved, and little of it used.
int ReservePrivate(const Words& words) {
  void* at = Reserve(static_cast<size_t>(words.Number(0) * kMegabyte));
  if (at == MAP_FAILED) return Held("mmap");
  memset(at, 1, static_cast<size_t>(words.Number(1) * kMegabyte));
  return Won("reserved private memory");
}

/// MEGABYTES: shared memory without a name, which no resource limit counts. A child touches it, so
/// that a limit which kills is seen as one that holds.
int MapShared(const Words& words) {
  const auto size = static_cast<size_t>(words.Number(0) * kMegabyte);
  const pid_t child = fork();
  if (child < 0) Broken("fork");
  if (child == 0) {
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) _exit(1);
    memset(at, 1, size);
    _exit(0);
  }
  return WonIf(ExitOf(child) == 0, "touched shared memory");
}

/// DIR MEGABYTES: files of 64 MB each until there is no room.
int FillPlace(const Words& words) {
  const long wanted = words.Number(1);
  for (long have = 0, index = 0; have < wanted; have += 64, ++index) {
    char path[512];
    snprintf(path, sizeof path, "%s/fill-%ld", words[0], index);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) Broken("open");
    if (fallocate(fd, 0, 0, 64 * kMegabyte) != 0) {
      return errno == ENOSPC ? Held("fallocate") : kBroken;
    }
    close(fd);
  }
  return Won("all of it fitted");
}

/// DIR COUNT: empty files until there is no room.
int FillNames(const Words& words) {
  const long wanted = words.Number(1);
  for (long i = 0; i < wanted; ++i) {
    char path[512];
    snprintf(path, sizeof path, "%s/name-%ld", words[0], i);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return errno == ENOSPC ? Held("open") : kBroken;
    close(fd);
  }
  return Won("all of them fitted");
}

/// PATH MEGABYTES: one large file, mostly a hole.
int GrowFile(const Words& words) {
  const int fd = open(words[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) Broken("open");
  signal(SIGXFSZ, SIG_IGN);
  return WonIf(pwrite(fd, "x", 1, words.Number(1) * kMegabyte) == 1, "wrote far out");
}

/// MEGABYTES: the same in memory that has no name.
int GrowMemoryFile(const Words& words) {
  const int fd = memfd_create("igloo-attack", MFD_CLOEXEC);
  if (fd < 0) return Held("memfd_create");
  signal(SIGXFSZ, SIG_IGN);
  return WonIf(ftruncate(fd, words.Number(0) * kMegabyte) == 0, "grew a file in memory");
}

/// COUNT: descriptors, after taking all that the hard limit gives.
int OpenMany(const Words& words) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (long i = 0; i < words.Number(0); ++i) {
    if (dup(2) < 0) return Held("dup");
  }
  return Won("opened all of them");
}

/// A dump of this process would hold whatever it read, in a place of the host's choice.
int AllowCoreDump(const Words&) {
  const rlimit some{4096, 4096};
  return WonIf(setrlimit(RLIMIT_CORE, &some) == 0, "allowed a core dump");
}

/// KILOBYTES: memory that cannot be swapped out.
int LockMemory(const Words& words) {
  const auto size = static_cast<size_t>(words.Number(0) << 10);
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) Broken("mmap");
  return WonIf(mlock(at, size) == 0, "locked it");
}

/// RESOURCE: a hard limit can be raised again.
int RaiseLimit(const Words& words) {
  rlimit limit{};
  const auto resource = static_cast<int>(words.Number(0));
  if (getrlimit(resource, &limit) != 0) Broken("getrlimit");
  if (limit.rlim_max == RLIM_INFINITY) return Won("there is no limit");
  ++limit.rlim_max;
  return WonIf(setrlimit(resource, &limit) == 0, "raised a hard limit");
}

/// MEGABYTES of output.
int Flood(const Words& words) {
  static char block[kMegabyte];
  memset(block, 'x', sizeof block);
  for (long i = 0; i < words.Number(0); ++i) {
    for (size_t done = 0; done < sizeof block;) {
      const ssize_t count = write(1, block + done, sizeof block - done);
      if (count <= 0) Broken("write");
      done += static_cast<size_t>(count);
    }
  }
  return kHeld;
}

constexpr Attack kTable[] = {
    {"fork-many", "resources", ForkMany},
    {"fork-forever", "resources", ForkForever},
    {"use-private", "resources", UsePrivate},
    {"reserve-private", "resources", ReservePrivate},
    {"map-shared", "resources", MapShared},
    {"fill-place", "resources", FillPlace},
    {"fill-names", "resources", FillNames},
    {"grow-file", "resources", GrowFile},
    {"grow-memory-file", "resources", GrowMemoryFile},
    {"open-many", "resources", OpenMany},
    {"allow-core-dump", "resources", AllowCoreDump},
    {"lock-memory", "resources", LockMemory},
    {"raise-limit", "resources", RaiseLimit},
    {"flood", "resources", Flood},
};

}  // namespace

extern const Family kResources = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
