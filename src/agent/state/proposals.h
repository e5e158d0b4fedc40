#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/state/guarded.h"
#include "agent/state/state_store.h"

namespace igloo::agent {

/// A change that a box made and that the host would run or trust. It does nothing until a person
/// confirms it.
struct Proposal {
  std::string id = {};       ///< made by MakeProposal
  std::string box = {};      ///< the name of the box
  std::int64_t started = 0;  ///< when the box started, in seconds since 1970
  std::string agent = {};
  std::string file = {};  ///< below the home directory, as the box sees it
  std::string host = {};  ///< the user's file
  Change change = {};
  bool operator==(const Proposal&) const = default;
};

/// The same change by the same box is the same proposal: its id says what it is.
Proposal MakeProposal(Proposal proposal);

/// Keeps a proposal; adding one twice changes nothing. The caller holds the store's lock.
Result<void> AddProposal(const StateStore& store, const Proposal& proposal);

/// In the order of boxes and files. A file that was damaged is left out.
Result<std::vector<Proposal>> ListProposals(const StateStore& store);

/// By its id or the beginning of it, if no other begins so.
Result<Proposal> FindProposal(const StateStore& store, const std::string& id);

/// Writes the change into the user's file, all at once, and forgets the proposal. Fails, and leaves
/// both as they are, if the host changed the same place since.
Result<void> ConfirmProposal(const StateStore& store, const std::string& id);

/// Forgets it.
Result<void> DropProposal(const StateStore& store, const std::string& id);

}  // namespace igloo::agent
