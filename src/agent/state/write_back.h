#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/state/guarded.h"
#include "agent/state/proposals.h"
#include "agent/state/state_store.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// Where the user keeps something that the box finds at `path` (below its home; a directory ends in
/// '/', and so does `host` then).
struct Place {
  std::string path = {};
  std::string host = {};  ///< absolute
};

/// A box whose agent keeps state.
struct BoxOrder {
  std::string box = {};            ///< its name
  std::string agent = {};          ///< a name of FindAgentFiles
  std::string home = {};           ///< the user's home directory on the host
  std::vector<Place> places = {};  ///< what is not below it; the first that fits counts
  std::int64_t started = 0;        ///< seconds since 1970
};

/// The host's file for a path below a box's home.
std::string HostPathOf(const BoxOrder& order, const std::string& path);

/// A file that stayed as it is on the host. The box's version is still in the state directory.
struct FileProblem {
  std::string file = {};  ///< below the home directory
  Error error = {};
};

/// What became of a box's changes.
struct WriteBack {
  std::string box = {};
  std::vector<std::string> written = {};    ///< files below the home directory
  std::vector<Proposal> proposals = {};     ///< were kept for a person
  std::vector<std::string> host_kept = {};  ///< sign-ins of which a change was not taken
  /// Are tried again by FinishInterrupted, unless they will never be better: then the box's home is
  /// in StateStore::Kept(), where the user can look.
  std::vector<FileProblem> problems = {};
};

/// An agent's files in one box: copies that the box may change, and the way back.
///
/// The box sees copies, because agents replace these files by rename, which no mount of a single
/// file survives, and because a write of the box must not be one of the host's. Nothing is written
/// down about how far a write-back came: doing it once more does what is missing.
class BoxState {
 public:
  /// Copies the files of the user's that the box gets. A file that cannot be read is in problems()
  /// and the box goes without it.
  static Result<BoxState> Begin(const StateStore& store, const BoxOrder& order);

  /// A directory that holds the box's copies as if it were the home directory; whatever else the
  /// box puts into it stays there.
  std::string home() const { return directory_ + "/home"; }
  const std::vector<FileProblem>& problems() const { return problems_; }

  /// While the box runs: makes files that are kept equal (Handing::kKeptEqual) the same on both
  /// sides.
  Result<WriteBack> Sync();
  /// After the box has ended. Without problems the copies are removed; with them they stay.
  Result<WriteBack> Finish();

 private:
  friend Result<std::vector<WriteBack>> FinishInterrupted(const StateStore& store);
  /// nullopt: it runs, or somebody else has finished it.
  static Result<std::optional<BoxState>> Open(const StateStore& store,
                                              const std::string& directory);
  Result<void> CopyIn(const std::string& path);
  Result<void> CopyAll();
  /// The box's text that was taken; nullopt: it has no such file.
  Result<std::optional<std::string>> TakeBack(const FileRule& rule, const std::string& path,
                                              WriteBack& done);
  Result<void> KeepEqual(const FileRule& rule, const std::string& path, WriteBack& done);
  Result<void> Propose(const std::string& path, std::vector<Change> changes, WriteBack& done);
  std::string BaseOf(const std::string& path) const;
  Result<void> KeepAside(std::size_t files, const std::vector<std::string>& paths, WriteBack& done);

  StateStore store_ = {};
  BoxOrder order_ = {};
  const AgentFiles* files_ = nullptr;
  std::string directory_ = {};
  UniqueFd lock_ = {};  ///< held as long as the box runs
  std::vector<FileProblem> problems_ = {};
};

/// Finishes what boxes left that were killed, igloo included, before Finish was done. Boxes that
/// run are left alone.
Result<std::vector<WriteBack>> FinishInterrupted(const StateStore& store);

}  // namespace igloo::agent
