#pragma once

// What boxes left in igloo's own state directory that belongs to nothing any more. Whatever a box
// that runs may use is locked by it, and is left alone.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/registry.h"
#include "agent/state/state_store.h"
#include "base/error.h"

namespace igloo::agent {

struct Leftover {
  std::string kind = {};  ///< "history", "changes", "grants", "box", "home", "terminal"
  std::string what = {};  ///< the project, or the name
  std::string why = {};   ///< why it can go, or why it stays
  std::uint64_t bytes = 0;
  bool kept = false;
};

/// Whether leftovers are removed, or only found.
enum class Collect { kRemove, kShow };

/// Conversations of projects that are gone. SECURITY: a project that is only not there now (its
/// disk is not mounted) keeps them: see MayComeBack.
Result<std::vector<Leftover>> CollectHistories(const StateStore& store, Collect collect);
/// Copies of an agent's files that were not brought back yet, as the igloo of the box was killed.
/// Showing them changes nothing; they are removed by FinishInterrupted, once their changes are
/// taken.
Result<std::vector<Leftover>> FindInterruptedBoxes(const StateStore& store);
/// Homes of boxes that changed more than could be proposed.
Result<std::vector<Leftover>> CollectKeptHomes(const StateStore& store, Collect collect);
/// Copies of projects that were never completed, or in which a killed box had changed nothing.
Result<std::vector<Leftover>> CollectChanges(Collect collect);
/// Private directories of grants.
Result<std::vector<Leftover>> CollectGrants(const std::string& directory, Collect collect);

/// Why a path that is not there may be there again: the disk that it lies on is not mounted, as far
/// as one can tell. Empty: it is gone.
std::string MayComeBack(const std::string& path);

/// What a tree takes, links not followed.
std::uint64_t SizeOf(const std::string& path);

}  // namespace igloo::agent
