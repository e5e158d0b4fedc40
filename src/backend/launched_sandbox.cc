#include "backend/launched_sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "backend/explain.h"

namespace igloo::backend {
namespace {

/// How a sandbox comes into its cgroup.
struct Entrance {
  int fd = -1;
  bool born_into = false;
  UniqueFd own = {};  ///< what `fd` is, when it is not the caller's
};

/// A template that root started is nobody outside, and one with subordinate ids is not the user: it
/// may not let its sandboxes be born into a cgroup of the starter's. They enter it through a file
/// that the starter has opened, which takes longer.
Result<Entrance> EntranceOf(const Channels& channels, bool other_id) {
  if (!channels.born_into || !other_id) {
    return Entrance{.fd = channels.group, .born_into = channels.born_into};
  }
  Entrance entrance{.own =
                        UniqueFd(::openat(channels.group, "cgroup.procs", O_WRONLY | O_CLOEXEC))};
  if (!entrance.own) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open the entrance of the cgroup");
  }
  entrance.fd = entrance.own.get();
  return entrance;
}

}  // namespace

Result<StartRequest> MakeStartRequest(const sandbox::Plan& plan, ops::Kind kind,
                                      const Channels& channels, int reply, bool other_id) {
  IGLOO_ASSIGN(Entrance entrance, EntranceOf(channels, other_id));
  StartRequest start{.fds = {reply, channels.control.get(), channels.standard_input.get(),
                             channels.standard_output.get(), channels.standard_error.get()}};
  for (const UniqueFd& fd : channels.extra) start.fds.push_back(fd.get());
  ops::Request& request = start.request;
  request.kind = kind;
  request.inner_uid = plan.identity.uid;
  request.inner_gid = plan.identity.gid;
  request.host_id_base = plan.identity.host_id_base;
  request.init_fds = static_cast<std::uint32_t>(start.fds.size() - ops::kControl);
  if (entrance.fd >= 0) start.fds.push_back(entrance.fd);
  if (entrance.born_into) request.flags |= ops::kRequestIntoCgroup;
  if (std::holds_alternative<sandbox::HostNetwork>(plan.network)) {
    request.flags |= ops::kRequestHostNetwork;
  }
  start.entrance = std::move(entrance.own);
  return start;
}

Result<void> LaunchedSandbox::ReadSetup() {
  for (;;) {
    IGLOO_ASSIGN(auto received, ReceiveReply(reply_.get()));
    if (!received) return {};
    if (received->end) {
      reply_.Reset();
      return {};
    }
    IGLOO_TRY(Take(*std::move(received)));
  }
}

Result<void> LaunchedSandbox::Take(ReceivedReply received) {
  const ops::Reply& reply = received.reply;
  switch (reply.kind) {
    case ops::ReplyKind::kStarted:
      pidfd_ = std::move(received.fd);
      return {};
    case ops::ReplyKind::kListening:
      sockets_.listeners.push_back(std::move(received.fd));
      return {};
    case ops::ReplyKind::kSocket:
      sockets_.unconnected.push_back(std::move(received.fd));
      return {};
    case ops::ReplyKind::kEdge:
      edge_ = std::move(received.fd);
      return {};
    case ops::ReplyKind::kHandedOut:
      handed_out_.push_back(std::move(received.fd));
      return {};
    case ops::ReplyKind::kTimeline:
      timeline_ = {reply.stamps[0], reply.stamps[1], reply.stamps[2], reply.stamps[3]};
      return {};
    case ops::ReplyKind::kFailed:
      return std::unexpected(OnFailure(reply));
    case ops::ReplyKind::kReady:
      break;
  }
  return Fail(Errc::kProtocol, "the launcher sent an answer that does not belong here");
}

void LaunchedSandbox::Kill() {
  if (pidfd_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

Error LaunchedSandbox::WhyGone() {
  return {Errc::kFailedPrecondition, "the sandbox ended without a report",
          "something on this machine killed igloo-init or igloo-jail (out of memory?); see dmesg",
          0};
}

Error LaunchedSandbox::OnFailure(const ops::Reply& reply) { return Explain(reply, plan_); }

/// What igloo-init starts from here on is counted with it.
Result<void> LaunchedSandbox::EnterCpuGroup(int procs) {
  const auto fail = [](int saved_errno) {
    return FailSys(saved_errno, "cannot limit the sandbox's processors",
                   "leave 'cpus' out to do without; 'igloo doctor' says what cgroups there are");
  };
  const std::string place = "/proc/self/fdinfo/" + std::to_string(pidfd_.get());
  const std::string info = ReadFile(place, 4096).value_or("");
  constexpr std::string_view kLabel = "\nPid:\t";
  const std::size_t at = info.find(kLabel);
  if (at == std::string::npos) return fail(ESRCH);
  const std::size_t begin = at + kLabel.size();
  const std::string pid = info.substr(begin, info.find('\n', begin) - begin);
  if (::write(procs, pid.data(), pid.size()) == static_cast<ssize_t>(pid.size())) return {};
  const int saved_errno = errno;
  return fail(saved_errno);
}

}  // namespace igloo::backend
