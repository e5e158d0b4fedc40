#pragma once

#include "backend/jail/subordinate.h"
#include "backend/launcher.h"
#include "base/error.h"

namespace igloo::backend::jail {

using backend::HostIds;

/// Has a launcher that has done nothing yet, and so all sandboxes that it will make, able to have
/// `ids`. One for which this fails is of no use any more.
Result<void> GiveIds(Launcher& launcher, const SubordinateIds& ids);

}  // namespace igloo::backend::jail
