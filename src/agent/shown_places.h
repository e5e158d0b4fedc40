#pragma once

#include <string>

#include "base/error.h"

namespace igloo::agent {

/// What a box may not show, whatever names it: `--mount`, `--home`, the configuration, or the
/// project itself.
struct ShownPlaces {
  std::string home = {};     ///< the caller's
  std::string project = {};  ///< empty: the directory in question is the project
  std::string state = {};    ///< igloo's own
};

/// Whether a box may show a directory, by its path without links. `what` begins the error:
/// "'--mount' cannot show".
/// SECURITY: igloo believes what lies in its own state, so code that writes there writes anywhere.
/// A second mount of the project, or of a part of it, would lie over what is hidden and guarded.
Result<void> CheckShown(const std::string& directory, const ShownPlaces& places,
                        const std::string& what);

}  // namespace igloo::agent
