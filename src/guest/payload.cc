#include "guest/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/control.h"
#include "guest/observer.h"
#include "guest/restore.h"
#include "guest/seccomp.h"
#include "kernel/calls.h"

namespace igloo::guest {
namespace {

// Rights and sizes of Landlock versions newer than the build machine's headers.
constexpr uint64_t kFsExecute = 1, kFsWriteFile = 2, kFsReadFile = 4, kFsReadDir = 8;
constexpr uint64_t kFsTruncate = 1 << 14, kFsIoctlDev = 1 << 15;
constexpr uint64_t kScopeAbstractSocket = 1, kScopeSignal = 2;

struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};
struct [[gnu::packed]] PathBeneathAttr {
  uint64_t allowed_access;
  int32_t parent_fd;
};

/// All file rights a version knows.
uint64_t HandledRights(int abi) {
  if (abi >= 5) return (1ULL << 16) - 1;
  if (abi >= 3) return (1ULL << 15) - 1;
  if (abi == 2) return (1ULL << 14) - 1;
  return (1ULL << 13) - 1;
}

uint64_t RightsOf(wire::PathRight right) {
  switch (right) {
    case wire::PathRight::kRead:
      return kFsExecute | kFsReadFile | kFsReadDir;
    case wire::PathRight::kReadWrite:
      return ~kFsIoctlDev;
    case wire::PathRight::kDevice:
      return kFsReadFile | kFsWriteFile | kFsTruncate | kFsIoctlDev;
  }
  return 0;
}

bool AddRule(int ruleset, int fd, uint64_t rights) {
  const PathBeneathAttr attr{rights, fd};
  return fd >= 0 && syscall(SYS_landlock_add_rule, ruleset, 1, &attr, 0) == 0;
}

/// The second layer as a Landlock ruleset, or -1: errno says why.
int MakeRuleset(const StartView& start, int abi) {
  const uint64_t handled = HandledRights(abi);
  const RulesetAttr attr{handled, 0, abi >= 6 ? kScopeAbstractSocket | kScopeSignal : 0};
  const size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 16 : 8;
  const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attr, size, 0));
  if (ruleset < 0) return -1;
  for (uint32_t i = 0; i < start.path_count; ++i) {
    const kernel::ScopedFd fd(open(start.paths[i].path, O_PATH | O_CLOEXEC));
    if (!AddRule(ruleset, fd.get(), RightsOf(start.paths[i].right) & handled)) return -1;
  }
  // The terminal that igloo made for this payload lies in no place of the sandbox's, and programs
  // open it again by /dev/stdin and its like. This one file, and only as it is held already.
  constexpr uint64_t kOfTerminal = kFsReadFile | kFsWriteFile | kFsIoctlDev;
  const bool terminal = start.terminal == wire::Terminal::kOwn;
  return !terminal || AddRule(ruleset, kFirstPayloadFd, kOfTerminal & handled) ? ruleset : -1;
}

/// The filters of a payload; those for debuggers are not heard of.
ToldFilters FiltersFor(const StartView& start) {
  const bool counted = start.memory == wire::MemoryWatch::kCgroup;
  if (start.seccomp == wire::SeccompProfile::kDebug) {
    const Filter& filter = counted ? kCountedDebugFilter : kDebugFilter;
    return {filter, filter, filter};
  }
  const bool raw = start.seccomp == wire::SeccompProfile::kRawSockets;
  if (raw) return counted ? kToldFilters<true, true> : kToldFilters<false, true>;
  return counted ? kToldFilters<true, false> : kToldFilters<false, false>;
}

/// The second layer: even a hole in the mount table would show nothing writable.
bool ApplyLandlock(const StartView& start, int abi) {
  if (abi <= 0) return true;  // reported to the host, which decides whether that is acceptable
  const int ruleset = MakeRuleset(start, abi);
  if (ruleset < 0) return false;
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) return false;
  close(ruleset);
  return true;
}

bool ApplyLimits(const StartView& start) {
  for (uint32_t i = 0; i < start.limit_count; ++i) {
    const int resource = static_cast<int>(start.limits[i].resource);
    rlim_t value = start.limits[i].value;
    // One of the machine's own that is lower stays: raising needs a right that nobody has.
    rlimit now{};
    if (getrlimit(resource, &now) == 0 && now.rlim_max < value) value = now.rlim_max;
    const rlimit wanted{value, value};
    if (setrlimit(resource, &wanted) != 0) return false;
  }
  return true;
}

/// `kept`: one more that stays until exec, or -1.
bool PlaceDescriptors(const StartView& start, int kept) {
  // A checkpoint's file comes behind the others; restoring closes it.
  const unsigned checkpoint = start.birth == wire::Birth::kRestored ? 1 : 0;
  const unsigned count = 3 + start.extra_descriptors + checkpoint;
  for (unsigned i = 0; i < count; ++i) {
    // Targets lie below the sources, so going upwards never overwrites one still needed.
    if (dup2(kFirstPayloadFd + static_cast<int>(i), static_cast<int>(i)) < 0) return false;
  }
  // SECURITY: the control channel is among those that go.
  if (kept >= 0 && syscall(SYS_close_range, count, kept - 1, 0) != 0) return false;
  return syscall(SYS_close_range, kept >= 0 ? static_cast<unsigned>(kept) + 1 : count, ~0U, 0) == 0;
}

/// A payload without input gets /dev/null from outside, a file that Landlock keeps it from opening
/// again. The sandbox's own one can be opened, so it takes its place, if there is one.
void UseOwnNull() {
  struct stat given, own;
  if (fstat(kFirstPayloadFd, &given) != 0 || !S_ISCHR(given.st_mode)) return;
  const kernel::ScopedFd fd(open("/dev/null", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const bool same =
      fd && fstat(fd.get(), &own) == 0 && S_ISCHR(own.st_mode) && own.st_rdev == given.st_rdev;
  if (same && fcntl(fd.get(), F_SETFL, 0) == 0) dup2(fd.get(), kFirstPayloadFd);
}

long Install(const Filter& filter, unsigned flags) {
  const sock_fprog program{filter.size, const_cast<sock_filter*>(filter.code)};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/// `observer`: where the listener goes, or -1. Both close at exec.
bool InstallFilter(const StartView& start, int observer) {
  const ToldFilters filters = FiltersFor(start);
  if (observer < 0) return Install(filters.plain, 0) == 0;
  const bool files = start.watched == wire::Watched::kFiles;
  const Filter& filter = files ? filters.files : filters.calls;
  constexpr unsigned kListener = SECCOMP_FILTER_FLAG_NEW_LISTENER, kKillable = 1U << 5;
  // Linux 5.19: once init has a call, no signal takes it back.
  long listener = Install(filter, kListener | kKillable);
  if (listener < 0 && errno == EINVAL) listener = Install(filter, kListener);
  if (listener >= 0) return SendDescriptor(observer, static_cast<int>(listener));
  // Somebody around this sandbox listens already, and the kernel has one listener: the same wall
  // without a word. Who wants to learn is told that it cannot be.
  return !files && Install(filters.plain, 0) == 0;
}

/// Blocked signals, the umask and the personality (address randomisation switched off) outlive
/// exec; the payload starts with none of its caller's, whatever backend is around it. Ignored
/// signals do so, too; whoever starts a backend's program resets them, off the path of a run.
void ResetHabits() {
  umask(022);
  personality(0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

const char* Variable(const StartView& start, const char* name) {
  const size_t size = strlen(name);
  for (const char* const* entry = start.env; *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=') return *entry + size + 1;
  }
  return "";
}

/// A bare name is looked for in the sandbox's own PATH. Returns only on failure, errno set.
void Exec(const StartView& start) {
  auto* argv = const_cast<char* const*>(start.argv);
  auto* env = const_cast<char* const*>(start.env);
  if (strchr(argv[0], '/') != nullptr) {
    execve(argv[0], argv, env);
    return;
  }
  int best = ENOENT;
  for (const char* at = Variable(start, "PATH"); *at != '\0';) {
    const size_t size = strcspn(at, ":");
    char path[4096];
    if (size > 0 && size + strlen(argv[0]) + 2 <= sizeof path) {
      memcpy(path, at, size);
      path[size] = '/';
      strcpy(path + size + 1, argv[0]);
      execve(path, argv, env);
      // A file that is there but cannot run says more than the directories without it.
      if (errno != ENOENT && errno != ENOTDIR) best = errno;
    }
    at += size;
    if (*at == ':') ++at;
  }
  errno = best;
}

/// igloo-init leads the session of a payload with a terminal. The payload is a job in it, as in
/// that of a shell: only so it can be stopped by a key.
bool LeadSession(const StartView& start) {
  if (start.terminal != wire::Terminal::kOwn) return true;
  return (getsid(0) == getpid() || setsid() >= 0) && ioctl(kFirstPayloadFd, TIOCSCTTY, 0) == 0;
}

/// The payload's half of it.
bool BecomeJob() {
  // Who is not in the foreground yet would be stopped for asking. ResetHabits undoes this.
  sigset_t background;
  sigemptyset(&background);
  sigaddset(&background, SIGTTOU);
  sigprocmask(SIG_BLOCK, &background, nullptr);
  return setpgid(0, 0) == 0 && tcsetpgrp(kFirstPayloadFd, getpid()) == 0;
}

/// Turns this process into the payload. Returns only when that fails: where, errno says why.
/// `program`: the file to start instead of the one that the arguments name, or null. `terminal`:
/// what it has instead of the payload's own descriptors, or -1. `observer`: see InstallFilter.
wire::InitStep BecomePayload(const StartView& start, int landlock_abi, const char* program,
                             int terminal, int observer) {
  using wire::InitStep;
  // Above all that is placed below.
  if (observer >= 0 && (observer = fcntl(observer, F_DUPFD_CLOEXEC, 64)) < 0) {
    return InitStep::kDescriptors;
  }
  for (int i = 0; terminal >= 0 && i < 3; ++i) {
    if (dup2(terminal, kFirstPayloadFd + i) < 0) return InitStep::kDescriptors;
  }
  const bool job = start.terminal == wire::Terminal::kOwn && terminal < 0;
  if (job ? !BecomeJob() : setsid() < 0) return InitStep::kSession;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Descriptors last touched before anything can be refused by the layers below.
  if (chdir(start.cwd) != 0) return InitStep::kWorkingDirectory;
  UseOwnNull();
  if (!ApplyLandlock(start, landlock_abi)) return InitStep::kLandlock;
  if (!PlaceDescriptors(start, observer)) return InitStep::kDescriptors;
  // The session has no terminal yet, and igloo gave this one to nobody else: job control works, and
  // the caller's own terminal stays out of reach.
  if (terminal >= 0 && ioctl(0, TIOCSCTTY, 0) != 0) return InitStep::kTerminal;
  if (!ApplyLimits(start)) return InitStep::kResourceLimit;
  ResetHabits();
  // It then stops before its first instruction. The filter would deny it.
  if (program != nullptr && ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    return InitStep::kRestore;
  }
  if (!InstallFilter(start, observer)) return InitStep::kSeccomp;
  if (program == nullptr) {
    Exec(start);
  } else {
    execve(program, const_cast<char* const*>(start.argv), const_cast<char* const*>(start.env));
  }
  return InitStep::kExec;
}

/// Takes what the child sent, which has the program's own memory by now, or has ended.
void TakeListener(const int (&way)[2]) {
  close(way[1]);
  char byte = 0;
  int listener = -1;
  const ssize_t came = Receive(way[0], &byte, sizeof byte, listener);
  close(way[0]);
  Observe(listener, came > 0 ? 0 : EBUSY);
}

/// `program`, `terminal`: see BecomePayload.
pid_t Start(const StartView& start, int landlock_abi, const char* program, int terminal,
            PayloadFailure& failure) {
  if (terminal < 0 && !LeadSession(start)) {
    failure = {wire::InitStep::kTerminal, errno};
    return -1;
  }
  int way[2] = {-1, -1};  // of the listener, from the child to us
  const bool watched = start.watched != wire::Watched::kNothing;
  if (watched && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, way) != 0) {
    failure = {wire::InitStep::kSession, errno};
    return -1;
  }
  // vfork: the child borrows this memory until exec, so it reports its failure in place.
  volatile wire::InitStep failed_step = wire::InitStep::kNone;
  volatile int failed_errno = 0;
  const pid_t pid = vfork();
  if (pid == 0) {
    const wire::InitStep step = BecomePayload(start, landlock_abi, program, terminal, way[1]);
    failed_errno = errno;
    failed_step = step;
    _exit(127);
  }
  if (watched) TakeListener(way);
  failure = {failed_step, failed_errno};
  if (pid < 0) failure = {wire::InitStep::kSession, errno};
  return failure.step == wire::InitStep::kNone ? pid : -1;
}

}  // namespace

int LandlockAbi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1 /* VERSION */);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

pid_t StartPayload(const StartView& start, int landlock_abi, PayloadFailure& failure) {
  if (start.birth == wire::Birth::kStarted) {
    return Start(start, landlock_abi, nullptr, -1, failure);
  }
  const CheckpointView checkpoint(kFirstPayloadFd + 3 + static_cast<int>(start.extra_descriptors));
  failure = {wire::InitStep::kRestore, EPROTO};
  if (!checkpoint.ok()) return -1;
  const pid_t pid = Start(start, landlock_abi, checkpoint.header().program, -1, failure);
  const int error = pid < 0 ? 0 : Restore(pid, checkpoint);
  if (error != 0) failure = {wire::InitStep::kRestore, error};
  return error == 0 ? pid : -1;
}

pid_t JoinPayload(StartView& start, const char* const* argv, int terminal, int landlock_abi,
                  PayloadFailure& failure) {
  const auto* const argv_before = start.argv;
  const wire::Terminal terminal_before = start.terminal;
  const uint32_t extra_before = start.extra_descriptors;
  const wire::Birth birth_before = start.birth;
  start.argv = argv;
  start.terminal = wire::Terminal::kOwn;
  start.extra_descriptors = 0;
  start.birth = wire::Birth::kStarted;
  const pid_t pid = Start(start, landlock_abi, nullptr, terminal, failure);
  start.argv = argv_before;
  start.terminal = terminal_before;
  start.extra_descriptors = extra_before;
  start.birth = birth_before;
  return pid;
}

}  // namespace igloo::guest
