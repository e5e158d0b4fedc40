#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "service/changes/journal.h"

namespace igloo::service::changes {

enum class Phase : std::uint64_t {
  kStaging = 1,  ///< new files are written aside; no name has changed
  kMoving,       ///< names change places
};

struct Journal {
  Phase phase = Phase::kStaging;
  std::string staging = {};  ///< the directory in the project where things lie aside
  std::vector<Operation> operations = {};
};

/// INVARIANT: the journal is on the disk before anything that it tells of happens.
Result<void> SaveJournal(const ChangeSet& set, const Journal& journal);

/// Nothing: no apply was interrupted.
Result<std::optional<Journal>> LoadJournal(const ChangeSet& set);

Result<void> RemoveJournal(const ChangeSet& set);

}  // namespace igloo::service::changes
