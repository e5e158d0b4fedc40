#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "cgroup/groups.h"

namespace igloo::cli {

/// What decides which limits and walls of this machine are weaker than they could be.
struct HostSupport {
  cgroup::Kind cgroups = cgroup::Kind::kV2;
  std::string why_no_cgroups = {};  ///< kNone: in words, with what would help
  std::string why_no_cpus = {};     ///< likewise; empty: a limit on processors is kept
  backend::HostIds ids = {};        ///< whose ids sandboxes of a server have outside
  long landlock_abi = 0;            ///< 0: the kernel has no Landlock, or it is switched off
};
/// `found` is what cgroup::Find() says, `ids` what a server's backend does; everything else is
/// asked of the kernel.
HostSupport LookAtSupport(const cgroup::Found& found, Result<backend::HostIds> ids);

/// One thing that this machine lacks. Nothing is refused for it, so people must be told.
struct Weakness {
  std::string name = {};     ///< "limits", "user id", "landlock"
  std::string missing = {};  ///< what is not there
  std::string weaker = {};   ///< what that means
  std::string fix = {};
};

/// Everything that is weaker here; limits come first. The only place that knows these facts: the
/// doctor, the server's log and Landlock's finding all take their words from here.
std::vector<Weakness> FindWeaknesses(const HostSupport& support);

/// The same, a line each, as a server says it when it starts.
std::vector<std::string> WeaknessLines(const HostSupport& support);

}  // namespace igloo::cli
