#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/work_tree.h"

namespace igloo::agent {

using environment::WorkTree;

/// Who commits. Empty: git inside says that it does not know.
struct GitIdentity {
  std::string name = {}, email = {};
};

/// One setting of the caller's own configuration of git ("user.signingkey"): of the files that
/// `git config --global` reads, and of nothing that they include. Empty: it is not set. No git is
/// started, because a box would wait for it.
std::string ReadGitSetting(const std::string& home, std::string_view key);

/// What the caller's own git says for all repositories. Empty where it has none.
GitIdentity ReadGitIdentity(const std::string& home);

/// A value as git reads it in a configuration, between quotation marks.
std::string GitQuoted(std::string_view text);
/// What git reads where this stands behind the equals sign.
std::string GitUnquoted(std::string_view written);

/// The whole of ~/.gitconfig inside. Nothing else of the caller's configuration is there.
std::string GitConfigText(const GitIdentity& identity);

/// Who commits in a work tree: whoever the repository's own configuration says, which is read as a
/// file and nothing more, and else `otherwise`.
GitIdentity IdentityIn(const WorkTree& tree, GitIdentity otherwise);

}  // namespace igloo::agent
