#pragma once

#include <sys/types.h>

#include "ops/ops.h"

namespace igloo::jail {

/// Host ids that one launcher or template hands out. Each owns the block that its own pid selects,
/// so no two share one and nothing is written down anywhere.
inline constexpr uint32_t kBlockSize = ops::kIdsOfTemplate;
inline constexpr uint32_t kPidLimit = 1U << 22;

constexpr uint32_t BlockOf(uint32_t base, pid_t launcher) {
  return base + (static_cast<uint32_t>(launcher) % kPidLimit) * kBlockSize;
}

/// `count` ids from `inner` on are `outer` and following in the parent namespace.
struct IdMap {
  uint32_t inner_uid, inner_gid;
  uint32_t outer_uid, outer_gid;
  uint32_t count;
};

/// Writes the maps of `pid`'s new user namespace, without the right to set groups.
/// `proc_fd` is a /proc in which `pid` has that number.
bool WriteMaps(int proc_fd, pid_t pid, const IdMap& map);

/// Becomes the mapped user for good and stays able to open its own /proc files.
bool BecomeUser(uint32_t uid, uint32_t gid);

/// A pair of ids, as a process or a file has.
struct Ids {
  uint32_t uid, gid;
  bool operator==(const Ids&) const = default;
};

/// A user namespace that maps the owner of files to `host`, for an id-mapped mount; -1 on error.
int OwnerNamespace(int proc_fd, const Ids& owner, const Ids& host);

/// Forbids setting groups in this process's own new user namespace, before somebody maps its ids.
bool DenyGroups(int proc_fd);

}  // namespace igloo::jail
