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

int g_sources[kMaxSources];

/// The running launcher: requests in, sandboxes out.
class Launcher {
 public:
  Launcher(int socket, const Program& program)
      : socket_(socket), first_request_(program.first_request) {
    setup_.init = program.init;
    setup_.by_root = geteuid() == 0;
    setup_.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    setup_.stamps[0] = NowMicros();
    setup_.helper_socket = setup_.hand_out = setup_.kept = -1;
    setup_.old_root = setup_.base = setup_.base_lower = -1;
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
      case ops::Kind::kNeedIds:
        Answer(job, MayHaveIds() && mapper_.NeedIds(setup_.proc_fd), ops::Step::kUnshare);
        break;
      case ops::Kind::kUseIds:
        UseIds(job);
        break;
      case ops::Kind::kForget:
        if (Row* row = FindRow(job.request.template_id)) row->Forget();
        break;
      default:
        SendFailure(job.reply(), {ops::Step::kDecode, 0, EBADMSG});
    }
    CloseJob(job);
    ReleaseBody(job);
    if (first_request_ != nullptr) first_request_();
    first_request_ = nullptr;
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

  void Run(const Job& job) {
    Slot slot{};
    Failure failure{};
    const Wants wants{.raw_sockets = GrantsRawSockets(job.fresh()), .cgroup_fd = job.birthplace()};
    if (!TakeAhead(job.request, wants, slot)) {
      if (!MakeCold(job.request, wants, slot, failure)) {
        return SendFailure(job.reply(), failure);
      }
    }
    unsigned count = 0;
    if (setup_.by_root && !OpenAll(job, HostId(job.request, slot), count, failure)) {
      SendFailure(job.reply(), failure);
      DropSlot(slot);
    } else {
      UseSlot(slot, job, g_sources, count);
    }
    CloseAll(g_sources, count);
  }

  bool OpenAll(const Job& job, uint32_t host_id, unsigned& count, Failure& failure) {
    const SourceOwner owner{true, setup_.proc_fd, host_id};
    const uint32_t fresh_index = CountOperations(job.environment());
    const uint32_t run_index = fresh_index + CountOperations(job.fresh());
    return OpenSources(job.environment(), 0, owner, g_sources, count, failure) &&
           OpenSources(job.fresh(), fresh_index, owner, g_sources, count, failure) &&
           OpenSources(job.run(), run_index, owner, g_sources, count, failure);
  }

  /// What a cold sandbox has to be born with.
  struct Wants {
    bool raw_sockets;
    int cgroup_fd;
  };

  bool MakeCold(const ops::Request& request, const Wants& wants, Slot& slot, Failure& failure) {
    uint32_t number = 0;
    if (!FreeNumber(number)) {
      failure = {ops::Step::kTemplateFull, 0, EAGAIN};
      return false;
    }
    const uint32_t uid =
        setup_.by_root ? BlockOf(request.host_id_base, getpid()) + number : getuid();
    const uint32_t gid = setup_.by_root ? uid : getgid();
    const SlotSpec spec{.setup = &setup_,
                        .map = {request.inner_uid, request.inner_gid, uid, gid, 1},
                        .number = number,
                        .environment = {},
                        .fresh = {},
                        .on_template = false,
                        .bounded_ahead = !wants.raw_sockets,
                        .cgroup_fd = wants.cgroup_fd};
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

  uint32_t HostId(const ops::Request& request, const Slot& slot) const {
    return BlockOf(request.host_id_base, getpid()) + slot.number;
  }

  bool FreeNumber(uint32_t& number) const {
    for (number = 1; number < kBlockSize; ++number) {
      if (cold_[number] == 0) return true;
    }
    return false;
  }

  // Prepared runs: a template per environment, slots that wait on it.

  void Prepare(const Job& job) {
    Row* row = FindFree();
    const bool subordinate = HasSubordinateIds(job.request);
    if (subordinate && (mapper_.socket() < 0 || job.request.fd_count != 2)) {
      return SendFailure(job.reply(), {ops::Step::kMaps, 0, EBADMSG});
    }
    if (row == nullptr) return SendFailure(job.reply(), {ops::Step::kTemplateFull, 0, ENOSPC});
    if (!GainMountRights()) return SendFailure(job.reply(), {ops::Step::kUnshare, 0, errno});
    Failure failure{};
    unsigned count = 0;
    // What an environment shows belongs to everybody; no owner is mapped.
    const SourceOwner nobody{false, -1, 0};
    if (!OpenSources(job.environment(), 0, nobody, g_sources, count, failure)) {
      SendFailure(job.reply(), failure);
    } else {
      StartRow(job, *row, count);
    }
    CloseAll(g_sources, count);
  }

  void StartRow(const Job& job, Row& row, unsigned source_count) {
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
    setup.sources = g_sources;
    setup.source_count = source_count;
    int socket = -1;
    const pid_t pid = StartTemplate(job, setup, own, own_count, socket);
    if (pid < 0) return;
    const int lease = subordinate ? fcntl(job.fds[ops::kReply + 1], F_DUPFD_CLOEXEC, 3) : -1;
    row.Begin(job.request.template_id, {socket, lease}, BlockOf(job.request.host_id_base, pid),
              CountOperations(job.environment()) + CountOperations(job.fresh()));
  }

  void RunPrepared(const Job& job) {
    Row* row = FindRow(job.request.template_id);
    if (row == nullptr) return SendFailure(job.reply(), {ops::Step::kUnknownTemplate, 0, ENOENT});
    Slot slot{};
    Failure failure{};
    const bool made = job.birthplace() < 0 ? row->Next(slot, failure)
                                           : row->NextIn(job.birthplace(), slot, failure);
    if (!made) return SendFailure(job.reply(), failure);
    unsigned count = 0;
    const SourceOwner owner{setup_.by_root, setup_.proc_fd, row->block() + slot.number};
    if (OpenSources(job.run(), row->operations(), owner, g_sources, count, failure)) {
      UseSlot(slot, job, g_sources, count);
    } else {
      SendFailure(job.reply(), failure);
      DropSlot(slot);
    }
    CloseAll(g_sources, count);
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
    const uint32_t uid = getuid();
    const uint32_t gid = getgid();
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           WriteMaps(setup_.proc_fd, getpid(), {uid, gid, uid, gid, 1}) && TakeMounts();
  }

  bool TakeMounts() {
    // Slave, not private: what is mounted on the host later can still be a project.
    has_mount_rights_ = mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
    return has_mount_rights_;
  }

  /// Between kNeedIds and this igloo has had the ids mapped from outside (jail/hand_out.h).
  void UseIds(const Job& job) {
    const bool can = MayHaveIds() && mapper_.HasIds() && TakeMounts();
    Answer(job, can && mapper_.Begin(), can ? ops::Step::kHandOut : ops::Step::kMaps);
  }

  bool MayHaveIds() const {
    errno = EPERM;
    return !setup_.by_root && !has_mount_rights_;
  }

  static void Answer(const Job& job, bool done, ops::Step step) {
    done ? SendReady(job.reply()) : SendFailure(job.reply(), {step, 0, errno});
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
