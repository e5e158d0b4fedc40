#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/changes/contents.h"
#include "service/changes/node.h"
#include "service/changes/protected_names.h"

namespace igloo::service::changes {

enum class Kind { kAdded, kChanged, kDeleted, kRenamed };
/// "A", "M", "D", "R", as git writes it.
std::string_view Letter(Kind kind);

/// What became of one name.
struct Change {
  Kind kind = Kind::kChanged;
  std::string path = {};
  std::string from = {};            ///< of kRenamed: where it was
  std::optional<Node> before = {};  ///< in the base
  std::optional<Node> after = {};   ///< in the upper layer
  std::string link = {};            ///< where it leads, of a link in the upper layer
  Protection protection = {};       ///< applied only if it is named
  std::string refused = {};         ///< why it is never applied; empty: it can be
};

struct ChangeList {
  std::vector<Change> changes = {};  ///< by path
  bool git = false;  ///< the repository of the project changed: there may be commits
};

/// What the upper layer of an overlay says, compared with the base. Files that were only touched
/// are no changes, nor is what git keeps in the project's own repository. SECURITY: code in the
/// sandbox made everything in that layer.
Result<ChangeList> ReadChanges(const Contents& contents);

/// A file that was deleted and one that was added become one that was renamed if they are alike:
/// the same content, or at least half of their lines.
void FindRenames(const Contents& contents, std::vector<Change>& changes);

}  // namespace igloo::service::changes
