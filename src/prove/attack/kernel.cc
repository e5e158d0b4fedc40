// Attacks through parts of the kernel that a payload has no business with.
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

constexpr unsigned long kTiocsti = 0x5412, kTioclinux = 0x541C;

int SetUpRing(const Words&) {
  unsigned char parameters[256] = {};
  return WonIf(syscall(SYS_io_uring_setup, 4, parameters) >= 0, "io_uring_setup");
}

int HandleFaults(const Words&) {
  // 1: UFFD_USER_MODE_ONLY, which needs no right at all.
  return WonIf(syscall(SYS_userfaultfd, O_CLOEXEC | 1) >= 0, "userfaultfd");
}

/// Loading needs a right on most hosts; looking into a map that is not one is refused by the code
/// behind the call, or by the filter before it.
int ReachBpf(const Words&) {
  uint64_t attribute[16] = {};
  attribute[0] = 0xFFFFFFFF;  // no such map
  return WonIfReached(syscall(SYS_bpf, 1 /* MAP_LOOKUP_ELEM */, attribute, 32), "bpf");
}

int OpenPerfEvent(const Words&) {
  perf_event_attr attribute{};
  attribute.type = PERF_TYPE_SOFTWARE;
  attribute.size = sizeof attribute;
  attribute.config = PERF_COUNT_SW_TASK_CLOCK;
  attribute.exclude_kernel = 1;
  attribute.exclude_hv = 1;
  return WonIf(syscall(SYS_perf_event_open, &attribute, 0, -1, -1, 0) >= 0, "perf_event_open");
}

int SwitchRandomisationOff(const Words&) {
  return WonIf(personality(ADDR_NO_RANDOMIZE) >= 0, "personality");
}

int ChangeLocalDescriptors(const Words&) {
#ifdef __x86_64__
  unsigned char table[64];
  return WonIf(syscall(SYS_modify_ldt, 0, table, sizeof table) >= 0, "modify_ldt");
#else
  Broken("only x86_64 has it");
#endif
}

#ifdef __x86_64__
long Call32(long number, long argument) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(argument)
               : "memory", "r8", "r9", "r10", "r11");
  return result;
}
#endif

/// The 32-bit door has other numbers: a filter that looks only at numbers lets 310 pass.
int Unshare32(const Words&) {
#ifdef __x86_64__
  const long done = Call32(310, CLONE_NEWUSER);
  errno = static_cast<int>(-done);
  return WonIf(done == 0, "int 0x80 unshare");
#else
  Broken("only x86_64 has it");
#endif
}

int Personality32(const Words&) {
#ifdef __x86_64__
  const long done = Call32(136, ADDR_NO_RANDOMIZE);
  errno = done < 0 ? static_cast<int>(-done) : 0;
  return WonIf(done >= 0, "int 0x80 personality");
#else
  Broken("only x86_64 has it");
#endif
}

/// WHERE BITS: types into a terminal. The request with garbage in its upper half is the same to the
/// kernel. On a pipe the kernel answers "not a terminal"; the filter must not let it get that far.
int PushInput(const Words& words) {
  const bool console = strcmp(words[0], "console") == 0;
  unsigned long request = console ? kTioclinux : kTiocsti;
  if (strcmp(words[1], "high-bits") == 0) request |= 1UL << 32;
  char byte = 'x';
  return WonIfReached(syscall(SYS_ioctl, 0, request, &byte), "ioctl");
}

int SplicePages(const Words&) {
  int ends[2];
  if (pipe(ends) != 0) Broken("pipe");
  static char page[4096];
  const iovec piece{page, sizeof page};
  return WonIf(syscall(SYS_vmsplice, ends[1], &piece, 1, 0) > 0, "vmsplice");
}

/// NUMBER: a call that is younger than the filter must not exist.
int CallTheFuture(const Words& words) {
  return WonIfReached(syscall(words.Number(0), -1, nullptr, 0xFFFF, nullptr, 0, 0), "a new call");
}

constexpr Attack kTable[] = {
    {"set-up-ring", "kernel", SetUpRing},
    {"handle-faults", "kernel", HandleFaults},
    {"reach-bpf", "kernel", ReachBpf},
    {"open-perf-event", "kernel", OpenPerfEvent},
    {"switch-randomisation-off", "kernel", SwitchRandomisationOff},
    {"change-local-descriptors", "kernel", ChangeLocalDescriptors},
    {"unshare-32", "kernel", Unshare32},
    {"personality-32", "kernel", Personality32},
    {"push-input", "kernel", PushInput},
    {"splice-pages", "kernel", SplicePages},
    {"call-the-future", "kernel", CallTheFuture},
};

}  // namespace

extern const Family kKernel = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
