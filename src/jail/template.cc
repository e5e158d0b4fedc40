#include "jail/template.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "jail/channel.h"
#include "jail/identity.h"
#include "jail/network.h"
#include "jail/operations.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

constexpr unsigned kStock = 3;
/// A request is answered first; what it used up is replaced once nothing more has come.
constexpr int kIdleMs = 2;

/// A finished read-only root and what waits beside it for the next run.
class Template {
 public:
  Template(Setup& setup, int socket, uint32_t environment_operations)
      : setup_(setup), socket_(socket), operations_(environment_operations) {}

  [[noreturn]] void Serve() {
    const int signals = WatchChildren();
    for (;;) {
      pollfd fds[2] = {{socket_, POLLIN, 0}, {signals, POLLIN, 0}};
      const int ready = poll(fds, 2, StockIsFull() ? -1 : kIdleMs);
      if (ready == 0) RefillOne();
      if (ready <= 0) continue;
      if (fds[1].revents != 0) Reap(signals);
      if (fds[0].revents != 0) HandleRun();
    }
  }

 private:
  static int WatchChildren() {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    return signalfd(-1, &mask, SFD_CLOEXEC);
  }

  bool StockIsFull() const { return fresh_ && stocked_ == kStock; }

  /// INVARIANT: `fresh_` means this process itself is in a network namespace nobody used.
  bool EnsureFresh() {
    if (fresh_) return true;
    if (stocked_ > 0) {
      const int fd = stock_[--stocked_];
      fresh_ = setns(fd, CLONE_NEWNET) == 0;
      CloseQuietly(fd);
    } else {
      fresh_ = MakeNetwork();
    }
    return fresh_;
  }

  void RefillOne() {
    if (fresh_) {
      const int current = CurrentNetwork();
      if (current < 0) return;
      stock_[stocked_++] = current;
    }
    fresh_ = MakeNetwork();
  }

  void HandleRun() {
    Job job{};
    int sources[kMaxRunSources];
    unsigned source_count = 0;
    uint32_t slot = 0;
    // End of file: the launcher forgot this template or is gone.
    if (!ReceiveForwarded(socket_, job, sources, source_count, slot)) _exit(0);
    if (!StartRun(job, sources, source_count, slot)) {
      SendFailure(job.reply(), {ops::Step::kClone, 0, errno});
      Release(slot);
    }
    CloseAll(sources, source_count);
    CloseJob(job);
    ReleaseBody(job);
  }

  bool StartRun(const Job& job, const int* sources, unsigned source_count, uint32_t slot) {
    int go[2];
    if (!EnsureFresh() || pipe2(go, O_CLOEXEC) != 0) return false;
    int pidfd = -1;
    const pid_t pid = CloneIntoNamespaces(job, 0, pidfd);
    if (pid == 0) {
      close(go[1]);
      RunChild(job, sources, source_count, go[0]);
    }
    CloseQuietly(go[0]);
    if (pid < 0) {
      CloseQuietly(go[1]);
      return false;
    }
    fresh_ = false;
    if (slot < kBlockSize) runs_[slot] = pid;
    const IdMap map{job.request.inner_uid, job.request.inner_gid, job.request.inner_uid + slot,
                    job.request.inner_gid + slot, 1};
    LetGo(job, setup_.proc_fd, pid, pidfd, go[1], map);
    return true;
  }

  [[noreturn]] void RunChild(const Job& job, const int* sources, unsigned source_count,
                             int go_fd) {
    setup_.stamps[1] = setup_.stamps[2] = NowMicros();
    setup_.job = &job;
    setup_.sources = sources;
    setup_.source_count = source_count;
    setup_.next_source = 0;
    char go = 0;
    if (read(go_fd, &go, 1) != 1) _exit(125);
    if (!BecomeUser(job.request.inner_uid, job.request.inner_gid)) {
      FailAndExit(job.reply(), {ops::Step::kIdentity, 0, errno});
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The template's own descriptor of the root belongs to the template's mount namespace.
    setup_.root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    FinishRun(setup_, operations_);
  }

  void Reap(int signals) {
    signalfd_siginfo ignored;
    (void)!read(signals, &ignored, sizeof ignored);
    for (pid_t pid = waitpid(-1, nullptr, WNOHANG); pid > 0; pid = waitpid(-1, nullptr, WNOHANG)) {
      for (uint32_t slot = 0; slot < kBlockSize; ++slot) {
        if (runs_[slot] != pid) continue;
        runs_[slot] = 0;
        Release(slot);
      }
    }
  }

  /// Tells the launcher that an id is free again.
  void Release(uint32_t slot) { (void)!send(socket_, &slot, sizeof slot, MSG_NOSIGNAL); }

  Setup& setup_;
  int socket_;
  uint32_t operations_;
  bool fresh_ = false;
  int stock_[kStock] = {};
  unsigned stocked_ = 0;
  pid_t runs_[kBlockSize] = {};
};

[[noreturn]] void TemplateChild(const Job& job, Setup& setup, int socket, int go_fd) {
  char go = 0;
  if (read(go_fd, &go, 1) != 1) _exit(125);
  if (!BecomeUser(job.request.inner_uid, job.request.inner_gid)) {
    FailAndExit(job.reply(), {ops::Step::kIdentity, 0, errno});
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  Failure failure{};
  const uint32_t bytes = job.request.environment_bytes;
  if (!ApplyList(setup, job.environment(), bytes, 0, failure)) FailAndExit(job.reply(), failure);
  const uint32_t operations = CountOperations(job.environment(), bytes);
  // Children are numbered in this PID namespace now; the host's /proc is out of reach anyway.
  setup.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (setup.proc_fd < 0) FailAndExit(job.reply(), {ops::Step::kMaps, 0, errno});
  ops::Reply ready{};
  ready.kind = static_cast<uint32_t>(ops::ReplyKind::kReady);
  SendReply(job.reply(), ready);
  CloseJob(job);
  Template(setup, socket, operations).Serve();
}

}  // namespace

pid_t StartTemplate(const Job& job, Setup& setup, uint32_t block, const int* sources,
                    unsigned source_count, int& socket) {
  int sockets[2];
  int go[2];
  int pidfd = -1;
  setup.job = &job;
  setup.sources = sources;
  setup.source_count = source_count;
  setup.next_source = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 ||
      pipe2(go, O_CLOEXEC) != 0) {
    SendFailure(job.reply(), {ops::Step::kClone, 0, errno});
    return -1;
  }
  const pid_t pid = CloneIntoNamespaces(job, 0, pidfd);
  if (pid == 0) {
    close(sockets[0]);
    close(go[1]);
    CloseAll(setup.launcher_fds, setup.launcher_fd_count);
    TemplateChild(job, setup, sockets[1], go[0]);
  }
  CloseQuietly(sockets[1]);
  CloseQuietly(go[0]);
  if (pid < 0) {
    SendFailure(job.reply(), {ops::Step::kClone, 0, errno});
    CloseQuietly(sockets[0]);
    CloseQuietly(go[1]);
    return -1;
  }
  const ops::Request& request = job.request;
  const IdMap map = setup.by_root
                        ? IdMap{request.inner_uid, request.inner_gid, block, block, kBlockSize}
                        : IdMap{request.inner_uid, request.inner_gid, getuid(), getgid(), 1};
  LetGo(job, setup.proc_fd, pid, pidfd, go[1], map);
  socket = sockets[0];
  return pid;
}

}  // namespace igloo::jail
