#pragma once

#include <string>
#include <string_view>

namespace igloo::service::changes {

/// A name that programs of the host obey: what lies there is run or believed without a question.
struct ProtectedName {
  std::string_view name;    ///< a part of a path, or several: ".git/hooks"
  std::string_view reason;  ///< what a change of it can do
};

/// Why a path is applied only if it is named, and the part of it that has to be.
struct Protection {
  std::string place = {};  ///< "sub/.vscode" of "sub/.vscode/tasks.json"
  std::string_view reason = {};
  explicit operator bool() const { return !place.empty(); }
};

/// In every directory of a project, in upper or lower case: some file systems see no difference.
/// `own_git`: the project was a git repository already, so that only its hooks and its
/// configuration are meant; another repository is protected as a whole.
Protection ProtectionOf(std::string_view path, bool own_git);

/// What git itself keeps in the repository of a project: never applied as a file.
bool IsGitsOwn(std::string_view path);

}  // namespace igloo::service::changes
