#include "jail/slot.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "jail/channel.h"
#include "jail/helper.h"
#include "jail/operations.h"
#include "jail/privileges.h"
#include "jail/sources.h"
#include "jail/stock.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

int g_sources[kMaxSources];

/// The slot's own life, from its first instruction to igloo-init.
class SlotProcess {
 public:
  SlotProcess(const SlotSpec& spec, int socket)
      : spec_(spec), socket_(socket), setup_(*spec.setup) {
    setup_.role = spec.on_template ? Role::kOnTemplate : Role::kCold;
    setup_.entered = false;
    setup_.next_lower = 0;
    setup_.old_root = setup_.base = setup_.base_lower = -1;
    setup_.network_ready = spec.on_template;
  }

  [[noreturn]] void Live() {
    // The job's body overwrites that of the template, so what is needed of it is taken now.
    const uint32_t fresh_index = CountOperations(spec_.environment);
    run_index_ = fresh_index + CountOperations(spec_.fresh);
    // Failures before the job has come are told once it has: it brings the one to tell.
    Failure failure{};
    const bool ready = GetReady(fresh_index, failure);
    setup_.job = &job_;
    if (!ReceiveForwarded(socket_, job_, g_sources, setup_.source_count)) _exit(0);
    setup_.sources = g_sources;
    setup_.next_source = 0;
    setup_.stamps[1] = setup_.stamps[2] = NowMicros();
    if (ready && Serve(failure)) failure = {ops::Step::kDecode, 0, EBADMSG};  // no kBecomeInit
    FailAndExit(job_.reply(), failure);
  }

 private:
  bool GetReady(uint32_t fresh_index, Failure& failure) {
    const auto fail = [&](ops::Step step) {
      failure = {step, 0, errno};
      return false;
    };
    char go = 0;
    if (read(socket_, &go, 1) != 1) _exit(0);  // the parent is gone
    if (!BecomeUser(spec_.map.inner_uid, spec_.map.inner_gid)) return fail(ops::Step::kIdentity);
    // After the change of id, which clears it.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!spec_.on_template) {
      // Forty calls that need no job: made while it is on its way.
      setup_.bounded = spec_.bounded_ahead && BoundPrivileges();
      FillStock(setup_.stock);
      return true;
    }
    // The template's own descriptor of its root belongs to the template's mount namespace.
    setup_.old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ApplyList(setup_, spec_.environment, 0, failure) &&
           ApplyList(setup_, spec_.fresh, fresh_index, failure);
  }

  /// Version 1: "0" is the writer itself: 30 us, where a foreign pid costs up to 26 ms.
  bool EnterGroup(Failure& failure) {
    const bool named = job_.request.fd_count > ops::kControl + job_.request.init_fds;
    if (!named || job_.birthplace() >= 0) return true;
    // The namespace anew: the one from birth would show how far the group is from where that was.
    if (write(job_.fds[ops::kControl + job_.request.init_fds], "0", 1) == 1 &&
        unshare(CLONE_NEWCGROUP) == 0) {
      return true;
    }
    failure = {ops::Step::kCgroup, 0, errno};
    return false;
  }

  bool Serve(Failure& failure) {
    if (!EnterGroup(failure)) return false;
    if (spec_.on_template) return ApplyList(setup_, job_.run(), run_index_, failure);
    // Not before the job has come: until then the other processor is busy with planning it.
    if (!StartHelper(setup_)) {
      failure = {ops::Step::kHelper, 0, errno};
      return false;
    }
    // SECURITY: a plan that forgot its network is refused, it does not get the host's.
    const bool host_network = (job_.request.flags & ops::kRequestHostNetwork) != 0;
    if (!host_network && !Contains(job_.fresh(), ops::Code::kNetwork)) return true;
    const uint32_t fresh_index = CountOperations(job_.environment());
    run_index_ = fresh_index + CountOperations(job_.fresh());
    return (setup_.by_root || OpenOwnSources(fresh_index, failure)) &&
           ApplyList(setup_, job_.environment(), 0, failure) && Stamp() &&
           ApplyList(setup_, job_.fresh(), fresh_index, failure) &&
           ApplyList(setup_, job_.run(), run_index_, failure);
  }

  /// Started by a user: only here, in a mount namespace of our own, may mounts be cloned.
  bool OpenOwnSources(uint32_t fresh_index, Failure& failure) {
    const SourceOwner owner{.map = false, .proc_fd = -1, .host_id = 0};
    return OpenSources(job_.environment(), 0, owner, g_sources, setup_.source_count, failure) &&
           OpenSources(job_.fresh(), fresh_index, owner, g_sources, setup_.source_count, failure) &&
           OpenSources(job_.run(), run_index_, owner, g_sources, setup_.source_count, failure);
  }

  bool Stamp() {
    setup_.stamps[2] = NowMicros();
    return true;
  }

  const SlotSpec& spec_;
  int socket_;
  Setup setup_;
  uint32_t run_index_ = 0;
  Job job_ = {};
};

}  // namespace

bool MakeSlot(const SlotSpec& spec, Slot& slot, Failure& failure) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    failure = {ops::Step::kClone, 0, errno};
    return false;
  }
  clone_args args{};
  args.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
               CLONE_NEWCGROUP | CLONE_PIDFD;
  if (spec.cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(spec.cgroup_fd);
  }
  int pidfd = -1;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const pid_t pid = Clone3(args);
  if (pid == 0) {
    close(sockets[0]);
    SlotProcess(spec, sockets[1]).Live();
  }
  failure = {ops::Step::kClone, 0, errno};
  CloseQuietly(sockets[1]);
  slot = {pid, pidfd, sockets[0], spec.number};
  if (pid > 0) {
    if (WriteMaps(spec.setup->proc_fd, pid, spec.map) && write(slot.socket, "g", 1) == 1) {
      return true;
    }
    failure = {ops::Step::kMaps, 0, errno};
    PidfdSignal(pidfd, SIGKILL);
  }
  CloseQuietly(pidfd);
  CloseQuietly(slot.socket);
  return false;
}

void UseSlot(const Slot& slot, const Job& job, const int* sources, unsigned source_count) {
  // First of all: as long as nobody was told of it, it has not begun.
  ops::Reply started{};
  started.kind = static_cast<uint32_t>(ops::ReplyKind::kStarted);
  SendReply(job.reply(), started, slot.pidfd);
  if (!SendJob(slot.socket, job, sources, source_count)) {
    SendFailure(job.reply(), {ops::Step::kTemplateGone, 0, errno});
  }
  CloseQuietly(slot.socket);
  CloseQuietly(slot.pidfd);
}

bool Lives(const Slot& slot) {
  pollfd state{slot.pidfd, POLLIN, 0};
  return poll(&state, 1, 0) == 0;
}

void DropSlot(const Slot& slot) {
  PidfdSignal(slot.pidfd, SIGKILL);
  CloseQuietly(slot.socket);
  CloseQuietly(slot.pidfd);
}

}  // namespace igloo::jail
