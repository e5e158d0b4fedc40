#include "jail/sandbox.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "jail/channel.h"
#include "jail/identity.h"
#include "jail/network.h"
#include "jail/operations.h"
#include "jail/sources.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

int g_sources[kMaxSources];
unsigned g_source_count;

/// Opens the sources of both lists; in the launcher when it is root, in the child otherwise.
bool OpenAllSources(const Setup& setup, int proc_fd, Failure& failure) {
  const Job& job = *setup.job;
  const uint32_t environment = job.request.environment_bytes;
  return OpenSources(job.environment(), environment, 0, setup.by_root, proc_fd, setup.host_id,
                     g_sources, g_source_count, failure) &&
         OpenSources(job.run(), job.request.run_bytes, CountOperations(job.environment(), environment),
                     setup.by_root, proc_fd, setup.host_id, g_sources, g_source_count, failure);
}

/// The child of the clone: everything from here on happens in the new namespaces.
[[noreturn]] void ColdChild(Setup& setup, int go_fd, bool private_network) {
  const Job& job = *setup.job;
  setup.stamps[1] = NowMicros();
  Failure failure{};
  if (private_network && !BeginNetwork(setup)) {
    FailAndExit(job.reply(), {ops::Step::kNetworkSlot, 0, errno});
  }
  if (!setup.by_root && !OpenAllSources(setup, -1, failure)) FailAndExit(job.reply(), failure);
  setup.sources = g_sources;
  setup.source_count = g_source_count;

  char go = 0;
  if (read(go_fd, &go, 1) != 1) _exit(125);  // the launcher is gone
  if (!BecomeUser(job.request.inner_uid, job.request.inner_gid)) {
    FailAndExit(job.reply(), {ops::Step::kIdentity, 0, errno});
  }
  // After the change of id, which clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (!ApplyList(setup, job.environment(), job.request.environment_bytes, 0, failure)) {
    FailAndExit(job.reply(), failure);
  }
  setup.stamps[2] = NowMicros();
  FinishRun(setup, CountOperations(job.environment(), job.request.environment_bytes));
}

}  // namespace

void FinishRun(Setup& setup, uint32_t first_index) {
  const Job& job = *setup.job;
  Failure failure{};
  ApplyList(setup, job.run(), job.request.run_bytes, first_index, failure);
  // A list that does not end in kExecInit is malformed, too.
  if (failure.step == ops::Step::kNone) failure = {ops::Step::kDecode, first_index, EBADMSG};
  FailAndExit(job.reply(), failure);
}

pid_t CloneIntoNamespaces(const Job& job, uint64_t extra_flags, int& pidfd) {
  clone_args args{};
  args.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
               CLONE_NEWCGROUP | CLONE_PIDFD | extra_flags;
  if ((job.request.flags & ops::kRequestIntoCgroup) != 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(job.fds[job.request.cgroup_slot]);
  }
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  return Clone3(args);
}

void LetGo(const Job& job, int proc_fd, pid_t pid, int pidfd, int go_fd, const IdMap& map) {
  if (WriteMaps(proc_fd, pid, map) && write(go_fd, "g", 1) == 1) {
    ops::Reply started{};
    started.kind = static_cast<uint32_t>(ops::ReplyKind::kStarted);
    SendReply(job.reply(), started, pidfd);
  } else {
    SendFailure(job.reply(), {ops::Step::kMaps, 0, errno});
    PidfdSignal(pidfd, SIGKILL);
  }
  CloseQuietly(go_fd);
  CloseQuietly(pidfd);
}

pid_t StartCold(const Job& job, Setup& setup) {
  Failure failure{};
  const auto fail = [&](ops::Step step) {
    SendFailure(job.reply(), {step, 0, errno});
    CloseAll(g_sources, g_source_count);
    return -1;
  };
  setup.job = &job;
  g_source_count = 0;
  if (setup.by_root && !OpenAllSources(setup, setup.proc_fd, failure)) {
    SendFailure(job.reply(), failure);
    CloseAll(g_sources, g_source_count);
    return -1;
  }

  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) return fail(ops::Step::kClone);
  const bool private_network =
      Contains(job.run(), job.request.run_bytes, ops::Code::kNetwork);
  const bool host_network = (job.request.flags & ops::kRequestHostNetwork) != 0;
  int pidfd = -1;
  // SECURITY: a plan that forgot its network gets an empty one, never the host's.
  const uint64_t network = private_network || host_network ? 0 : CLONE_NEWNET;
  const pid_t pid = CloneIntoNamespaces(job, network, pidfd);
  if (pid == 0) {
    close(go[1]);
    ColdChild(setup, go[0], private_network);
  }
  const int clone_errno = errno;
  CloseQuietly(go[0]);
  CloseAll(g_sources, g_source_count);
  g_source_count = 0;
  if (pid < 0) {
    errno = clone_errno;
    CloseQuietly(go[1]);
    return fail(ops::Step::kClone);
  }
  const uint32_t uid = setup.by_root ? setup.host_id : getuid();
  const uint32_t gid = setup.by_root ? setup.host_id : getgid();
  const IdMap map{job.request.inner_uid, job.request.inner_gid, uid, gid, 1};
  LetGo(job, setup.proc_fd, pid, pidfd, go[1], map);
  return pid;
}

}  // namespace igloo::jail
