#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace igloo::backend::bubblewrap {

/// The plan behind Debian's bwrap, for people who trust it. Fails when bwrap is not installed.
Result<std::unique_ptr<Backend>> Make(std::string init_path);

}  // namespace igloo::backend::bubblewrap
