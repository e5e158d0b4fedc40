#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "cgroup/groups.h"
#include "cli/doctor/wall_checks.h"

namespace igloo::cli {

/// What the machine itself brings along. Reads only what it is given, so that tests can invent one.
struct Machine {
  std::string root = {};         ///< in front of every path
  std::string search_path = {};  ///< where programs are looked for
  bool is_root = false;
};

/// Settings of the kernel that keep a user from making sandboxes, and programs and devices that
/// other strengths of the wall need.
std::vector<Finding> LookAtMachine(const Machine& machine);

/// Runs a sandbox in a cgroup, where there is one.
Finding ProbeGroups(backend::Backend& backend, const cgroup::Found& found);

}  // namespace igloo::cli
