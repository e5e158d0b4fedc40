#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/box.h"
#include "base/error.h"

namespace igloo::agent {

/// Who called sudo, as the system's user database has it.
struct SudoUser {
  std::string name = {};
  uid_t user = 0;
  gid_t group = 0;
  std::string home = {};
  bool operator==(const SudoUser&) const = default;
};

/// One line of getent(1): name:password:uid:gid:comment:home:shell.
Result<SudoUser> ParseUser(std::string_view line);

/// What `getent passwd NAME` prints.
using AskUsers = std::function<Result<std::string>(const std::string& name)>;
Result<std::string> AskGetent(const std::string& name);

/// The user for whom root starts something: SUDO_USER, by the user database. nullopt: root is there
/// without sudo. Fails if the database does not know the user, or has another number than SUDO_UID:
/// whose files would it be?
Result<std::optional<SudoUser>> FindSudoUser(const Lookup& lookup, const AskUsers& ask = AskGetent);

/// Acts for that user from now on: their HOME, files that this process makes are theirs, and it
/// reads no more than they may. Its saved id stays root's, for the wall that needs it (seteuid(2)).
Result<void> ActFor(const SudoUser& user);

}  // namespace igloo::agent
