#pragma once

#include "backend/jail/launcher.h"
#include "backend/jail/subordinate.h"
#include "base/error.h"

namespace igloo::backend::jail {

/// Whose ids the sandboxes of a backend have outside.
struct HostIds {
  enum class Kind {
    kStarters,     ///< that of the user who started igloo
    kOwn,          ///< started by root: each has one of its own
    kSubordinate,  ///< each that can has a subordinate id of that user's, of its own
  };
  Kind kind = Kind::kStarters;
  Error why = {};      ///< kStarters: what is missing
  IdRange users = {};  ///< kSubordinate: which ids
};

/// Has a launcher that has done nothing yet, and so all sandboxes that it will make, able to have
/// `ids`. One for which this fails is of no use any more.
Result<void> GiveIds(Launcher& launcher, const SubordinateIds& ids);

}  // namespace igloo::backend::jail
