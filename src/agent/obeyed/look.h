#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/git_guards.h"
#include "base/error.h"

namespace igloo::agent {

/// What a file in a project is to programs of the host that obey it without a question.
enum class ObeyedAs {
  kSettings,   ///< a configuration of git
  kDirection,  ///< "commondir": where git finds another repository's configuration
  kHook,       ///< a program in a repository's directory of hooks
  kGitFile,    ///< ".git" as a file or a link, which leads to a repository
  kNamed,      ///< a name that agents, editors and shells go by (service/changes/protected_names)
};

struct Obeyed {
  ObeyedAs as = ObeyedAs::kNamed;
  bool link = false;  ///< a symbolic link; its content is where it points to
  mode_t mode = 0;    ///< permissions
  /// Of kNamed a digest. Nothing: it could not be read, or is too large; its stamp says whether it
  /// is the same then.
  std::optional<std::string> content = {};
  std::string stamp = {};
  std::string reason = {};  ///< of kNamed
  bool operator==(const Obeyed&) const = default;
};

/// By path.
using ObeyedFiles = std::map<std::string, Obeyed>;

/// Looks at every name of a project and, where it lies elsewhere, of its repository. A repository
/// is what git takes for one, under any name. Links are not followed, and nothing is started.
Result<ObeyedFiles> LookForObeyed(const std::string& project, const WorkTree& tree,
                                  const LedTo& led);

}  // namespace igloo::agent
