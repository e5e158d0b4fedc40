#include "container/inside.h"

#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "container/place.h"
#include "jail/channel.h"
#include "jail/network.h"
#include "jail/operations.h"
#include "jail/sys.h"
#include "jail/trees.h"

namespace igloo::container {
namespace {

using jail::Fail;
using jail::Failure;
using ops::Step;

jail::Sources g_sources;

bool HasHostNetwork(const jail::Job& job) {
  return (job.request.flags & ops::kRequestHostNetwork) != 0;
}

/// A cgroup of version 1 or 2, by its file of processes: "0" is the writer itself. The namespace
/// anew: the engine's would show how far the group is from where that was.
bool EnterGroup(const jail::Job& job) {
  const uint32_t own = ops::kControl + job.request.init_fds;
  if (job.request.fd_count <= own) return true;
  return write(job.fds[own], "0", 1) == 1 && unshare(CLONE_NEWCGROUP) == 0;
}

/// The engine starts us as the container's root. The sandbox's user is another one, who makes the
/// sandbox as it does behind igloo-jail; what that takes goes with the plan's last steps.
bool BecomeSandboxUser(const jail::Ids& user) {
  return prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) == 0 && jail::BecomeUser(user) &&
         prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
}

bool Build(jail::Setup& setup, Failure& failure) {
  const jail::Job& job = *setup.job;
  if (!EnterGroup(job)) return Fail(failure, Step::kCgroup);
  // SECURITY: a plan that forgot its network is refused, it does not get the host's.
  errno = EBADMSG;
  if (HasHostNetwork(job) == jail::Contains(job.fresh(), ops::Code::kNetwork)) {
    return Fail(failure, Step::kDecode);
  }
  if (!BecomeSandboxUser(job.inner())) return Fail(failure, Step::kIdentity);
  jail::FillStock(setup.stock);
  // The engine's own /proc can be written to by nobody.
  setup.proc_fd = setup.stock.proc;
  if (!HasHostNetwork(job) && !jail::PrepareNetwork(setup.proc_fd)) {
    return Fail(failure, Step::kHelper);
  }
  setup.network_ready = true;
  setup.stamps[1] = setup.stamps[2] = kernel::NowMicros();
  if (!ApplyList(setup, job.environment(), failure) || !ApplyList(setup, job.fresh(), failure)) {
    return false;
  }
  if (!ApplyList(setup, job.run(), failure)) return false;
  errno = EBADMSG;
  return Fail(failure, Step::kDecode);  // no kBecomeInit
}

}  // namespace

void LiveInside(void (*init)()) {
  const uint64_t begun = kernel::NowMicros();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  umask(0);
  // What the engine has on the first three would be igloo-init's.
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) {
    if (nothing < 0 || dup2(nothing, fd) < 0) _exit(125);
  }
  if (fcntl(kSocket, F_SETFD, FD_CLOEXEC) != 0 || write(kSocket, "r", 1) != 1) _exit(125);
  jail::Job job{};
  if (!jail::ReceiveForwarded(kSocket, job, g_sources)) _exit(0);
  const int self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  Failure failure{};
  if (self < 0) {
    Fail(failure, Step::kIdentity);
  } else {
    jail::SendReply(job.reply(), ops::ReplyKind::kStarted, self);
    close(self);
    jail::Setup setup{};
    setup.job = &job;
    setup.stamps[0] = begun;
    setup.init = init;
    setup.role = jail::Role::kCold;
    setup.by_root = true;
    setup.sources = &g_sources;
    Build(setup, failure);
  }
  jail::FailAndExit(job.reply(), failure);
}

}  // namespace igloo::container
