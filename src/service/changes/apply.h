#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "service/changes/change.h"
#include "service/changes/journal.h"

namespace igloo::service::changes {

/// Which changes go into the project.
struct Choice {
  /// Files or directories, relative to the project. None: everything but what is protected.
  std::vector<std::string> paths = {};
  /// Nothing below them.
  bool exact = false;
  /// Of some text files, only these hunks (by path, in the order of HunksOf).
  std::map<std::string, std::vector<bool>> hunks = {};
};

/// A path and what is to be said about it.
struct Remark {
  std::string path = {};
  std::string why = {};
  bool operator==(const Remark&) const = default;
};

struct Outcome {
  std::vector<std::string> applied = {};  ///< including those below
  std::vector<std::string> merged = {};   ///< the host had changed them, too, elsewhere in the file
  std::vector<std::string> already = {};  ///< the host has them already
  std::vector<Remark> conflicts = {};     ///< stayed as they are on the host
  std::vector<Remark> withheld = {};      ///< protected and not named
  std::vector<Remark> refused = {};       ///< can never be applied
  bool complete() const { return conflicts.empty() && withheld.empty() && refused.empty(); }
};

/// Puts changes into the project: three versions of every file are compared. What the host has not
/// touched since the base is replaced; what it has touched is merged if no lines meet, and else is
/// a conflict and stays. Fails for a path that has no change.
Result<Outcome> Apply(const Contents& contents, const ChangeList& list, const Choice& choice,
                      const AtStep& at_step = {});

}  // namespace igloo::service::changes
