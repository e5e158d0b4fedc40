#include "backend/jail/host_ids.h"

#include <sys/socket.h>

#include "base/file.h"
#include "base/text.h"

namespace igloo::backend::jail {
namespace {

Error Explain(const ops::Reply& reply) {
  const int error = reply.sys_errno;
  if (reply.step == ops::Step::kHandOut) {
    return {Errc::kFailedPrecondition,
            "igloo cannot be shown files of subordinate ids: " + ErrnoText(error),
            "this needs id-mapped mounts of memory: Linux 6.3 or newer", error};
  }
  if (reply.step == ops::Step::kUnshare) {
    return {Errc::kFailedPrecondition, "cannot make a user namespace: " + ErrnoText(error),
            "run 'igloo doctor' to see what this machine can do", error};
  }
  return {Errc::kFailedPrecondition, "the user namespace was not mapped: " + ErrnoText(error),
          "look whether newuidmap and newgidmap of this machine do what they say", error};
}

/// One request without a body, and its answer.
Result<void> Ask(Launcher& launcher, ops::Kind kind) {
  IGLOO_ASSIGN(FdPair reply, MakeSocketPair(SOCK_SEQPACKET));
  ops::Request request{};
  request.kind = kind;
  request.inner_uid = request.inner_gid = ops::kDefaultInnerId;
  const int fds[] = {reply.second.get()};
  IGLOO_TRY(launcher.Send(request, {}, fds));
  reply.second.Reset();
  for (;;) {
    IGLOO_ASSIGN(const auto received, ReceiveReply(reply.first.get()));
    if (!received) continue;
    if (received->end) return Fail(Errc::kFailedPrecondition, "the launcher died");
    if (received->reply.kind == ops::ReplyKind::kReady) return {};
    return std::unexpected(Explain(received->reply));
  }
}

}  // namespace

Result<void> GiveIds(Launcher& launcher, const SubordinateIds& ids) {
  IGLOO_TRY(Ask(launcher, ops::Kind::kNeedIds));
  IGLOO_TRY(MapSubordinateIds(ids, launcher.pid()));
  return Ask(launcher, ops::Kind::kUseIds);
}

}  // namespace igloo::backend::jail
