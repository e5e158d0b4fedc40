#pragma once

#include <string>

#include "base/error.h"
#include "config/trust.h"

namespace igloo::agent::claudebox {

/// A project's .claudebox and .claudebox.env. They name programs and directories, so they count
/// only as the user trusted them, both together.
struct ProjectFiles {
  config::Trust trust = config::Trust::kNoFile;
  std::string entry = {};  ///< under which they are trusted
  std::string digest = {};
  std::string settings_path = {}, settings = {};
  std::string variables_path = {}, variables = {};
};

/// Reads both once: what is compared with the store is what is parsed later. Links are not
/// followed, and whatever is no file is none.
Result<ProjectFiles> ReadProjectFiles(const std::string& directory, config::TrustStore& store);

}  // namespace igloo::agent::claudebox
