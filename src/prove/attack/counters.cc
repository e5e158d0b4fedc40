// Attacks on what the kernel counts for an id or for the whole machine: one sandbox takes all of
// it, and the starter's own programs fail.
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

// Of Linux; musl's headers lack some.
constexpr int kSetLease = 1024, kNotify = 1026, kSetPipeSize = 1031;
constexpr unsigned long kTiocsetd = 0x5423;

/// COUNT: as many instances.
int InotifyInstances(const Words& words) {
  for (long i = 0; i < words.Number(0); ++i) {
    if (inotify_init1(IN_CLOEXEC) < 0) return Held("inotify_init1");
  }
  return Won("made all of them");
}

/// DIR COUNT: as many files that are watched.
int InotifyWatches(const Words& words) {
  const int fd = inotify_init1(IN_CLOEXEC);
  if (fd < 0) Broken("inotify_init1");
  for (long i = 0; i < words.Number(1); ++i) {
    char path[512];
    snprintf(path, sizeof path, "%s/watched-%ld", words[0], i);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) Broken("open");
    close(file);
    if (inotify_add_watch(fd, path, IN_MODIFY) < 0) return Held("inotify_add_watch");
  }
  return Won("watched all of them");
}

/// COUNT: signals that wait.
int QueueSignals(const Words& words) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  for (long i = 0; i < words.Number(0); ++i) {
    if (sigqueue(getpid(), SIGRTMIN, {}) != 0) return Held("sigqueue");
  }
  return Won("queued all of them");
}

int TakeEvents(const Words&) {
  uint64_t context = 0;
  return WonIf(syscall(SYS_io_setup, 64, &context) == 0, "io_setup");
}

bool SendMany(int socket, int count) {
  constexpr int kMost = 250;
  int fds[kMost];
  for (int i = 0; i < count; ++i) fds[i] = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * static_cast<size_t>(count));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<size_t>(count));
  memcpy(CMSG_DATA(header), fds, sizeof(int) * static_cast<size_t>(count));
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

/// COUNT: descriptors that were sent and not taken, after asking for all that the hard limit gives.
int DescriptorsInFlight(const Words& words) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) Broken("socketpair");
  constexpr int kEach = 50;
  for (long sent = 0; sent < words.Number(0); sent += kEach) {
    if (!SendMany(ends[0], kEach)) return Held("sendmsg");
  }
  return Won("all of them are under way");
}

int GrowPipe(const Words&) {
  int ends[2];
  if (pipe(ends) != 0) Broken("pipe");
  return WonIf(fcntl(ends[0], kSetPipeSize, 1 << 20) >= 0, "F_SETPIPE_SZ");
}

/// PATH: whoever else opens the file waits for us.
int TakeLease(const Words& words) {
  close(open(words[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const int fd = open(words[0], O_RDONLY | O_CLOEXEC);
  if (fd < 0) Broken("open");
  return WonIf(fcntl(fd, kSetLease, F_RDLCK) == 0, "F_SETLEASE");
}

int NotifyOldWay(const Words&) {
  const int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) Broken("open");
  return WonIfReached(fcntl(fd, kNotify, 4 /* DN_CREATE */), "F_NOTIFY");
}

/// On a pipe the kernel answers "not a terminal"; the filter must not let it get that far.
int LoadLineDiscipline(const Words&) {
  int discipline = 2;
  return WonIfReached(syscall(SYS_ioctl, 0, kTiocsetd, &discipline), "TIOCSETD");
}

/// A host may have no huge page to give. A size that no machine has is refused for its own reason
/// by the code behind the call, and for another one by the filter before it.
int ReachHugePages(const Words& words) {
  constexpr unsigned kNoSuchSize = 63U << 26;
  const bool file = strcmp(words[0], "memfd") == 0;
  long result = 0;
  errno = 0;
  if (strcmp(words[0], "mmap") == 0) {
    result = syscall(SYS_mmap, 0, 4096, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | kNoSuchSize, -1, 0);
  } else if (file) {
    result = syscall(SYS_memfd_create, "huge", 4U /* MFD_HUGETLB */ | kNoSuchSize);
  } else {
    result = syscall(SYS_shmget, 0, 4096, 04000 /* SHM_HUGETLB */ | 01000 | 0600 | kNoSuchSize);
  }
  const int refused = file ? EINVAL : ENOMEM;
  return WonIf(result >= 0 || (errno != refused && errno != ENOSYS), words[0]);
}

/// KILOBYTES: one queue with room for so much.
int MessageQueue(const Words& words) {
  char name[64];
  snprintf(name, sizeof name, "/igloo-attack-%d", getpid());
  mq_attr attributes{};
  attributes.mq_maxmsg = 10;
  attributes.mq_msgsize = words.Number(0) * 1024 / 10;
  const mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  const int saved_errno = errno;
  if (queue >= 0) mq_unlink(name);
  errno = saved_errno;
  return WonIf(queue >= 0, "mq_open");
}

constexpr Attack kTable[] = {
    {"inotify-instances", "counters", InotifyInstances},
    {"inotify-watches", "counters", InotifyWatches},
    {"queue-signals", "counters", QueueSignals},
    {"take-events", "counters", TakeEvents},
    {"descriptors-in-flight", "counters", DescriptorsInFlight},
    {"grow-pipe", "counters", GrowPipe},
    {"take-lease", "counters", TakeLease},
    {"notify-old-way", "counters", NotifyOldWay},
    {"load-line-discipline", "counters", LoadLineDiscipline},
    {"reach-huge-pages", "counters", ReachHugePages},
    {"message-queue", "counters", MessageQueue},
};

}  // namespace

extern const Family kCounters = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
