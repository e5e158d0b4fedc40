// What a zygote does of its own, as a library that the interpreter loads: from an order to a child
// that stands behind a sandbox's wall. Not in the interpreter's language: whatever that one touches
// between two forks is copied, page by page, by the parent and by every child.
//
// It is linked with nothing; the few names of the C library are those of the interpreter's, which
// has to know of every fork.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/calls.h"

/// As glibc has it.
struct HeapInformation {
  size_t arena, free_chunks, free_fast_chunks, mapped_chunks, mapped_bytes, unused, free_fast_bytes,
      used_bytes, free_bytes, end_bytes;
};
// glibc's, where it has them: what malloc has, and the thread's place for restartable sequences.
extern "C" __attribute__((weak)) HeapInformation mallinfo2();
extern "C" __attribute__((weak)) const ptrdiff_t __rseq_offset;
extern "C" __attribute__((weak)) const unsigned __rseq_size;

namespace igloo::guest {
namespace {

constexpr unsigned kMostFds = 16;
/// Above everything that a child gets; where its channel to igloo-init waits meanwhile.
constexpr int kHigh = 64, kHigher = 200;

struct Descriptors {
  int fds[kMostFds];
  unsigned count = 0;
};

// Static instead of on a stack that would have to grow; in pages of its own.
constexpr size_t kPage = 4096;
constexpr size_t kMostBytes = sizeof(CallsHead) + kMaxRelocations * 4 + kMaxCallBytes;
alignas(kPage) unsigned char g_message[(kMostBytes + kPage - 1) / kPage * kPage];

template <class... Arguments>
long Call(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}

/// One packet and its descriptors; its size, at most 0 when nobody will send another.
ssize_t Receive(int socket, void* to, size_t size, Descriptors& came) {
  union {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * kMostFds)];
  } control;
  iovec part{to, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got = 0;
  do {
    got = Call(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  came.count = 0;
  if (got <= 0 || message.msg_controllen < sizeof(cmsghdr)) return got;
  const cmsghdr& header = control.align;
  if (header.cmsg_level != SOL_SOCKET || header.cmsg_type != SCM_RIGHTS) return got;
  came.count = static_cast<unsigned>((header.cmsg_len - CMSG_LEN(0)) / sizeof(int));
  memcpy(came.fds, CMSG_DATA(&header), came.count * sizeof(int));
  return got;
}

/// The given ones become 0, 1, 2, ...; of all others only `kept` stays.
bool Place(const Descriptors& given, int kept) {
  int high[kMostFds];
  for (unsigned i = 0; i < given.count; ++i) {
    high[i] = static_cast<int>(Call(SYS_fcntl, given.fds[i], F_DUPFD_CLOEXEC, kHigh));
    if (high[i] < 0) return false;
  }
  for (unsigned i = 0; i < given.count; ++i) {
    if (Call(SYS_dup3, high[i], i, i < 3 ? 0 : O_CLOEXEC) < 0) return false;
  }
  return Call(SYS_close_range, given.count, kept - 1, 0) == 0 &&
         Call(SYS_close_range, kept + 1, ~0U, 0) == 0;
}

bool MakeCalls(size_t size) {
  CallsHead head;
  memcpy(&head, g_message, sizeof head);
  const size_t before = sizeof head + size_t{head.relocations} * 4;
  if (head.count > kMaxCalls || head.relocations > kMaxRelocations || head.size > kMaxCallBytes ||
      size != before + head.size) {
    return false;
  }
  unsigned char* const base = g_message + before;
  for (uint32_t i = 0; i < head.relocations; ++i) {
    uint32_t offset = 0;
    uint64_t address = 0;
    memcpy(&offset, g_message + sizeof head + size_t{i} * 4, sizeof offset);
    if (offset > head.size - sizeof address) return false;
    memcpy(&address, base + offset, sizeof address);
    address += reinterpret_cast<uint64_t>(base);
    memcpy(base + offset, &address, sizeof address);
  }
  for (uint32_t i = 0; i < head.count; ++i) {
    long words[kCallWords];
    memcpy(words, base + i * sizeof words, sizeof words);
    if (Call(words[0], words[1], words[2], words[3], words[4], words[5], words[6]) < 0) {
      return false;
    }
  }
  return true;
}

/// A process that borrows its parent's memory, and so every child of it, has none.
void RegisterSequences() {
  if (&__rseq_size == nullptr || __rseq_size == 0) return;
  char* thread = nullptr;
#if defined(__x86_64__)
  asm("mov %%fs:0, %0" : "=r"(thread));
#elif defined(__aarch64__)
  asm("mrs %0, tpidr_el0" : "=r"(thread));
#else
#error "where is the thread's own memory?"
#endif
  constexpr unsigned kSize = 32;
#if defined(__x86_64__)
  constexpr unsigned kSignature = 0x53053053;
#else
  constexpr unsigned kSignature = 0xd428bc00;
#endif
  (void)Call(SYS_rseq, thread + __rseq_offset, kSize, 0, kSignature);
}

/// In a child that was born into the sandbox's PID namespace: the other namespaces, then the wall.
bool BecomePayload(const Descriptors& namespaces, int adoption, int group) {
  for (unsigned i = 1; i < namespaces.count; ++i) {
    if (Call(SYS_setns, namespaces.fds[i], 0) != 0) return false;
  }
  RegisterSequences();
  if (group >= 0 && Call(SYS_write, group, "0", 1) != 1) return false;
  const int channel = static_cast<int>(Call(SYS_fcntl, adoption, F_DUPFD_CLOEXEC, kHigher));
  Descriptors own;
  const ssize_t size = channel < 0 ? 0 : Receive(channel, g_message, sizeof g_message, own);
  if (size < static_cast<ssize_t>(sizeof(CallsHead)) || !Place(own, channel)) return false;
  if (!MakeCalls(static_cast<size_t>(size))) return false;
  // When its parent has ended, which it has by now, igloo-init is that of all orphans here.
  while (Call(SYS_getppid) != 1) Call(SYS_sched_yield);
  char word = 'w';
  if (Call(SYS_sendto, channel, &word, 1, 0, 0, 0) != 1) return false;
  if (Call(SYS_recvfrom, channel, &word, 1, 0, 0, 0) != 1 || word != 'g') return false;
  Call(SYS_close, channel);
  // Of no more use.
  Call(SYS_madvise, g_message, sizeof g_message, MADV_DONTNEED);
  return true;
}

void CloseAll(const Descriptors& all) {
  for (unsigned i = 0; i < all.count; ++i) Call(SYS_close, all.fds[i]);
}

}  // namespace

/// Fills the gaps of the C library's heap, so that whatever forks ask for lies at its end, on a few
/// pages. Nothing where that library is another.
extern "C" __attribute__((visibility("default"))) void igloo_fill_heap() {
  if (mallinfo2 == nullptr) return;
  constexpr size_t kNotCounted = 1U << 18;  // what it has free without saying so
  HeapInformation now = mallinfo2();
  // No more can be free. Where malloc is somebody else's, only this ends it.
  size_t most = now.free_bytes - now.end_bytes + kNotCounted;
  for (size_t size = 1U << 16; size > 0; size -= size > 4096 ? 4096 : size > 1024 ? 256 : 16) {
    while (most > size) {
      void* const filler = malloc(size - 8);
      const size_t end = now.end_bytes;
      now = mallinfo2();
      if (now.end_bytes != end) {  // no gap was left
        free(filler);
        now = mallinfo2();
        break;
      }
      most -= size;
    }
  }
}

/// Obeys what comes over `orders`: each order brings the socket over which a sandbox's igloo-init
/// adopts a child, and perhaps the file through which its cgroup is entered. Returns in children
/// only, behind their walls and when they were told so by `born`. `home` is the zygote's own PID
/// namespace.
extern "C" __attribute__((visibility("default"))) void igloo_deliver(int orders, int home,
                                                                     void (*born)()) {
  for (;;) {
    char order[16];
    Descriptors sent;
    Descriptors namespaces;
    if (Receive(orders, order, sizeof order, sent) <= 0) _exit(0);
    if (sent.count > 0 && Receive(sent.fds[0], order, 1, namespaces) == 1 && namespaces.count > 0 &&
        Call(SYS_setns, namespaces.fds[0], CLONE_NEWPID) == 0) {
      // Its only task is to end, so that igloo-init inherits its child; it needs no memory for it.
      const pid_t middle = vfork();
      if (middle == 0) {
        if (fork() != 0) _exit(0);
        if (!BecomePayload(namespaces, sent.fds[0], sent.count > 1 ? sent.fds[1] : -1)) _exit(1);
        return born();
      }
      Call(SYS_setns, home, CLONE_NEWPID);
      CloseAll(sent);
      CloseAll(namespaces);
      if (middle > 0) Call(SYS_wait4, middle, 0, 0, 0);
      continue;
    }
    CloseAll(sent);
    CloseAll(namespaces);
  }
}

}  // namespace igloo::guest
