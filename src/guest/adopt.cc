#include "guest/adopt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/calls.h"
#include "guest/seccomp.h"

namespace igloo::guest {
namespace {

/// An interpreter that has yet to load its modules may be asked.
constexpr int kPatienceMs = 30'000;
constexpr unsigned kMaxFds = 3 + wire::kMaxExtraDescriptors + 1;

bool SendParts(int socket, iovec* parts, size_t part_count, const int* fds, unsigned fd_count) {
  union {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * kMaxFds)];
  } control = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = part_count;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
  memcpy(CMSG_DATA(header), fds, sizeof(int) * fd_count);
  return sendmsg(socket, &message, MSG_NOSIGNAL) > 0;
}

/// Where a child of the zygote goes, in the order in which it can: the first belongs to the zygote
/// itself, the second to the template, and behind the third it has every right over the others.
/// Nobody else can open these: init is closed to all.
constexpr const char* kNamespaces[] = {"pid", "net", "user", "ipc", "uts", "cgroup", "mnt"};
constexpr unsigned kNamespaceCount = sizeof kNamespaces / sizeof kNamespaces[0];
static_assert(kNamespaceCount <= kMaxFds);

/// By which namespaces are told apart.
struct Identity {
  dev_t device;
  ino_t inode;
  bool operator==(const Identity&) const = default;
};

bool SendNamespaces(int socket, Identity (&own)[kNamespaceCount]) {
  const int directory = open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fds[kNamespaceCount];
  bool open_all = true;
  for (unsigned i = 0; i < kNamespaceCount; ++i) {
    fds[i] = openat(directory, kNamespaces[i], O_RDONLY | O_CLOEXEC);
    struct stat info{};
    open_all = open_all && fds[i] >= 0 && fstat(fds[i], &info) == 0;
    own[i] = {info.st_dev, info.st_ino};
  }
  close(directory);
  char word = 'n';
  iovec part{&word, 1};
  const bool sent = open_all && SendParts(socket, &part, 1, fds, kNamespaceCount);
  const int saved_errno = errno;
  for (const int fd : fds) close(fd);
  errno = saved_errno;
  return sent;
}

/// System calls for the child to make, as guest/calls.h has them. In pages of its own.
class alignas(4096) Calls {
 public:
  void Add(long number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0) {
    const uint64_t call[kCallWords] = {static_cast<uint64_t>(number), a, b, c, d, 0, 0};
    if (count_ == kMaxCalls) {
      overflow_ = true;
      return;
    }
    memcpy(bytes_ + count_++ * sizeof call, call, sizeof call);
  }
  /// Data behind the calls; where it lies.
  uint64_t Place(const void* data, size_t size) {
    const size_t at = kCallBytes + ((data_ + 7) & ~size_t{7});
    if (at + size > sizeof bytes_) {
      overflow_ = true;
      return 0;
    }
    memcpy(bytes_ + at, data, size);
    data_ = at + size - kCallBytes;
    return at;
  }
  void PutAddress(uint64_t offset, uint64_t address) {
    if (overflow_) return;
    memcpy(bytes_ + offset, &address, sizeof address);
    RelocateAt(offset);
  }
  /// Argument `index` (from 1) of the last call is an address.
  void Relocate(unsigned index) { RelocateAt((count_ - 1) * kCallWords * 8 + index * 8); }
  void RelocateAt(uint64_t offset) {
    if (relocation_count_ == kMaxRelocations) {
      overflow_ = true;
      return;
    }
    relocations_[relocation_count_++] = static_cast<uint32_t>(offset);
  }

  bool Send(int socket, const int* fds, unsigned fd_count) {
    if (overflow_) {
      errno = E2BIG;
      return false;
    }
    CallsHead head{static_cast<uint32_t>(count_), relocation_count_,
                   static_cast<uint32_t>(kCallBytes + data_)};
    iovec parts[3] = {{&head, sizeof head},
                      {relocations_, relocation_count_ * sizeof relocations_[0]},
                      {bytes_, kCallBytes + data_}};
    return SendParts(socket, parts, 3, fds, fd_count);
  }

 private:
  static constexpr size_t kCallBytes = size_t{kMaxCalls} * kCallWords * 8;
  alignas(8) unsigned char bytes_[kMaxCallBytes] = {};
  size_t count_ = 0, data_ = 0;  // all zero, so that it costs nothing until it is used
  uint32_t relocations_[kMaxRelocations] = {};
  uint32_t relocation_count_ = 0;
  bool overflow_ = false;
};

/// What an adoption takes: static instead of a heap, used once, and given back.
struct Needed {
  Calls calls;
  char status[4096];
};
Needed g_needed;

/// How many this kernel knows: mostly as many as when this was compiled.
uint64_t CapabilityCount() {
  const auto known = [](uint64_t which) { return prctl(PR_CAPBSET_READ, which, 0, 0, 0) >= 0; };
  uint64_t count = CAP_LAST_CAP + 1;
  while (count > 0 && !known(count - 1)) --count;
  while (known(count)) ++count;
  return count;
}

/// SECURITY: everything that the launcher did to init and that a process from elsewhere lacks, then
/// what StartPayload does to a payload, in the same order. The filter comes last: it would deny
/// some of the others.
void DescribeWall(const StartView& start, int ruleset, Calls& calls) {
  const uint64_t uid = getuid();
  const uint64_t gid = getgid();
  calls.Add(SYS_setsid);
  calls.Add(SYS_chdir, calls.Place(start.cwd, strlen(start.cwd) + 1));
  calls.Relocate(1);
  calls.Add(SYS_setresgid, gid, gid, gid);
  calls.Add(SYS_setresuid, uid, uid, uid);
  const uint64_t count = CapabilityCount();
  for (uint64_t capability = 0; capability < count; ++capability) {
    calls.Add(SYS_prctl, PR_CAPBSET_DROP, capability);
  }
  calls.Add(SYS_prctl, PR_SET_SECUREBITS,
            static_cast<uint64_t>(prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)));
  const __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  calls.Add(SYS_capset, calls.Place(&header, sizeof header), calls.Place(none, sizeof none));
  calls.Relocate(1);
  calls.Relocate(2);
  calls.Add(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
  if (ruleset >= 0) {
    calls.Add(SYS_landlock_restrict_self, static_cast<uint64_t>(ruleset));
    calls.Add(SYS_close, static_cast<uint64_t>(ruleset));
  }
  for (uint32_t i = 0; i < start.limit_count; ++i) {
    const rlimit limit = AttainableLimit(start.limits[i]);
    calls.Add(SYS_setrlimit, start.limits[i].resource, calls.Place(&limit, sizeof limit));
    calls.Relocate(2);
  }
  // A change of identity made it undumpable; a program that was started is not.
  calls.Add(SYS_prctl, PR_SET_DUMPABLE, 1);
  const Filter& filter = FilterFor(start);
  const uint64_t code = calls.Place(filter.code, filter.size * sizeof filter.code[0]);
  sock_fprog program{};
  program.len = filter.size;
  const uint64_t at = calls.Place(&program, sizeof program);
  calls.PutAddress(at + offsetof(sock_fprog, filter), code);
  calls.Add(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, at);
  calls.Relocate(3);
}

/// The sender's pid comes from the kernel. 0: nobody came.
pid_t AwaitWord(int socket) {
  pollfd fds[2] = {{socket, POLLIN, 0}, {kControlFd, POLLIN, 0}};
  int ready = 0;
  do {
    ready = poll(fds, 2, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  // An end: igloo's own, or the order to make one.
  if (fds[1].revents != 0) _exit(0);
  if (ready <= 0) {
    errno = ETIMEDOUT;
    return 0;
  }
  char word = 0;
  iovec part{&word, 1};
  union {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(ucred))];
  } control = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* header = count == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS) {
    errno = ESRCH;
    return 0;
  }
  ucred sender{};
  memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}

/// The value behind "Name:\t" in /proc/PID/status, compared as text.
bool Says(const char* status, const char* name, const char* value) {
  const char* line = strstr(status, name);
  if (line == nullptr) return false;
  const char* at = line + strlen(name);
  return strncmp(at, value, strlen(value)) == 0 && at[strlen(value)] == '\n';
}

/// All its namespaces are init's own.
bool IsInside(pid_t pid, const Identity (&own)[kNamespaceCount]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns", pid);
  const int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  unsigned same = 0;
  for (unsigned i = 0; i < kNamespaceCount; ++i) {
    struct stat info{};
    if (fstatat(directory, kNamespaces[i], &info, 0) != 0) break;
    if (Identity{info.st_dev, info.st_ino} == own[i]) ++same;
  }
  close(directory);
  return same == kNamespaceCount;
}

/// SECURITY: whatever it was told to do, it is looked at before anybody's code reaches it.
bool StandsBehindTheWall(pid_t pid, const Identity (&own)[kNamespaceCount]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char* const status = g_needed.status;
  const ssize_t size = read(fd, status, sizeof g_needed.status - 1);
  close(fd);
  if (size <= 0) return false;
  status[size] = '\0';
  char uids[64];
  char gids[64];
  const unsigned uid = getuid();
  const unsigned gid = getgid();
  snprintf(uids, sizeof uids, "%u\t%u\t%u\t%u", uid, uid, uid, uid);
  snprintf(gids, sizeof gids, "%u\t%u\t%u\t%u", gid, gid, gid, gid);
  constexpr const char* kNone = "0000000000000000";
  return IsInside(pid, own) && Says(status, "\nPPid:\t", "1") && Says(status, "\nUid:\t", uids) &&
         Says(status, "\nGid:\t", gids) && Says(status, "\nCapInh:\t", kNone) &&
         Says(status, "\nCapPrm:\t", kNone) && Says(status, "\nCapEff:\t", kNone) &&
         Says(status, "\nCapBnd:\t", kNone) && Says(status, "\nCapAmb:\t", kNone) &&
         Says(status, "\nNoNewPrivs:\t", "1") && Says(status, "\nSeccomp:\t", "2") &&
         Says(status, "\nSeccomp_filters:\t", "2");
}

}  // namespace

pid_t AdoptPayload(const StartView& start, int landlock_abi, PayloadFailure& failure) {
  const auto fail = [&](wire::InitStep step) {
    failure = {step, errno};
    return -1;
  };
  const unsigned own = 3 + start.extra_descriptors;
  const int socket = kFirstPayloadFd + static_cast<int>(own);
  const int yes = 1;
  Identity namespaces[kNamespaceCount];
  if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
      !SendNamespaces(socket, namespaces)) {
    return fail(wire::InitStep::kAdoption);
  }
  int fds[kMaxFds];
  for (unsigned i = 0; i < own; ++i) fds[i] = kFirstPayloadFd + static_cast<int>(i);
  const int ruleset = MakeRuleset(start, landlock_abi);
  if (ruleset < 0 && landlock_abi > 0) return fail(wire::InitStep::kLandlock);
  fds[own] = ruleset;
  // It places them as they come: the ruleset is the first behind the payload's own.
  DescribeWall(start, ruleset >= 0 ? static_cast<int>(own) : -1, g_needed.calls);
  if (!g_needed.calls.Send(socket, fds, own + (ruleset >= 0 ? 1 : 0))) {
    return fail(wire::InitStep::kAdoption);
  }
  close(ruleset);
  const pid_t pid = AwaitWord(socket);
  if (pid <= 0) return fail(wire::InitStep::kAdoption);
  if (!StandsBehindTheWall(pid, namespaces)) {
    errno = EPERM;
    return fail(wire::InitStep::kAdoption);
  }
  // It waits for this before it takes anybody's code.
  (void)send(socket, "g", 1, MSG_NOSIGNAL);
  close(socket);
  // A sandbox may wait for its code for long; these pages are of no more use to it.
  madvise(&g_needed, sizeof g_needed, MADV_DONTNEED);
  return pid;
}

}  // namespace igloo::guest
