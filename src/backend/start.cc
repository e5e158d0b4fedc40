#include <cerrno>

#include "backend/backend.h"
#include "base/text.h"

namespace igloo::backend {
namespace {

// INVARIANT: what planning lets through, init takes.
static_assert(sandbox::kMaxResourceLimits == wire::kMaxResourceLimits);
static_assert(sandbox::kMaxPathRules == wire::kMaxPathRules);
static_assert(sandbox::kMaxStrings == wire::kMaxStrings);
static_assert(sandbox::kMaxExtraDescriptors == wire::kMaxExtraDescriptors);

wire::SeccompProfile Convert(sandbox::Seccomp seccomp) {
  switch (seccomp) {
    case sandbox::Seccomp::kDefault:
      break;
    case sandbox::Seccomp::kDebug:
      return wire::SeccompProfile::kDebug;
    case sandbox::Seccomp::kRawSockets:
      return wire::SeccompProfile::kRawSockets;
  }
  return wire::SeccompProfile::kDefault;
}

wire::PathRight Convert(sandbox::PathRight right) {
  switch (right) {
    case sandbox::PathRight::kRead:
      return wire::PathRight::kRead;
    case sandbox::PathRight::kReadWrite:
      return wire::PathRight::kReadWrite;
    case sandbox::PathRight::kDevice:
      return wire::PathRight::kDevice;
  }
  return wire::PathRight::kRead;
}

std::string_view Name(wire::InitStep step) {
  switch (step) {
    case wire::InitStep::kNone:
    case wire::InitStep::kStartMessage:
      return "reading its orders";
    case wire::InitStep::kSelfCheck:
      return "checking that it has no privileges";
    case wire::InitStep::kKeyring:
      return "making a fresh keyring";
    case wire::InitStep::kSession:
      return "making a session";
    case wire::InitStep::kDescriptors:
      return "placing descriptors";
    case wire::InitStep::kTerminal:
      return "taking its terminal";
    case wire::InitStep::kResourceLimit:
      return "setting resource limits";
    case wire::InitStep::kWorkingDirectory:
      return "entering the working directory";
    case wire::InitStep::kLandlock:
      return "applying Landlock";
    case wire::InitStep::kSeccomp:
      return "installing the system call filter";
    case wire::InitStep::kExec:
      return "starting the program";
    case wire::InitStep::kRestore:
      return "restoring an interpreter from its checkpoint";
  }
  return "starting";
}

}  // namespace

wire::Start StartMessage(const sandbox::Payload& payload, const wire::Nonce& nonce) {
  wire::Start start{.nonce = nonce,
                    .time_limit_ms = payload.time_ms,
                    .grace_ms = payload.grace_ms,
                    .memory_limit_bytes = payload.memory_bytes,
                    .seccomp = Convert(payload.seccomp),
                    .cwd = payload.cwd,
                    .extra_descriptors = payload.extra_descriptors,
                    .terminal = payload.terminal == sandbox::Terminal::kOwn ? wire::Terminal::kOwn
                                                                            : wire::Terminal::kNone,
                    .argv = payload.argv,
                    .env = payload.env};
  for (const sandbox::ResourceLimit& limit : payload.limits) {
    start.limits.push_back({static_cast<std::uint32_t>(limit.resource), limit.value});
  }
  for (const sandbox::PathRule& rule : payload.paths) {
    start.paths.push_back({Convert(rule.right), rule.path});
  }
  return start;
}

Error ExplainRefusal(const wire::Refused& refused, const sandbox::Payload& payload) {
  const int error = static_cast<int>(refused.sys_errno);
  if (refused.step == wire::InitStep::kExec) {
    const std::string program = "'" + Printable(payload.argv.front()) + "'";
    Error explained{.code = error == ENOENT ? Errc::kNoProgram : Errc::kNotExecutable,
                    .what = "cannot start " + program + " in the sandbox: " + ErrnoText(error),
                    .hint = {},
                    .sys_errno = error};
    if (error == ENOENT) {
      explained.hint = "give a path that exists inside; 'igloo run ... --dry-run' lists what does";
    } else if (error == EACCES) {
      explained.hint = "the file must be executable and its file system must allow programs";
    } else if (error == ENOEXEC) {
      explained.hint = "start it through its interpreter, or give it a '#!' line";
    }
    return explained;
  }
  if (refused.step == wire::InitStep::kWorkingDirectory) {
    return {Errc::kNotFound,
            "the working directory '" + Printable(payload.cwd) +
                "' cannot be entered: " + ErrnoText(error),
            "choose a directory that the sandbox has", error};
  }
  return {Errc::kFailedPrecondition,
          "igloo-init refused to start the program while " + std::string(Name(refused.step)) +
              ": " + ErrnoText(error),
          "run 'igloo doctor' to see which wall this machine cannot build", error};
}

}  // namespace igloo::backend
