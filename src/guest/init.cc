#include "guest/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest/control.h"
#include "guest/memory.h"
#include "guest/observer.h"
#include "guest/payload.h"
#include "guest/sockets.h"
#include "guest/start.h"
#include "kernel/calls.h"
#include "kernel/privileges.h"

namespace igloo::guest {
namespace {

using kernel::Micros;
using kernel::NowMicros;
using wire::EndCause;
using wire::InitStep;

// Static memory instead of a heap; pages that are never touched cost nothing.
alignas(8) unsigned char g_frame[wire::kMaxFrame];  ///< of kStart: g_start points into it
alignas(4096) StartView g_start;  // all that is used of it lies on its first page then
unsigned char g_scratch[4096];
alignas(8) unsigned char g_order[wire::kMaxOrder];  ///< of every other frame

[[noreturn]] void Refuse(InitStep step, int sys_errno) {
  ReportWriter report(wire::FromInit::kRefused, g_start.nonce);
  report.U8(static_cast<uint8_t>(step));
  report.U32(static_cast<uint32_t>(sys_errno));
  report.Send();
  _exit(125);
}

/// The life of one payload, from start to report.
class Watch {
 public:
  Watch(pid_t pid, int signals, uint64_t init_micros, int landlock_abi)
      : signals_(signals), init_micros_(init_micros), landlock_abi_(landlock_abi) {
    Begin(pid);
    const bool watches =
        g_start.memory == wire::MemoryWatch::kInit || g_start.sockets == wire::SocketWatch::kOwn;
    if (g_start.memory_limit_bytes != 0 && watches) {
      // The first look comes late enough that a short run never pays for it.
      proc_fd_ = OpenProc();
      memory_check_ = start_micros_ + kMemoryCheckMicros;
    }
  }

  [[noreturn]] void Run() {
    for (;;) {
      pollfd fds[3] = {{signals_, POLLIN, 0}, {kControlFd, POLLIN, 0}, {ObservedFd(), POLLIN, 0}};
      const int ready = poll(fds, 3, Timeout());
      // SECURITY: an init that cannot hear any more ends, and everything with it.
      if (ready < 0 && errno != EINTR) _exit(125);
      WatchMemory();
      if (deadline_ != 0 && NowMicros() >= deadline_) OnDeadline();
      if (ObservedDue() != 0 && NowMicros() >= ObservedDue()) TellObserved(g_start.nonce);
      if (ready <= 0) continue;
      if (fds[0].revents != 0) Reap();
      if (fds[1].revents != 0) OnMessage();
      if (fds[2].revents != 0) AnswerObserved(g_start.watched, g_start.nonce);
    }
  }

 private:
  static int OpenProc() { return open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

  void Begin(pid_t pid) {
    pid_ = pid;
    cause_ = EndCause::kItself;
    BeginTime(g_start.time_limit_ms);
  }

  void BeginTime(uint64_t limit_ms) {
    start_micros_ = NowMicros();
    deadline_ = limit_ms == 0 ? 0 : start_micros_ + limit_ms * 1000;
  }

  /// The payload waits in open(2) for a named pipe, or will. While it stands still, the file comes
  /// in the place of the pipe; then it begins the system call anew and opens that. Nothing of the
  /// program has run by then, so nobody notices a signal.
  void Go(uint64_t limit_ms, const char* name) {
    if (proc_fd_ < 0) proc_fd_ = OpenProc();
    if (proc_fd_ < 0) _exit(125);  // before the file is there: nothing has begun
    SignalEach(proc_fd_, SIGSTOP);
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(pid_, &clock) == 0 && clock_gettime(clock, &used) == 0) {
      cpu_before_ = Micros(used);
    }
    BeginTime(limit_ms);
    const int directory = kFirstPayloadFd + 3 + static_cast<int>(g_start.extra_descriptors);
    if (renameat(directory, wire::kNewFile, directory, name) != 0) _exit(125);
    close(directory);
    SignalEach(proc_fd_, SIGCONT);
  }

  int Timeout() const {
    const uint64_t now = NowMicros();
    uint64_t next = deadline_;
    const uint64_t others[] = {memory_check_, ObservedDue()};
    for (const uint64_t other : others) {
      if (other != 0 && (next == 0 || other < next)) next = other;
    }
    if (next == 0) return -1;
    if (now >= next) return 0;
    const uint64_t left = (next - now) / 1000 + 1;
    return left > 1'000'000'000 ? 1'000'000'000 : static_cast<int>(left);
  }

  /// A limit for each process alone (RLIMIT_DATA) does not bound many of them, nor what they share.
  /// Nobody else counts buffers of sockets.
  void WatchMemory() {
    if (memory_check_ == 0 || NowMicros() < memory_check_) return;
    const uint64_t limit = g_start.memory_limit_bytes;
    const uint64_t little = limit / 4;  // so much is not looked at more closely
    const bool own = g_start.sockets == wire::SocketWatch::kOwn;
    const uint64_t sockets = own ? ReadSocketUse(proc_fd_, little) : 0;
    const bool by_init = g_start.memory == wire::MemoryWatch::kInit;
    const MemoryUse use =
        by_init || sockets > little ? ReadMemoryUse(proc_fd_, limit) : MemoryUse{};
    // Pages that processes share since a fork are counted for each of them: one process is judged
    // by its sum, several by twice as much.
    if (sockets > limit || use.bytes + sockets > (use.processes > 1 ? 2 * limit : limit)) {
      if (cause_ == EndCause::kItself) cause_ = EndCause::kMemory;
      KillAll();
    }
    memory_check_ = NowMicros() + kMemoryCheckMicros;
  }

  void OnDeadline() {
    if (cause_ == EndCause::kItself) {
      cause_ = EndCause::kTimeLimit;
      Interrupt();
    } else {
      KillAll();
    }
  }

  void Nudge() const {
    // Between two payloads nobody is there to hear it, and 0 would mean ourselves.
    if (pid_ > 0) kill(-pid_, SIGINT);
  }

  void Interrupt() {
    Nudge();
    deadline_ = NowMicros() + g_start.grace_ms * 1000;
  }

  void KillAll() {
    deadline_ = 0;
    kill(-1, SIGKILL);  // everything in this PID namespace but ourselves
  }

  void OnMessage() {
    // End of file is the lifeline: igloo is gone, so is everything here.
    int descriptor = -1;
    const uint32_t size = ReadFrame(g_order, sizeof g_order, descriptor);
    if (size == 0) _exit(0);
    const kernel::ScopedFd came(descriptor);
    wire::Fields fields(g_order, size);
    const auto kind = static_cast<wire::ToInit>(fields.U8());
    if (kind == wire::ToInit::kJoin) return Join(fields, came.get());
    const bool go = kind == wire::ToInit::kGo;
    const uint64_t limit_ms = go ? fields.U64() : 0;
    const char* const name = go ? fields.Text() : nullptr;
    if (!fields.AtEnd()) _exit(125);
    switch (kind) {
      case wire::ToInit::kGo:
        if (pid_ > 0) Go(limit_ms, name);
        return;
      case wire::ToInit::kInterrupt:
        if (cause_ == EndCause::kItself) cause_ = EndCause::kInterrupted;
        Nudge();
        return;
      case wire::ToInit::kNudge:
        Nudge();
        return;
      case wire::ToInit::kContinue:
        if (pid_ > 0) kill(-pid_, SIGCONT);
        return;
      case wire::ToInit::kAgain:
        StartAgain();
        return;
      case wire::ToInit::kKill:
        if (cause_ != EndCause::kTimeLimit) cause_ = EndCause::kKilled;
        KillAll();
        return;
      default:
        _exit(125);
    }
  }

  /// What cannot be started is reported like what has ended: the payload goes on.
  void Join(wire::Fields& fields, int terminal) {
    const char* argv[wire::kMaxJoinWords + 1] = {};
    Joined joined{.number = fields.U32()};
    const uint32_t words = fields.U32();
    for (uint32_t i = 0; i < words && i < wire::kMaxJoinWords; ++i) argv[i] = fields.Text();
    if (!fields.AtEnd() || words == 0 || terminal < 0) _exit(125);
    Joined* place = joined_;
    while (place < joined_ + wire::kMaxJoined && place->pid != 0) ++place;
    PayloadFailure failure{InitStep::kSession, EAGAIN};
    // Between two payloads it would outlive what it belongs to.
    if (pid_ > 0 && place < joined_ + wire::kMaxJoined) {
      joined.pid = JoinPayload(g_start, argv, terminal, landlock_abi_, failure);
    }
    if (joined.pid <= 0) return Report(joined, 0, failure);
    *place = joined;
  }

  void EndJoined(pid_t pid, int status) {
    for (Joined& each : joined_) {
      if (each.pid != pid) continue;
      Report(each, status, {});
      each.pid = 0;
    }
  }

  struct Joined {
    uint32_t number = 0;
    pid_t pid = 0;  ///< 0: none
  };

  static void Report(const Joined& joined, int status, const PayloadFailure& failure) {
    const bool signalled = WIFSIGNALED(status);
    ReportWriter report(wire::FromInit::kJoinEnded, g_start.nonce);
    report.U32(joined.number);
    report.U8(static_cast<uint8_t>(signalled ? wire::EndKind::kSignalled : wire::EndKind::kExited));
    report.U32(static_cast<uint32_t>(signalled ? WTERMSIG(status) : WEXITSTATUS(status)));
    report.U8(static_cast<uint8_t>(failure.step));
    report.U32(static_cast<uint32_t>(failure.sys_errno));
    report.Send();
  }

  /// The same payload once more, behind the same wall. What igloo sent to the last one and that
  /// never read is not for this one.
  void StartAgain() {
    if (g_start.life != wire::Life::kStays || pid_ != 0) _exit(125);
    for (uint32_t i = 0; i < g_start.extra_descriptors; ++i) {
      const int fd = kFirstPayloadFd + 3 + static_cast<int>(i);
      pollfd left{fd, POLLIN, 0};
      while (poll(&left, 1, 0) > 0 && read(fd, g_scratch, sizeof g_scratch) > 0) {
      }
    }
    PayloadFailure failure;
    const pid_t pid = StartPayload(g_start, landlock_abi_, failure);
    if (pid < 0) Refuse(failure.step, failure.sys_errno);
    Begin(pid);
  }

  void Reap() {
    signalfd_siginfo ignored;
    (void)!read(signals_, &ignored, sizeof ignored);
    int status = 0;
    pid_t pid = 0;
    // Only who has a terminal is stopped by a person, who lets it go on.
    const int stopped = g_start.terminal == wire::Terminal::kOwn ? WUNTRACED : 0;
    while ((pid = waitpid(-1, &status, WNOHANG | stopped)) > 0) {
      if ((status & 0xff) == 0x7f) {  // WIFSTOPPED, which in musl overflows for large exit codes
        if (pid == pid_) ReportWriter(wire::FromInit::kStopped, g_start.nonce).Send();
      } else if (pid == pid_) {
        Finish(status);
      } else {
        EndJoined(pid, status);
      }
    }
  }

  void Finish(int status) {
    const uint64_t end = NowMicros();
    const bool succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const uint8_t hits = succeeded ? 0 : FindHits();
    // What the payload left behind ends with it, and its usage counts.
    kill(-1, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    TellObserved(g_start.nonce);
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const bool signalled = WIFSIGNALED(status);
    ReportWriter report(wire::FromInit::kEnded, g_start.nonce);
    report.U8(static_cast<uint8_t>(signalled ? wire::EndKind::kSignalled : wire::EndKind::kExited));
    report.U8(static_cast<uint8_t>(cause_));
    report.U8(hits);
    report.U32(static_cast<uint32_t>(signalled ? WTERMSIG(status) : WEXITSTATUS(status)));
    const uint64_t cpu = MicrosOf(usage.ru_utime) + MicrosOf(usage.ru_stime);
    report.U64(cpu > cpu_before_ ? cpu - cpu_before_ : 0);
    report.U64(static_cast<uint64_t>(usage.ru_maxrss));
    report.U64(end - start_micros_);
    report.U64(static_cast<uint64_t>(landlock_abi_));
    report.U64(init_micros_);
    report.U64(start_micros_);
    report.U64(end);
    report.Send();
    if (g_start.life == wire::Life::kOnce) _exit(0);
    for (Joined& each : joined_) each.pid = 0;
    pid_ = 0;
    deadline_ = 0;
  }

  static constexpr long kTmpfs = 0x01021994, kOverlay = 0x794c7630;

  /// Which limits a payload that failed stands at, while what it left is still there.
  uint8_t FindHits() const {
    uint8_t hits = 0;
    if (StandsAtProcessLimit()) hits |= wire::kHitProcesses;
    for (uint32_t i = 0; i < g_start.path_count; ++i) {
      struct statfs place{};
      if (g_start.paths[i].right != wire::PathRight::kReadWrite) continue;
      if (statfs(g_start.paths[i].path, &place) != 0) continue;
      // The sandbox's own; a project's disk may be full for reasons of the host.
      const bool own = place.f_type == kTmpfs || place.f_type == kOverlay;
      const bool limited = own && place.f_blocks > 0 && place.f_files > 0;
      if (limited && (place.f_bavail == 0 || place.f_ffree == 0)) hits |= wire::kHitDisk;
    }
    return hits;
  }

  bool StandsAtProcessLimit() const {
    for (uint32_t i = 0; i < g_start.limit_count; ++i) {
      const StartView::Limit& limit = g_start.limits[i];
      if (limit.resource != RLIMIT_NPROC) continue;
      const int proc = OpenProc();
      // The payload itself is gone by now, and so is one of those that it counted with; init is in.
      const bool full = proc >= 0 && CountTasks(proc) + 2 >= limit.value;
      close(proc);
      return full;
    }
    return false;
  }

  static uint64_t MicrosOf(const timeval& time) {
    return Micros({.tv_sec = time.tv_sec, .tv_nsec = time.tv_usec * 1'000});
  }

  pid_t pid_ = 0;  ///< 0: there is none now
  int signals_;
  uint64_t init_micros_;
  uint64_t start_micros_ = 0;
  uint64_t cpu_before_ = 0;  ///< used while it waited for its file
  int landlock_abi_;
  EndCause cause_ = EndCause::kItself;
  uint64_t deadline_ = 0;  ///< 0: none
  static constexpr uint64_t kMemoryCheckMicros = 100'000;
  int proc_fd_ = -1;
  uint64_t memory_check_ = 0;  ///< when to look next; 0: never
  Joined joined_[wire::kMaxJoined] = {};
};

}  // namespace

void InitMain() {
  const uint64_t begun = NowMicros();
  // SECURITY: before any payload exists, close our memory and /proc/1 to it.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);

  int unasked = -1;
  const uint32_t size = ReadFrame(g_frame, sizeof g_frame, unasked);
  if (size == 0) _exit(0);
  if (!DecodeStart(g_frame, size, g_start)) Refuse(InitStep::kStartMessage, EPROTO);
  const bool raw = g_start.seccomp == wire::SeccompProfile::kRawSockets;
  if (!kernel::LockPrivileges() || !kernel::HasNoPrivilegesBut(raw ? 1U << CAP_NET_RAW : 0)) {
    Refuse(InitStep::kSelfCheck, EPERM);
  }
  // 1: join a new anonymous session keyring, whatever the backend did about keys. A kernel
  // without keyrings has none to leak.
  if (syscall(SYS_keyctl, 1, nullptr) < 0 && errno != ENOSYS) Refuse(InitStep::kKeyring, errno);

  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  const int signals = signalfd(-1, &mask, SFD_CLOEXEC);
  if (signals < 0) Refuse(InitStep::kSession, errno);

  const int landlock_abi = LandlockAbi();
  PayloadFailure failure;
  const pid_t pid = StartPayload(g_start, landlock_abi, failure);
  if (pid < 0) Refuse(failure.step, failure.sys_errno);
  // One that is started again is started anew: the checkpoint is of no more use.
  if (g_start.birth == wire::Birth::kRestored) {
    close(kFirstPayloadFd + 3 + static_cast<int>(g_start.extra_descriptors));
    g_start.birth = wire::Birth::kStarted;
  }
  // The payload holds its own copies; ours would keep the pipes open after its end. One that stays
  // needs them for the next payload.
  if (g_start.life == wire::Life::kOnce) {
    syscall(SYS_close_range, kFirstPayloadFd, kFirstPayloadFd + 2 + g_start.extra_descriptors, 0);
  }
  Watch(pid, signals, begun, landlock_abi).Run();
}

}  // namespace igloo::guest
