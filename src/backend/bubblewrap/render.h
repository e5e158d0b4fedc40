#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/plan.h"

namespace igloo::backend::bubblewrap {

/// A bwrap command line and the contents that its descriptors must deliver.
struct Command {
  std::vector<std::string> argv = {};  ///< without the program itself
  /// Content of descriptor kFirstFile + i: a small text, or the file at a host path.
  struct File {
    std::string content = {};
    std::string host_path = {};
    bool operator==(const File&) const = default;
  };
  std::vector<File> files = {};
  bool operator==(const Command&) const = default;
};

/// igloo-init's descriptors come first (3 to 6, then extra ones); files start here.
inline constexpr int kFirstFile = 16;

/// The same plan as a bwrap 0.8 command. What bwrap cannot do is refused, not dropped.
/// `absent` are entries of /proc that this kernel does not have, so they need no mask.
Result<Command> Render(const sandbox::Plan& plan, const std::string& init_path,
                       const std::set<std::string>& absent = {});

/// For people: the command as a shell would take it, descriptors filled by here-documents' cousins.
std::string ToShell(const Command& command);

}  // namespace igloo::backend::bubblewrap
