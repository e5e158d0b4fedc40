#pragma once

#include "clients/client_file.h"
#include "clients/edit.h"
#include "clients/undo.h"

namespace igloo::clients {

enum class Action { kInstall, kRemove };

struct Order {
  const Client* client = nullptr;
  Action action = Action::kInstall;
  Server server = {};
  std::string file = {};  ///< absolute
  Scope scope = Scope::kUser;
  Foreign foreign = Foreign::kKeep;
  bool dry_run = false;
};

/// A complete parser's opinion of a file's text, for formats of which the editor knows only where
/// things stand.
using Check = std::function<Result<void>(const std::string& file, std::string_view text)>;

struct Done {
  Edit edit = {};
  std::string old_text = {};
  bool made_file = false, deleted_file = false;
  std::string backup = {};  ///< its path, when one was made
};

/// Changes a client's file as ordered: all of it, or nothing with an error.
Result<Done> Apply(const Order& order, const UndoStore& store, const Check& check);

}  // namespace igloo::clients
