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
#include "jail/hand_out.h"
#include "jail/operations.h"
#include "jail/row.h"
#include "jail/sources.h"
#include "jail/sys.h"
#include "jail/template.h"

namespace igloo::jail {
namespace {

constexpr unsigned kMaxTemplates = 64;
/// A request is answered first; what it used up is replaced once nothing more has come.
constexpr int kIdleMs = 2;
/// What the launcher listens to besides its templates, and what it holds besides them.
constexpr unsigned kOwnPolls = 3, kOwnDescriptors = 5;

Sources g_sources;

/// The running launcher: requests in, sandboxes out.
class Launcher {
 public:
  Launcher(int socket, const Program& program)
      : socket_(socket), first_request_(program.first_request) {
    setup_.init = program.init;
    setup_.by_root = geteuid() == 0;
    setup_.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    setup_.stamps[0] = NowMicros();
    setup_.sources = &g_sources;
  }

  /// Makes the first sandbox while igloo is still planning it.
  void MakeAhead() {
    Failure ignored{};  // the run itself will meet it again and say so
    ops::Request request{};
    request.host_id_base = ops::kDefaultHostIdBase;
    request.inner_uid = request.inner_gid = ops::kDefaultInnerId;
    has_ahead_ = MakeCold(request, {.raw_sockets = false, .cgroup_fd = -1}, ahead_, ignored);
    AwaitSoon(socket_);
  }

  [[noreturn]] void Serve() {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    const int signals = signalfd(-1, &mask, SFD_CLOEXEC);
    for (;;) {
      pollfd fds[kOwnPolls + kMaxTemplates];
      Row* heard[kMaxTemplates];
      fds[0] = {socket_, POLLIN, 0};
      fds[1] = {signals, POLLIN, 0};
      fds[2] = {mapper_.socket(), POLLIN, 0};  // a negative one is skipped
      unsigned count = 0;
      for (Row& row : rows_) {
        if (!row.used()) continue;
        fds[kOwnPolls + count] = {row.socket(), POLLIN, 0};
        heard[count++] = &row;
      }
      const int ready = poll(fds, kOwnPolls + count, SlotsMissing() ? kIdleMs : -1);
      // A launcher that cannot hear any more ends, and everything with it.
      if (ready < 0 && errno != EINTR) _exit(125);
      if (ready == 0) OrderSlots();
      if (ready <= 0) continue;
      if (fds[1].revents != 0) Reap(signals);
      if (fds[2].revents != 0) mapper_.Take();
      for (unsigned i = 0; i < count; ++i) {
        if (fds[kOwnPolls + i].revents != 0) heard[i]->Take();
      }
      if (fds[0].revents != 0) HandleRequest();
    }
  }

 private:
  void HandleRequest() {
    Job job{};
    if (!ReceiveJob(socket_, job)) Leave();
    Failure failure{};
    if (!Handle(job, failure)) SendFailure(job.reply(), failure);
    CloseAll(g_sources.fds, g_sources.count);
    g_sources.count = 0;
    CloseAll(job.fds, job.request.fd_count);
    ReleaseBody(job);
    if (first_request_ != nullptr) first_request_();
    first_request_ = nullptr;
  }

  bool Handle(const Job& job, Failure& failure) {
    switch (job.request.kind) {
      case ops::Kind::kRun:
        return Run(job, failure);
      case ops::Kind::kPrepare:
        return Prepare(job, failure);
      case ops::Kind::kRunPrepared:
        return RunPrepared(job, failure);
      case ops::Kind::kNeedIds:
        return NeedIds(failure) && Ready(job);
      case ops::Kind::kUseIds:
        return UseIds(failure) && Ready(job);
      case ops::Kind::kForget:
        if (Row* row = FindRow(job.request.template_id)) row->Forget();
        return true;
    }
    errno = EBADMSG;
    return Fail(failure, ops::Step::kDecode);
  }

  /// igloo is gone. Everything that we started ends, and nobody else has to reap it.
  [[noreturn]] void Leave() {
    for (Row& row : rows_) {
      if (row.used()) row.Forget();
    }
    if (has_ahead_) DropSlot(ahead_);
    for (const pid_t pid : cold_) {
      if (pid > 0) kill(pid, SIGKILL);
    }
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    _exit(0);
  }

  // Cold runs: one slot, all three lists.

  bool Run(const Job& job, Failure& failure) {
    Slot slot{};
    const Wants wants{.raw_sockets = GrantsRawSockets(job.fresh()), .cgroup_fd = job.birthplace()};
    if (!TakeAhead(job.request, wants, slot) && !MakeCold(job.request, wants, slot, failure)) {
      return false;
    }
    const uint32_t host_id = BlockOf(job.request.host_id_base, getpid()) + slot.number;
    const SourceOwner owner{true, setup_.proc_fd, host_id};
    const bool opened = !setup_.by_root || OpenAllSources(job, owner, g_sources, failure);
    opened ? UseSlot(slot, job, g_sources) : DropSlot(slot);
    return opened;
  }

  /// What a cold sandbox has to be born with.
  struct Wants {
    bool raw_sockets;
    int cgroup_fd;
  };

  bool MakeCold(const ops::Request& request, const Wants& wants, Slot& slot, Failure& failure) {
    uint32_t number = 0;
    errno = EAGAIN;
    if (!FreeNumber(number)) return Fail(failure, ops::Step::kTemplateFull);
    const uint32_t own = BlockOf(request.host_id_base, getpid()) + number;
    const Ids inner{request.inner_uid, request.inner_gid};
    const Ids outer = setup_.by_root ? Ids{own, own} : Ids{getuid(), getgid()};
    const SlotSpec spec{.setup = &setup_,
                        .map = {inner, outer, 1},
                        .number = number,
                        .cgroup_fd = wants.cgroup_fd,
                        .bounded_ahead = !wants.raw_sockets};
    if (!MakeSlot(spec, slot, failure)) return false;
    cold_[number] = slot.pid;
    return true;
  }

  bool TakeAhead(const ops::Request& request, const Wants& wants, Slot& slot) {
    if (!has_ahead_) return false;
    has_ahead_ = false;
    slot = ahead_;
    const bool fits = request.host_id_base == ops::kDefaultHostIdBase &&
                      request.inner_uid == ops::kDefaultInnerId &&
                      request.inner_gid == ops::kDefaultInnerId && wants.cgroup_fd < 0 &&
                      !wants.raw_sockets;
    if (!fits) DropSlot(ahead_);
    return fits;
  }

  bool FreeNumber(uint32_t& number) const {
    for (number = 1; number < kBlockSize; ++number) {
      if (cold_[number] == 0) return true;
    }
    return false;
  }

  // Prepared runs: a template per environment, slots that wait on it.

  bool Prepare(const Job& job, Failure& failure) {
    const bool subordinate = HasSubordinateIds(job.request);
    errno = EBADMSG;
    if (subordinate && (mapper_.socket() < 0 || job.request.fd_count != 2)) {
      return Fail(failure, ops::Step::kMaps);
    }
    Row* row = FindFree();
    errno = ENOSPC;
    if (row == nullptr) return Fail(failure, ops::Step::kTemplateFull);
    if (!GainMountRights()) return Fail(failure, ops::Step::kUnshare);
    // What an environment shows belongs to everybody; no owner is mapped.
    const SourceOwner nobody{false, -1, 0};
    uint32_t index = 0;
    if (!OpenSources(job.environment(), index, nobody, g_sources, failure)) return false;
    StartRow(job, *row, index + CountOperations(job.fresh()));
    return true;
  }

  void StartRow(const Job& job, Row& row, uint32_t operations) {
    int own[kOwnDescriptors + kMaxTemplates * Row::kMaxDescriptors];
    unsigned own_count = OwnDescriptors(own);
    Setup setup = setup_;
    const bool subordinate = HasSubordinateIds(job.request);
    if (subordinate) {
      setup.hand_out = mapper_.for_template();
    } else {
      own[own_count++] = mapper_.for_template();
    }
    setup.job = &job;
    int socket = -1;
    const pid_t pid = StartTemplate(job, setup, own, own_count, socket);
    if (pid < 0) return;
    const int lease = subordinate ? fcntl(job.fds[ops::kReply + 1], F_DUPFD_CLOEXEC, 3) : -1;
    row.Begin(job.request.template_id, {socket, lease}, BlockOf(job.request.host_id_base, pid),
              operations);
  }

  bool RunPrepared(const Job& job, Failure& failure) {
    Row* row = FindRow(job.request.template_id);
    errno = ENOENT;
    if (row == nullptr) return Fail(failure, ops::Step::kUnknownTemplate);
    Slot slot{};
    const bool made = job.birthplace() < 0 ? row->Next(slot, failure)
                                           : row->NextIn(job.birthplace(), slot, failure);
    if (!made) return false;
    const SourceOwner owner{setup_.by_root, setup_.proc_fd, row->block() + slot.number};
    uint32_t index = row->operations();
    const bool opened = OpenSources(job.run(), index, owner, g_sources, failure);
    opened ? UseSlot(slot, job, g_sources) : DropSlot(slot);
    return opened;
  }

  bool SlotsMissing() const {
    for (const Row& row : rows_) {
      if (row.LacksSlots()) return true;
    }
    return false;
  }

  void OrderSlots() {
    for (Row& row : rows_) {
      if (row.LacksSlots()) row.Order();
    }
  }

  /// Started by a user, only a namespace of our own lets us clone mounts for runs of a template.
  bool GainMountRights() {
    if (setup_.by_root || has_mount_rights_) return true;
    const Ids own{getuid(), getgid()};
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           WriteMaps(setup_.proc_fd, getpid(), {own, own, 1}) && TakeMounts();
  }

  bool TakeMounts() {
    // Slave, not private: what is mounted on the host later can still be a project.
    has_mount_rights_ = mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
    return has_mount_rights_;
  }

  bool NeedIds(Failure& failure) {
    const bool needed = MayHaveIds() && mapper_.NeedIds(setup_.proc_fd);
    return needed || Fail(failure, ops::Step::kUnshare);
  }

  /// Between kNeedIds and this igloo has had the ids mapped from outside (jail/hand_out.h).
  bool UseIds(Failure& failure) {
    const bool can = MayHaveIds() && mapper_.HasIds() && TakeMounts();
    return (can && mapper_.Begin()) || Fail(failure, can ? ops::Step::kHandOut : ops::Step::kMaps);
  }

  static bool Ready(const Job& job) {
    SendReply(job.reply(), ops::ReplyKind::kReady);
    return true;
  }

  bool MayHaveIds() const {
    errno = EPERM;
    return !setup_.by_root && !has_mount_rights_;
  }

  unsigned OwnDescriptors(int* fds) const {
    unsigned count = 0;
    fds[count++] = socket_;
    fds[count++] = mapper_.socket();
    if (has_ahead_) {
      fds[count++] = ahead_.socket;
      fds[count++] = ahead_.pidfd;
    }
    for (const Row& row : rows_) count += row.Descriptors(fds + count);
    return count;
  }

  void Reap(int signals) {
    signalfd_siginfo ignored;
    (void)!read(signals, &ignored, sizeof ignored);
    for (pid_t pid = waitpid(-1, nullptr, WNOHANG); pid > 0; pid = waitpid(-1, nullptr, WNOHANG)) {
      for (pid_t& each : cold_) {
        if (each == pid) each = 0;
      }
    }
  }

  Row* FindRow(uint64_t id) {
    for (Row& row : rows_) {
      if (row.used() && row.id() == id) return &row;
    }
    return nullptr;
  }

  Row* FindFree() {
    for (Row& row : rows_) {
      if (!row.used()) return &row;
    }
    return nullptr;
  }

  int socket_;
  void (*first_request_)();
  Setup setup_ = {};
  bool has_mount_rights_ = false;
  Mapper mapper_ = {};
  bool has_ahead_ = false;
  Slot ahead_ = {};
  Row rows_[kMaxTemplates] = {};
  pid_t cold_[kBlockSize] = {};  ///< by number of the host id, for those that live
};

/// Ignored signals outlive exec; the code inside starts with none, whoever started igloo.
void ResetSignals() {
  // The bare call: the C library refuses to touch the signals it keeps for itself. All zero is the
  // kernel's default action.
  constexpr unsigned long kDefault[4] = {};
  for (int number = 1; number < _NSIG; ++number) {
    syscall(SYS_rt_sigaction, number, kDefault, nullptr, 8);
  }
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigaddset(&mask, SIGPIPE);  // a reader that is gone is an error of write()
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace

void Serve(int socket, const Program& program, bool ahead) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // A key typed at the caller's terminal is for igloo, which decides what it means.
  setsid();
  umask(0);
  ResetSignals();
  if (geteuid() == 0) syscall(SYS_setgroups, 0, nullptr);
  // Hundreds of mount sources are open at once; the payload's own limit is set by igloo-init.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  static Launcher launcher(socket, program);
  if (ahead) launcher.MakeAhead();
  launcher.Serve();
}

}  // namespace igloo::jail
