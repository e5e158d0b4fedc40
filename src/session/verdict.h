#pragma once

#include <string_view>

#include "cgroup/groups.h"
#include "sandbox/plan.h"
#include "wire/host.h"

namespace igloo::session {

/// In one word, how a run ended.
enum class Verdict {
  kOk,
  kExit,
  kSignal,
  kTimeout,
  kMemory,
  kProcesses,
  kDisk,
  kOutput,
  kInterrupted,
  kKilled,
};
std::string_view Name(Verdict verdict);

/// What igloo saw of a run from outside.
struct Outside {
  cgroup::Hits group = {};
  bool too_much_output = false;
  bool out_of_memory = false;  ///< and was ended for it
};

/// Why a run was ended comes before the limit that it ran into, and that before how its program
/// ended. A program that coped with a limit and succeeded is ok.
Verdict VerdictOf(const wire::Ended& ended, const Outside& outside,
                  const sandbox::Payload& payload);

/// As a shell would say it: 128 + n for a signal, 124 for a time-out.
int ExitCodeOf(const wire::Ended& ended, Verdict verdict);

}  // namespace igloo::session
