#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "ops/ops.h"

namespace igloo::backend::jail {

using backend::IdRange;

/// The largest range that `text`, an /etc/subuid, gives to one of `owners`: names, or the number.
IdRange LargestRange(std::string_view text, std::span<const std::string> owners);

/// A program of the system's among `directories`. SECURITY: it will act as root, so it is started
/// by its path, and only from where root alone could have put it. Empty: there is none.
std::string FindTrusted(std::string_view program, std::span<const std::string> directories);

/// Ids that the administrator gave to the user who runs this, and what maps them.
struct SubordinateIds {
  IdRange users = {}, groups = {};
  std::string map_users = {}, map_groups = {};  ///< newuidmap, newgidmap

  /// How many templates can have ids at the same time, over all processes of the user.
  std::uint32_t blocks() const { return std::min(users.count, groups.count) / ops::kIdsOfTemplate; }
};

/// Fails with what is missing. Nothing is tried yet.
Result<SubordinateIds> FindSubordinateIds();

/// Has the new user namespace of `pid` map this user and all of `ids`.
Result<void> MapSubordinateIds(const SubordinateIds& ids, pid_t pid);

/// One template's ids.
struct IdBlock {
  std::uint32_t first_uid = 0, first_gid = 0;
  /// A lock that the kernel takes away when its last holder has ended: igloo, the launcher and the
  /// template hold it. So a block is nobody else's as long as a sandbox may have an id of it.
  UniqueFd lease = {};
};
/// A block that no other process has which uses the same directory. Processes begin at different
/// ones, so those with different directories rarely meet, too. kExhausted: there is none.
Result<IdBlock> LeaseBlock(const SubordinateIds& ids, const std::string& directory);

}  // namespace igloo::backend::jail
