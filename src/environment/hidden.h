#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/policy.h"

namespace igloo::environment {

/// What is hidden in a project beside the usual list (environment/secret_files.h), and what is not,
/// whoever hides it. Globs as docs/projects.md has them.
struct HideRules {
  std::vector<std::string> hide = {}, show = {};
  bool operator==(const HideRules&) const = default;
};

/// The same rules, for the repository of a project whose ".git" leads elsewhere: what they say of
/// ".git/config" is about its "config".
HideRules InRepository(const HideRules& rules);

/// How much of a project is looked at.
struct HideLimits {
  std::size_t names = 1'000'000;
  std::size_t hidden = 4096;      ///< each is a mount of its own
  std::size_t depth = 100;        ///< a directory below is hidden as a whole
  std::size_t content = 1 << 20;  ///< a larger file is hidden where its content would decide
};

/// What code does not get to read of the project `directory`, by path. Links are not followed,
/// mounts in it are entered. Fails where not everything could be looked at: nothing is shown
/// unseen.
Result<std::vector<sandbox::Hidden>> FindHidden(const std::string& directory,
                                                const HideRules& rules,
                                                const HideLimits& limits = {});

}  // namespace igloo::environment
