#include "jail/slot.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "jail/channel.h"
#include "jail/helper.h"
#include "jail/operations.h"
#include "jail/sources.h"
#include "jail/sys.h"
#include "jail/trees.h"
#include "kernel/privileges.h"

namespace igloo::jail {
namespace {

Sources g_sources;

/// The slot's own life, from its first instruction to igloo-init.
class SlotProcess {
 public:
  SlotProcess(const SlotSpec& spec, int socket)
      : spec_(spec), socket_(socket), setup_(*spec.setup) {
    setup_.role = spec.on_template ? Role::kOnTemplate : Role::kCold;
    setup_.entered = false;
    setup_.next_lower = 0;
    setup_.old_root = setup_.base = setup_.base_lower = setup_.lower = -1;
    setup_.network_ready = spec.on_template;
    setup_.sources = &g_sources;
    setup_.next_source = setup_.next_operation = 0;
  }

  [[noreturn]] void Live() {
    // Failures before the job has come are told once it has: it brings the one to tell. Its body
    // overwrites that of the template.
    Failure failure{};
    const bool ready = GetReady(failure);
    setup_.job = &job_;
    if (!ReceiveForwarded(socket_, job_, g_sources)) _exit(0);
    setup_.stamps[1] = setup_.stamps[2] = NowMicros();
    if (ready && Serve(failure)) failure = {ops::Step::kDecode, 0, EBADMSG};  // no kBecomeInit
    FailAndExit(job_.reply(), failure);
  }

 private:
  bool GetReady(Failure& failure) {
    if (!AwaitMap(socket_, spec_.map.inner)) return Fail(failure, ops::Step::kIdentity);
    if (!spec_.on_template) {
      // Forty calls that need no job: made while it is on its way.
      setup_.bounded = spec_.bounded_ahead && kernel::BoundPrivileges();
      FillStock(setup_.stock);
      return true;
    }
    // The template's own descriptor of its root belongs to the template's mount namespace.
    setup_.old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ApplyList(setup_, spec_.environment, failure) && ApplyList(setup_, spec_.fresh, failure);
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
    return Fail(failure, ops::Step::kCgroup);
  }

  bool Serve(Failure& failure) {
    if (!EnterGroup(failure)) return false;
    if (spec_.on_template) return ApplyList(setup_, job_.run(), failure);
    // Not before the job has come: until then the other processor is busy with planning it.
    if (!StartHelper(setup_)) return Fail(failure, ops::Step::kHelper);
    // SECURITY: a plan that forgot its network is refused, it does not get the host's.
    const bool host_network = (job_.request.flags & ops::kRequestHostNetwork) != 0;
    if (!host_network && !Contains(job_.fresh(), ops::Code::kNetwork)) return true;
    // Started by a user: only here, in a mount namespace of our own, may mounts be cloned.
    const SourceOwner nobody{.map = false, .proc_fd = -1, .host_id = 0};
    if (!setup_.by_root && !OpenAllSources(job_, nobody, g_sources, failure)) return false;
    if (!ApplyList(setup_, job_.environment(), failure)) return false;
    setup_.stamps[2] = NowMicros();
    return ApplyList(setup_, job_.fresh(), failure) && ApplyList(setup_, job_.run(), failure);
  }

  const SlotSpec& spec_;
  int socket_;
  Setup setup_;
  Job job_ = {};
};

}  // namespace

bool MakeChild(uint64_t namespaces, int cgroup_fd, Child& child, Failure& failure) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Fail(failure, ops::Step::kClone);
  }
  child = {-1, -1, sockets[0]};
  clone_args args{};
  args.flags = namespaces | (cgroup_fd >= 0 ? CLONE_INTO_CGROUP : 0);
  args.cgroup = static_cast<uint64_t>(cgroup_fd >= 0 ? cgroup_fd : 0);
  args.pidfd = reinterpret_cast<uint64_t>(&child.pidfd);
  args.exit_signal = SIGCHLD;
  child.pid = Clone3(args);
  if (child.pid == 0) {
    close(sockets[0]);
    child.socket = sockets[1];
    return true;
  }
  CloseQuietly(sockets[1]);
  if (child.pid > 0) return true;
  CloseQuietly(sockets[0]);
  return Fail(failure, ops::Step::kClone);
}

bool MapChild(const Child& child, int proc_fd, const IdMap& map, Failure& failure) {
  if (WriteMaps(proc_fd, child.pid, map) && write(child.socket, "g", 1) == 1) return true;
  Fail(failure, ops::Step::kMaps);
  kill(child.pid, SIGKILL);
  CloseQuietly(child.pidfd);
  CloseQuietly(child.socket);
  return false;
}

bool AwaitMap(int socket, const Ids& ids) {
  char go = 0;
  if (read(socket, &go, 1) != 1) _exit(0);  // the parent is gone
  if (!BecomeUser(ids)) return false;
  // After the change of id, which clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return true;
}

bool MakeSlot(const SlotSpec& spec, Slot& slot, Failure& failure) {
  constexpr uint64_t kAll = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                            CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_PIDFD;
  slot.number = spec.number;
  if (!MakeChild(kAll, spec.cgroup_fd, slot, failure)) return false;
  if (slot.pid == 0) SlotProcess(spec, slot.socket).Live();
  return MapChild(slot, spec.setup->proc_fd, spec.map, failure);
}

void UseSlot(const Slot& slot, const Job& job, const Sources& sources) {
  // First of all: as long as nobody was told of it, it has not begun.
  SendReply(job.reply(), ops::ReplyKind::kStarted, slot.pidfd);
  if (!SendJob(slot.socket, job, sources)) {
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
