#pragma once

#include <memory>

#include "backend/backend.h"

namespace igloo::backend::container {

/// The plan in a container of systemd-nspawn's. Fails when that is not installed.
Result<std::unique_ptr<Backend>> Make(Programs programs, bool timeline);

}  // namespace igloo::backend::container
