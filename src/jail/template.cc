#include "jail/template.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "jail/channel.h"
#include "jail/network.h"
#include "jail/operations.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

constexpr char kSlotOrder = 'm';

/// A network namespace, and its counters before anybody had used it.
struct Network {
  int fd;  ///< -1: none
  uint64_t counters;
};

/// Network namespaces with their loopback raised. Making one and taking it apart costs as much as
/// everything else of a run, so one whose counters all stand where they stood is used again: its
/// next user cannot tell that it had an earlier one. They belong to the template's user namespace:
/// nobody in a sandbox has any right over them.
class Networks {
 public:
  /// Enters one, so that the next child is born into it; -1 with errno when there is none.
  Network Enter(int proc_fd) {
    if (idle_count_ > 0) {
      const Network network = idle_[--idle_count_];
      if (setns(network.fd, CLONE_NEWNET) == 0) return network;
      CloseQuietly(network.fd);
    }
    if (unshare(CLONE_NEWNET) != 0 || !PrepareNetwork(proc_fd)) return {-1, 0};
    return {CurrentNetwork(), CountersOf(proc_fd)};
  }

  /// Everything that was in it has ended.
  void GiveBack(const Network& network, int proc_fd) {
    if (idle_count_ < kMaxIdle && setns(network.fd, CLONE_NEWNET) == 0 && HasNoSockets(proc_fd) &&
        CountersOf(proc_fd) == network.counters) {
      idle_[idle_count_++] = network;
    } else {
      CloseQuietly(network.fd);
    }
  }

 private:
  static constexpr unsigned kMaxIdle = 8;
  Network idle_[kMaxIdle] = {};
  unsigned idle_count_ = 0;
};

/// A sandbox of this template that lives.
struct Living {
  pid_t pid;  ///< 0: none
  Network network;
};

/// A finished read-only root, the trees that it shows, and the maker of sandboxes that stand on it.
class Template {
 public:
  Template(const Job& job, Setup& setup, int socket) : job_(job), setup_(setup), socket_(socket) {}

  [[noreturn]] void Serve() {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    const int signals = signalfd(-1, &mask, SFD_CLOEXEC);
    for (;;) {
      pollfd fds[2] = {{socket_, POLLIN, 0}, {signals, POLLIN, 0}};
      if (poll(fds, 2, -1) < 0) {
        if (errno == EINTR) continue;
        _exit(125);
      }
      if (fds[1].revents != 0) Reap(signals);
      if (fds[0].revents != 0) Obey();
    }
  }

 private:
  void Obey() {
    char order = 0;
    int fds[ops::kMaxFds];
    unsigned count = 0;
    // End of file: the launcher forgot this template or is gone.
    if (!ReceiveWithFds(socket_, &order, 1, fds, ops::kMaxFds, count)) Leave();
    MakeOne(count > 0 ? fds[0] : -1);
  }

  /// First everything that has one of its ids ends: the lease of those ends with this process.
  [[noreturn]] static void Leave() {
    kill(-1, SIGKILL);  // all in this PID namespace but this process, its first
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    _exit(0);
  }

  void MakeOne(int cgroup) {
    SlotMade made{};
    Slot slot{};
    const Ids inner = job_.inner();
    const Network network =
        TakeNumber(made.number) ? networks_.Enter(setup_.proc_fd) : Network{-1, 0};
    if (made.number == kBlockSize) {
      made.failure = {ops::Step::kTemplateFull, 0, EAGAIN};
    } else if (network.fd < 0) {
      made.failure = {ops::Step::kHelper, 0, errno};
    } else {
      const uint32_t offset = OwnsBlock(setup_.by_root, job_.request) ? made.number : 0;
      const SlotSpec spec{.setup = &setup_,
                          .map = {inner, {inner.uid + offset, inner.gid + offset}, 1},
                          .number = made.number,
                          .cgroup_fd = cgroup,
                          .on_template = true,
                          .environment = job_.environment(),
                          .fresh = job_.fresh()};
      if (MakeSlot(spec, slot, made.failure)) {
        made.failure = {};
        made.pid = slot.pid;
        living_[made.number] = {slot.pid, network};
      } else {
        networks_.GiveBack(network, setup_.proc_fd);
      }
    }
    CloseQuietly(cgroup);
    const bool stands = made.failure.step == ops::Step::kNone;
    const int fds[2] = {slot.socket, slot.pidfd};
    SendWithFds(socket_, &made, sizeof made, fds, stands ? 2 : 0);
    if (stands) CloseAll(fds, 2);
  }

  /// Number 0 is the template's own. Started by a user there is one id for all; the number is only
  /// a place in the table then.
  bool TakeNumber(uint32_t& number) const {
    for (number = 1; number < kBlockSize; ++number) {
      if (living_[number].pid == 0) return true;
    }
    return false;
  }

  void Reap(int signals) {
    signalfd_siginfo ignored;
    (void)!read(signals, &ignored, sizeof ignored);
    for (pid_t pid = waitpid(-1, nullptr, WNOHANG); pid > 0; pid = waitpid(-1, nullptr, WNOHANG)) {
      for (Living& each : living_) {
        if (each.pid != pid) continue;
        networks_.GiveBack(each.network, setup_.proc_fd);
        each = {};
      }
    }
  }

  const Job& job_;
  Setup& setup_;
  int socket_;
  Living living_[kBlockSize] = {};  ///< by number
  Networks networks_ = {};
};

[[noreturn]] void TemplateMain(const Job& job, Setup setup, int socket) {
  const auto fail = [&](ops::Step step) { FailAndExit(job.reply(), {step, 0, errno}); };
  if (!AwaitMap(socket, job.inner())) fail(ops::Step::kIdentity);
  setup.role = Role::kTemplate;
  Failure failure{};
  if (!ApplyList(setup, job.environment(), failure)) FailAndExit(job.reply(), failure);
  // Children are numbered in this PID namespace now; the host's /proc is out of reach anyway.
  setup.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (setup.proc_fd < 0) fail(ops::Step::kMaps);
  SendReply(job.reply(), ops::ReplyKind::kReady);
  // The lease of subordinate ids, if there is one, stays: nobody else gets them while this lives.
  CloseQuietly(job.reply());
  if (!HasSubordinateIds(job.request)) CloseAll(job.fds + 1, job.request.fd_count - 1U);
  Template(job, setup, socket).Serve();
}

IdMap MapOf(const Setup& setup, const ops::Request& request, pid_t pid) {
  Ids block{getuid(), getgid()};
  if (setup.by_root) block.uid = block.gid = BlockOf(request.host_id_base, pid);
  const bool own = OwnsBlock(setup.by_root, request);
  if (own && !setup.by_root) block = {request.host_id_base, request.host_gid_base};
  return {{request.inner_uid, request.inner_gid}, block, own ? kBlockSize : 1};
}

}  // namespace

pid_t StartTemplate(const Job& job, const Setup& setup, const int* launcher_fds,
                    unsigned launcher_fd_count, int& socket) {
  Child child{};
  Failure failure{};
  bool made = MakeChild(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, -1, child, failure);
  if (made && child.pid == 0) {
    CloseAll(launcher_fds, launcher_fd_count);
    TemplateMain(job, setup, child.socket);
  }
  made = made && MapChild(child, setup.proc_fd, MapOf(setup, job.request, child.pid), failure);
  if (!made) SendFailure(job.reply(), failure);
  socket = child.socket;
  return made ? child.pid : -1;
}

bool AskForSlot(int socket, int cgroup) {
  return SendWithFds(socket, &kSlotOrder, 1, &cgroup, cgroup >= 0 ? 1 : 0);
}

bool ReceiveSlot(int socket, Slot& slot, Failure& failure) {
  SlotMade made{};
  int fds[2] = {-1, -1};
  unsigned count = 0;
  if (!ReceiveWithFds(socket, &made, sizeof made, fds, 2, count)) {
    failure = {ops::Step::kTemplateGone, 0, ENOENT};
    return false;
  }
  failure = made.failure;
  slot = {{made.pid, fds[1], fds[0]}, made.number};
  return count == 2 && made.failure.step == ops::Step::kNone;
}

}  // namespace igloo::jail
