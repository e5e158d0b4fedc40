#include "session/verdict.h"

#include <signal.h>
#include <sys/resource.h>

namespace igloo::session {

namespace {

/// The kernel's limit on processor time ends a program with a signal like any other.
bool UsedUpItsTime(const wire::Ended& ended, const sandbox::Payload& payload) {
  if (ended.kind != wire::EndKind::kSignalled) return false;
  for (const sandbox::ResourceLimit& limit : payload.limits) {
    const bool by_kernel = ended.status == SIGKILL || ended.status == SIGXCPU;
    if (limit.resource != RLIMIT_CPU || !by_kernel) continue;
    // The kernel looks at its clock ticks, and the report counts more finely: on a busy machine the
    // two are far apart.
    return ended.cpu_micros >= limit.value * 750'000;
  }
  return false;
}

}  // namespace

Verdict VerdictOf(const wire::Ended& ended, const Outside& outside,
                  const sandbox::Payload& payload) {
  if (outside.too_much_output) return Verdict::kOutput;
  if (outside.out_of_memory) return Verdict::kMemory;
  switch (ended.cause) {
    case wire::EndCause::kTimeLimit:
      return Verdict::kTimeout;
    case wire::EndCause::kInterrupted:
      return Verdict::kInterrupted;
    case wire::EndCause::kKilled:
      return Verdict::kKilled;
    case wire::EndCause::kMemory:
      return Verdict::kMemory;
    case wire::EndCause::kItself:
      break;
  }
  const bool signalled = ended.kind == wire::EndKind::kSignalled;
  if (!signalled && ended.status == 0) return Verdict::kOk;
  if (outside.group.memory) return Verdict::kMemory;
  if (UsedUpItsTime(ended, payload)) return Verdict::kTimeout;
  if (signalled && ended.status == SIGXFSZ) return Verdict::kDisk;
  if ((ended.hits & wire::kHitDisk) != 0) return Verdict::kDisk;
  if (outside.group.processes || (ended.hits & wire::kHitProcesses) != 0) {
    return Verdict::kProcesses;
  }
  return signalled ? Verdict::kSignal : Verdict::kExit;
}

int ExitCodeOf(const wire::Ended& ended, Verdict verdict) {
  if (verdict == Verdict::kTimeout) return 124;
  if (ended.kind == wire::EndKind::kSignalled) return 128 + static_cast<int>(ended.status);
  return static_cast<int>(ended.status);
}

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kExit:
      return "exit";
    case Verdict::kSignal:
      return "signal";
    case Verdict::kTimeout:
      return "timeout";
    case Verdict::kMemory:
      return "memory";
    case Verdict::kProcesses:
      return "processes";
    case Verdict::kDisk:
      return "disk";
    case Verdict::kOutput:
      return "output";
    case Verdict::kInterrupted:
      return "interrupted";
    case Verdict::kKilled:
      return "killed";
  }
  return "?";
}

}  // namespace igloo::session
