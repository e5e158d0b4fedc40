#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/state/guarded.h"
#include "agent/state/state_store.h"

namespace igloo::agent {

/// One file of the user's and what a box made of it.
struct BoxFile {
  const FileRule* rule = nullptr;
  std::string path = {};                 ///< below the box's home
  std::string host = {};                 ///< of the user's file
  std::optional<std::string> base = {};  ///< what the box was given; nullopt: there was none
  std::string box = {};                  ///< what it is in the box
};

/// Three sides of a text, merged. `text` is nullopt if the host has no such file and gets none.
struct MergedText {
  std::optional<std::string> text = {};
  std::vector<Change> conflicts = {};  ///< in which the host's side stayed
};

/// Pure. A text that cannot be merged is a conflict of the whole file.
MergedText MergeText(const FileRule& rule, const std::optional<std::string>& base,
                     const std::optional<std::string>& host, const std::string& box);

/// What came of a file.
struct FileOutcome {
  bool written = false;
  std::optional<std::string> text = {};  ///< what the host's file says now
  std::vector<Change> proposals = {};    ///< to be confirmed, conflicts among them
  bool host_kept = false;                ///< a secret's change could not be taken
};

/// Takes the harmless changes of a box into the host's file. Doing it twice changes nothing: that
/// is how an interrupted write-back is finished. The caller holds the store's lock.
Result<FileOutcome> MergeIntoHost(const StateStore& store, const BoxFile& file);

}  // namespace igloo::agent
