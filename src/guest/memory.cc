#include "guest/memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/calls.h"

namespace igloo::guest {
namespace {

struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t type;
  char name[];
};

alignas(8) char g_entries[32768];
char g_text[4096];

/// The first bytes of /proc/NAME/FILE, until the next call; empty when the process is gone.
const char* ReadText(int proc_fd, const char* name, const char* file) {
  char path[64];
  snprintf(path, sizeof path, "%.20s/%s", name, file);
  kernel::ReadTextAt(proc_fd, path, g_text, sizeof g_text);
  return g_text;
}

/// Resident pages of all kinds: program text too, so it is too much, never too little.
uint64_t UpperBound(int proc_fd, const char* name) {
  const uint64_t pages = kernel::NumberBehind(ReadText(proc_fd, name, "statm"), " ");
  return pages * static_cast<uint64_t>(getpagesize());
}

uint64_t Exact(int proc_fd, const char* name) {
  const char* text = ReadText(proc_fd, name, "status");
  return 1024 *
         (kernel::NumberBehind(text, "\nRssAnon:") + kernel::NumberBehind(text, "\nRssShmem:"));
}

uint64_t Threads(int proc_fd, const char* name) {
  return kernel::NumberBehind(ReadText(proc_fd, name, "status"), "\nThreads:");
}

template <int kSignal>
uint64_t Signal(int, const char* name) {
  kill(static_cast<pid_t>(strtol(name, nullptr, 10)), kSignal);
  return 0;
}

MemoryUse Sum(int proc_fd, uint64_t (*of)(int, const char*)) {
  MemoryUse use{};
  lseek(proc_fd, 0, SEEK_SET);
  for (;;) {
    const long size = syscall(SYS_getdents64, proc_fd, g_entries, sizeof g_entries);
    if (size <= 0) return use;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(g_entries + at);
      at += entry->size;
      const bool process = entry->name[0] >= '0' && entry->name[0] <= '9';
      if (!process || strcmp(entry->name, "1") == 0) continue;
      use.bytes += of(proc_fd, entry->name);
      ++use.processes;
    }
  }
}

}  // namespace

MemoryUse ReadMemoryUse(int proc_fd, uint64_t interesting) {
  const MemoryUse bound = Sum(proc_fd, UpperBound);
  return bound.bytes < interesting ? bound : Sum(proc_fd, Exact);
}

uint64_t CountTasks(int proc_fd) { return Sum(proc_fd, Threads).bytes; }

void SignalEach(int proc_fd, int signal) {
  Sum(proc_fd, signal == SIGSTOP ? Signal<SIGSTOP> : Signal<SIGCONT>);
}

}  // namespace igloo::guest
