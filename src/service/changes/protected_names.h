#pragma once

#include <string>
#include <string_view>

namespace igloo::service::changes {

/// A name that programs of the host obey: what lies there is run or believed without a question.
struct ProtectedName {
  std::string_view name;    ///< a part of a path, or several: ".git/hooks"; in lower case
  std::string_view reason;  ///< what a change of it can do
};

/// Why a path is applied only if it is named, and the part of it that has to be.
struct Protection {
  std::string place = {};  ///< "sub/.vscode" of "sub/.vscode/tasks.json"
  std::string_view reason = {};
  explicit operator bool() const { return !place.empty(); }
};

/// Why a repository inside of a project is protected as a whole.
inline constexpr std::string_view kRepositoryReason =
    "a repository brings hooks and a configuration, and git runs programs that these name";

/// In every directory of a project, in upper or lower case: some file systems see no difference.
/// `own_git`: the project was a git repository already, so that only its hooks and its
/// configuration are meant; another repository is protected as a whole.
Protection ProtectionOf(std::string_view path, bool own_git);

/// Why the last part of a path is protected, alone or with those before it. Empty: it is not. For
/// who goes through a project from the top, and has asked about the parts before.
std::string_view ReasonOfLastPart(std::string_view path);

/// As ProtectionOf, for a link that leads to `target`: to a place that is protected or that is
/// git's own, or it takes the place of a directory that such a name lies in (".hg").
Protection ProtectionOfLink(std::string_view path, const std::string& target);

/// What git itself keeps in the repository of a project: never applied as a file.
bool IsGitsOwn(std::string_view path);

}  // namespace igloo::service::changes
