#pragma once

// A change set is what code in a sandbox did to a copy-on-write project: the upper layer of its
// overlay, kept in the state directory, and a record of the project as it was when that began.
//
// Whoever starts a sandbox needs two calls: Begin() before it, whose `layer()` is the policy's
// OverlayTree::changes, and Close() when the sandbox has ended. Everything else is for people who
// look at the changes afterwards.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::service::changes {

/// What is known of a change set without looking into it.
struct ChangeSet {
  enum class State {
    kRunning,      ///< its sandbox has not ended
    kReady,        ///< there to be looked at
    kInterrupted,  ///< the same, but igloo was killed before its sandbox had ended
    kApplied,      ///< the project has all of it
  };
  std::string name = {};
  std::string project = {};             ///< its path
  std::string by = {};                  ///< who began it, for people: "igloo run", "claude"
  std::int64_t began = 0;               ///< seconds since 1970
  std::uint64_t device = 0, inode = 0;  ///< of the project: another one at its path is refused
  std::size_t name_size = 20;           ///< of git's objects in bytes
  std::string head = {};                ///< what .git/HEAD said; empty: no git repository
  /// Of a linked work tree or a submodule: the repository, which lies elsewhere.
  std::string repository = {};
  std::string work_tree = {};  ///< what the repository calls a linked one: "worktrees/NAME"
  State state = State::kReady;
  std::string place = {};  ///< its directory in the state directory
};

/// What somebody who starts a sandbox wants.
struct Beginning {
  std::string name = {};
  std::string project = {};  ///< a real path
  std::string by = {};
};

/// A change set whose sandbox runs. If it is destroyed without Close(), the change set counts as
/// interrupted.
class OpenChangeSet {
 public:
  OpenChangeSet(ChangeSet set, UniqueFd lock) : set_(std::move(set)), lock_(std::move(lock)) {}

  const ChangeSet& set() const { return set_; }
  /// For sandbox::OverlayTree::changes.
  std::string layer() const { return set_.place + "/layer"; }
  /// The same for a repository that lies elsewhere; empty: it does not.
  std::string repository_layer() const {
    return set_.repository.empty() ? "" : set_.place + "/repository";
  }
  /// When nothing of the sandbox runs any more.
  Result<void> Close();
  /// Instead of Close(), if the sandbox failed: where nothing was written, there is no change set
  /// then; otherwise it counts as interrupted.
  void GiveUp();

 private:
  ChangeSet set_;
  UniqueFd lock_;  ///< held while the sandbox runs
};

/// Fails if there is a change set of this name already. Records what the project is like, which
/// takes about a second for 300,000 files. SECURITY: the sandbox may start only afterwards: what
/// changed before the record was complete would count as the project's first state.
Result<OpenChangeSet> Begin(const Beginning& beginning);

/// All of them, by name. What an igloo that was killed had begun to apply is finished first.
Result<std::vector<ChangeSet>> List();

/// The one of this name. While it lives, nobody else applies or discards it.
struct Held {
  ChangeSet set = {};
  UniqueFd lock = {};
};
/// Fails while its sandbox runs.
Result<Held> Find(const std::string& name);

/// Removes it with all that it holds.
Result<void> Discard(Held held);

/// What nobody can want: a copy of a project that igloo was killed before it was complete, or one
/// that was interrupted before anything was written.
struct Unused {
  std::string name = {}, place = {};
  bool complete = false;
  UniqueFd lock = {};  ///< so long nobody uses it
};
Result<std::vector<Unused>> FindUnused();
Result<void> RemoveUnused(const Unused& unused);

/// Writes down that the project has all of it.
Result<void> MarkApplied(const ChangeSet& set);

/// What a name is: a word that is also a file's name and the end of a git branch's.
Result<void> CheckName(const std::string& name);

}  // namespace igloo::service::changes
