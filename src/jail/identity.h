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

/// A pair of ids, as a process or a file has.
struct Ids {
  uint32_t uid, gid;
  bool operator==(const Ids&) const = default;
};

/// `count` ids from `inner` on are `outer` and following in the parent namespace.
struct IdMap {
  Ids inner, outer;
  uint32_t count;
};

/// Writes the maps of `pid`'s new user namespace, without the right to set groups.
/// `proc_fd` is a /proc in which `pid` has that number.
bool WriteMaps(int proc_fd, pid_t pid, const IdMap& map);

/// Becomes the mapped user for good and stays able to open its own /proc files.
bool BecomeUser(const Ids& ids);

/// A user namespace that maps the owner of files to `host`; -1 on error.
int OwnerNamespace(int proc_fd, const Ids& owner, const Ids& host);
/// Makes files of the ids that `owners` maps those of its parent's ids, in this mount and nowhere
/// else; with AT_RECURSIVE in those that are mounted in it, too.
bool MapOwners(int tree, int owners, unsigned recursive = 0);

/// Forbids setting groups in this process's own new user namespace, before somebody maps its ids.
bool DenyGroups(int proc_fd);

}  // namespace igloo::jail
