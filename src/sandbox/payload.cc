#include "sandbox/payload.h"

#include <sys/resource.h>

#include <algorithm>

#include "sandbox/path.h"

namespace igloo::sandbox {
namespace {

Result<void> CheckVariables(const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos || value.find('\0') != std::string::npos) {
      return Fail(Errc::kInvalidArgument, "'" + name + "' is not a usable variable");
    }
  }
  return {};
}

Result<void> CheckNetwork(const Policy& policy) {
  if (policy.sockets > kMaxSockets) {
    return Fail(Errc::kInvalidArgument, "a sandbox cannot hand out that many sockets",
                "publish fewer ports");
  }
  // One filter for one right: what debuggers need is no business of whoever makes packets.
  if (policy.seccomp != Seccomp::kDefault && HasRawSockets(policy.network)) {
    return Fail(Errc::kInvalidArgument, "a sandbox with raw sockets has a filter of its own",
                "leave out the raw sockets, or the other filter");
  }
  // SECURITY: a right over a device is never had without it: its network has an edge.
  if (policy.seccomp == Seccomp::kRawSockets ||
      (HasRawSockets(policy.network) && DeviceOf(policy.network) == nullptr)) {
    return Fail(Errc::kInvalidArgument, "raw sockets are a right of a device",
                "give the sandbox one that has it");
  }
  const auto* host = std::get_if<HostNetwork>(&policy.network);
  if (host == nullptr) return {};
  if (host->reason.empty()) {
    return Fail(Errc::kInvalidArgument, "the host's network is granted without a reason",
                "say why the sandbox needs it; every plan shows that");
  }
  // SECURITY: such a port would be one of the host itself, open to everyone on it.
  if (!policy.listen.empty() || policy.sockets != 0) {
    return Fail(Errc::kInvalidArgument,
                "a sandbox in the host's network cannot listen on ports of its own",
                "leave out the ports, or the host's network");
  }
  return {};
}

/// The kernel counts here what a process may write to, used or not, and interpreters reserve: Node
/// 24 takes 512 MB for the code of each of its threads before its first line runs. So this leaves
/// room for reservations, and igloo-init counts what is used.
constexpr std::uint64_t kReservations = 16ULL << 30;

std::vector<ResourceLimit> ResourceLimitsOf(const Limits& limits) {
  std::vector<ResourceLimit> out;
  const auto add = [&](const char* name, int resource, std::uint64_t value) {
    out.push_back({name, resource, value});
  };
  const auto add_if = [&](const char* name, int resource, std::uint64_t value) {
    if (value != 0) add(name, resource, value);
  };
  // 1, not 0: it also keeps a crash inside from starting the host's core handler.
  add("core", RLIMIT_CORE, 1);
  add("memlock", RLIMIT_MEMLOCK, 64U << 10);
  add("msgqueue", RLIMIT_MSGQUEUE, 64U << 10);
  // The kernel counts waiting signals for each user, who may be the one that started igloo.
  add("sigpending", RLIMIT_SIGPENDING, 256);
  add("nice", RLIMIT_NICE, 0);
  add("rtprio", RLIMIT_RTPRIO, 0);
  const std::uint64_t used = limits.memory_bytes;
  add_if("data", RLIMIT_DATA, used == 0 ? 0 : used + std::min(kReservations, ~used));
  add_if("nproc", RLIMIT_NPROC, limits.processes);
  add_if("nofile", RLIMIT_NOFILE, limits.open_files);
  add_if("fsize", RLIMIT_FSIZE, limits.file_bytes);
  add_if("stack", RLIMIT_STACK, limits.stack_bytes);
  add_if("cpu", RLIMIT_CPU, limits.cpu_seconds);
  return out;
}

}  // namespace

Result<void> CheckPolicy(const Policy& policy) {
  if (policy.argv.empty() || policy.argv[0].empty()) {
    return Fail(Errc::kInvalidArgument, "there is no program to run");
  }
  if (policy.identity.uid == 0 || policy.identity.gid == 0) {
    return Fail(Errc::kInvalidArgument, "the sandbox's user may not be root");
  }
  IGLOO_TRY(CheckTarget(policy.cwd));
  IGLOO_TRY(CheckVariables(policy.variables));
  return CheckNetwork(policy);
}

Payload MakePayload(const Policy& policy, std::vector<PathRule> paths) {
  Payload payload{.argv = policy.argv,
                  .cwd = policy.cwd,
                  .time_ms = policy.limits.time_ms,
                  .grace_ms = policy.limits.grace_ms,
                  .memory_bytes = policy.limits.memory_bytes,
                  .millicpus = policy.limits.millicpus,
                  .limits = ResourceLimitsOf(policy.limits),
                  .paths = std::move(paths),
                  .seccomp = HasRawSockets(policy.network) ? Seccomp::kRawSockets : policy.seccomp,
                  .extra_descriptors = policy.extra_descriptors,
                  .terminal = policy.terminal};
  for (const auto& [name, value] : policy.variables) {
    payload.env.push_back(name);
    payload.env.back().append("=").append(value);
  }
  return payload;
}

Result<void> CheckRoom(const Payload& payload) {
  const auto check = [](std::size_t count, std::size_t most, const char* what,
                        const char* hint) -> Result<void> {
    if (count <= most) return {};
    return Fail(Errc::kExhausted,
                "the sandbox has " + std::to_string(count) + " " + what + "; " +
                    std::to_string(most) + " are possible",
                hint);
  };
  IGLOO_TRY(check(payload.paths.size(), kMaxPathRules, "places with rights of their own",
                  "make a directory writable that holds several of them"));
  IGLOO_TRY(check(payload.argv.size(), kMaxStrings, "arguments", "pass them in a file"));
  IGLOO_TRY(check(payload.env.size(), kMaxStrings, "variables", "pass them in a file"));
  IGLOO_TRY(check(payload.extra_descriptors, kMaxExtraDescriptors, "extra descriptors",
                  "pass fewer, or a socket that hands out the others"));
  return check(payload.limits.size(), kMaxResourceLimits, "resource limits", "set fewer");
}

}  // namespace igloo::sandbox
