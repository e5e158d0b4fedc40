#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"

namespace igloo::backend::microvm {

/// A directory of the jail around the emulator that the machine mounts.
struct Share {
  std::string tag = {};        ///< by which the machine finds it
  std::string directory = {};  ///< in the jail, and in the machine
  bool writable = false;
  bool operator==(const Share&) const = default;
};

/// A plan in two halves: what the jail around the emulator shows of the host, and what the launcher
/// in the machine does with that. Pure data.
struct Division {
  /// The same plan; its sources are places in the machine.
  sandbox::Plan inside = {};
  /// Trees of the host, in places of the jail. Those that the plan has read-only are read-only
  /// here, on the host's side, and what it hides is hidden here: the machine never gets it.
  std::vector<sandbox::Entry> outside = {};
  /// What the planner saw at their sources.
  sandbox::HostFacts facts = {};
  std::vector<Share> shares = {};
  std::uint64_t memory_bytes = 0;  ///< of the machine
  unsigned processors = 1;
};

/// Where the jail shows what sandboxes of an environment have in common, by the host's own paths.
inline constexpr const char* kHostPlace = "/host";
inline constexpr const char* kSharesPlace = "/shares";

/// What a machine cannot have is refused, not dropped.
Result<Division> Divide(const sandbox::Plan& plan);

}  // namespace igloo::backend::microvm
