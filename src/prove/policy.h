#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/policy.h"
#include "wall/walls.h"

namespace igloo::prove {

/// Whether the files of a project belong to the sandbox's user. igloo refuses projects where they
/// cannot.
bool OwnsProject(const wall::Capabilities& can);

/// The policy that `igloo run --env shell -- argv` makes behind a wall with these capabilities,
/// with a read-only project.
Result<sandbox::Policy> PolicyFor(const wall::Capabilities& can, const std::string& project,
                                  std::vector<std::string> argv);

}  // namespace igloo::prove
