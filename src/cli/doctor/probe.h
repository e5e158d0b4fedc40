#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "cli/doctor/wall_checks.h"
#include "wall/walls.h"

namespace igloo::cli {

/// Builds a sandbox with `backend` and looks at every wall from inside and at
/// its user from outside. `prefix` names the backend, `can` is what its wall can do, `ids` are what
/// its sandboxes must have, if not the caller's or root's.
std::vector<Finding> ProbeWalls(const std::string& prefix, backend::Backend& backend,
                                const wall::Capabilities& can, bool required,
                                const backend::IdRange& ids = {});

/// Tries a copy-on-write project.
Finding ProbeOverlay(const std::string& prefix, backend::Backend& backend);
/// Tries a read-only project, with a socket in it.
Finding ProbeView(const std::string& prefix, backend::Backend& backend);

}  // namespace igloo::cli
