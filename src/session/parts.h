#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "session/files/leftovers.h"

namespace igloo::session {

/// Something that a run shows besides its output: a picture, a table.
struct Part {
  std::string type = {};  ///< "image/png", "text/html", ...
  std::string bytes = {};
  bool operator==(const Part&) const = default;
};

// What a program displayed lies in files (environment::kDisplayDirectory). SECURITY: whatever else
// the program wrote may lie there instead: it is read as everything that a run leaves.

/// The directory of parts below the one that was handed out; none: nothing was displayed.
UniqueFd OpenDisplayed(int parent);
/// How much of that is looked at: parts that are larger together are left out.
LeftLimits DisplayLimits(std::size_t bytes);
/// In the order in which they were displayed.
std::vector<Part> PartsFrom(Leftovers displayed);

}  // namespace igloo::session
