#include "jail/launcher.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "jail/channel.h"
#include "jail/identity.h"
#include "jail/operations.h"
#include "jail/sandbox.h"
#include "jail/sources.h"
#include "jail/sys.h"
#include "jail/template.h"

namespace igloo::jail {
namespace {

constexpr unsigned kMaxTemplates = 64;
int g_sources[kMaxSources];

/// The running launcher: requests in, sandboxes out.
class Launcher {
 public:
  Launcher(int socket, int init_fd) : socket_(socket), begun_(NowMicros()) {
    setup_.init_fd = init_fd;
    setup_.by_root = geteuid() == 0;
    setup_.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (Row& row : templates_) row.socket = -1;
  }

  [[noreturn]] void Serve() {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    HandleRequest();  // the first one is always coming; everything else can wait for it
    const int signals = signalfd(-1, &mask, SFD_CLOEXEC);
    for (;;) {
      pollfd fds[2 + kMaxTemplates];
      fds[0] = {socket_, POLLIN, 0};
      fds[1] = {signals, POLLIN, 0};
      for (unsigned i = 0; i < kMaxTemplates; ++i) fds[2 + i] = {templates_[i].socket, POLLIN, 0};
      if (poll(fds, 2 + kMaxTemplates, -1) <= 0) continue;
      if (fds[1].revents != 0) Reap(signals);
      for (unsigned i = 0; i < kMaxTemplates; ++i) {
        if (fds[2 + i].revents != 0) HearTemplate(i);
      }
      if (fds[0].revents != 0) HandleRequest();
    }
  }

 private:
  struct Row {
    uint64_t id;
    int socket;  ///< -1: free
    uint32_t operations;  ///< of its environment: those of a run are counted on from there
  };
  /// Who has a host id of our block: a cold run by its pid, a template's run by its row.
  struct Holder {
    pid_t cold;
    unsigned row_plus_one;
  };

  void HandleRequest() {
    Job job{};
    if (!ReceiveJob(socket_, job)) _exit(0);  // igloo is gone; the kernel ends what we started
    setup_.stamps[0] = begun_;
    setup_.next_source = 0;
    switch (static_cast<ops::Kind>(job.request.kind)) {
      case ops::Kind::kRun:
        Run(job);
        break;
      case ops::Kind::kPrepare:
        Prepare(job);
        break;
      case ops::Kind::kRunPrepared:
        RunPrepared(job);
        break;
      case ops::Kind::kForget:
        Forget(FindRow(job.request.template_id));
        break;
      default:
        SendFailure(job.reply(), {ops::Step::kDecode, 0, EBADMSG});
    }
    CloseJob(job);
    ReleaseBody(job);
  }

  void Run(const Job& job) {
    uint32_t slot = 0;
    if (!TakeId(slot)) return SendFailure(job.reply(), {ops::Step::kTemplateFull, 0, EAGAIN});
    setup_.host_id = BlockOf(job.request.host_id_base, getpid()) + slot;
    const pid_t pid = StartCold(job, setup_);
    if (setup_.by_root) holders_[slot] = {pid > 0 ? pid : 0, 0};
  }

  void Prepare(const Job& job) {
    const int row = FreeRow();
    if (row < 0) return SendFailure(job.reply(), {ops::Step::kTemplateFull, 0, ENOSPC});
    if (!GainMountRights()) return SendFailure(job.reply(), {ops::Step::kUnshare, 0, errno});
    Failure failure{};
    unsigned count = 0;
    const uint32_t block = BlockOf(job.request.host_id_base, getpid());
    int socket = -1;
    int own[1 + kMaxTemplates];
    own[0] = socket_;
    for (unsigned i = 0; i < kMaxTemplates; ++i) own[1 + i] = templates_[i].socket;
    setup_.launcher_fds = own;
    setup_.launcher_fd_count = 1 + kMaxTemplates;
    if (!OpenSources(job.environment(), job.request.environment_bytes, 0, setup_.by_root,
                     setup_.proc_fd, block, g_sources, count, failure)) {
      SendFailure(job.reply(), failure);
    } else if (StartTemplate(job, setup_, block, g_sources, count, socket) > 0) {
      templates_[row] = {job.request.template_id, socket,
                         CountOperations(job.environment(), job.request.environment_bytes)};
    }
    CloseAll(g_sources, count);
  }

  void RunPrepared(const Job& job) {
    const int row = FindRow(job.request.template_id);
    if (row < 0) return SendFailure(job.reply(), {ops::Step::kUnknownTemplate, 0, ENOENT});
    uint32_t slot = 0;
    if (!TakeId(slot)) return SendFailure(job.reply(), {ops::Step::kTemplateFull, 0, EAGAIN});
    const uint32_t host_id = BlockOf(job.request.host_id_base, getpid()) + slot;
    Failure failure{};
    unsigned count = 0;
    if (!OpenSources(job.run(), job.request.run_bytes, templates_[row].operations,
                     setup_.by_root, setup_.proc_fd, host_id, g_sources, count, failure)) {
      SendFailure(job.reply(), failure);
    } else if (count > kMaxRunSources) {
      SendFailure(job.reply(), {ops::Step::kSource, failure.index, E2BIG});
    } else if (!SendJob(templates_[row].socket, job, g_sources, count, slot)) {
      SendFailure(job.reply(), {ops::Step::kTemplateGone, 0, errno});
    } else if (setup_.by_root) {
      holders_[slot] = {0, static_cast<unsigned>(row) + 1};
    }
    CloseAll(g_sources, count);
  }

  /// Started by a user, only a namespace of our own lets us clone mounts for runs of a template.
  bool GainMountRights() {
    if (setup_.by_root || has_mount_rights_) return true;
    const uint32_t uid = getuid();
    const uint32_t gid = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    // Slave, not private: what is mounted on the host later can still be a project.
    if (!WriteMaps(setup_.proc_fd, getpid(), {uid, gid, uid, gid, 1}) ||
        mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
      return false;
    }
    has_mount_rights_ = true;
    return true;
  }

  /// Slot 0 is the templates' own; started by a user there is one id and no choice.
  bool TakeId(uint32_t& slot) {
    if (!setup_.by_root) return true;
    for (slot = 1; slot < kBlockSize; ++slot) {
      if (holders_[slot].cold == 0 && holders_[slot].row_plus_one == 0) return true;
    }
    return false;
  }

  void HearTemplate(unsigned row) {
    uint32_t slot = 0;
    if (read(templates_[row].socket, &slot, sizeof slot) != sizeof slot) {
      return Forget(static_cast<int>(row));
    }
    if (slot < kBlockSize) holders_[slot] = {};
  }

  /// Closing the socket ends the template, and with it every run that stands on it.
  void Forget(int row) {
    if (row < 0) return;
    CloseQuietly(templates_[row].socket);
    templates_[row] = {0, -1, 0};
    for (Holder& holder : holders_) {
      if (holder.row_plus_one == static_cast<unsigned>(row) + 1) holder = {};
    }
  }

  void Reap(int signals) {
    signalfd_siginfo ignored;
    (void)!read(signals, &ignored, sizeof ignored);
    for (pid_t pid = waitpid(-1, nullptr, WNOHANG); pid > 0; pid = waitpid(-1, nullptr, WNOHANG)) {
      for (Holder& holder : holders_) {
        if (holder.cold == pid) holder = {};
      }
    }
  }

  int FindRow(uint64_t id) const {
    for (unsigned i = 0; i < kMaxTemplates; ++i) {
      if (templates_[i].socket >= 0 && templates_[i].id == id) return static_cast<int>(i);
    }
    return -1;
  }

  int FreeRow() const {
    for (unsigned i = 0; i < kMaxTemplates; ++i) {
      if (templates_[i].socket < 0) return static_cast<int>(i);
    }
    return -1;
  }

  int socket_;
  uint64_t begun_;
  Setup setup_ = {};
  bool has_mount_rights_ = false;
  Row templates_[kMaxTemplates] = {};
  Holder holders_[kBlockSize] = {};
};

}  // namespace

void Serve(int socket, int init_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  umask(0);
  signal(SIGPIPE, SIG_IGN);
  if (geteuid() == 0) syscall(SYS_setgroups, 0, nullptr);
  // Hundreds of mount sources are open at once; the payload's own limit is set by igloo-init.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  static Launcher launcher(socket, init_fd);
  launcher.Serve();
}

}  // namespace igloo::jail
