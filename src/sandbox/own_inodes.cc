#include "sandbox/own_inodes.h"

#include <sys/stat.h>

#include "sandbox/path.h"

namespace igloo::sandbox {
namespace {

/// Copies lie in the root, which has eight times as much.
constexpr std::uint64_t kLargestCopy = 1U << 20;

}  // namespace

Showing ShowingOf(const HostTree& tree, const PathFact& fact, const PathFact* within) {
  if (!tree.own_inodes) return Showing::kBind;
  // An overlay shows one file system. A user cannot even make one of a directory in which something
  // is mounted: the kernel would have to show what lies beneath that mount.
  const bool grouped = within != nullptr && within->type == S_IFDIR && !within->mounts_below &&
                       tree.source != tree.within && IsWithin(tree.source, tree.within);
  if (grouped && !fact.mounts_below) return Showing::kFromBase;
  if (fact.type == S_IFDIR && !fact.mounts_below) return Showing::kView;
  if (fact.type == S_IFREG && fact.size <= kLargestCopy) return Showing::kCopy;
  return Showing::kBind;
}

Step StepFor(const HostTree& tree, const PathFact& fact, Showing showing) {
  switch (showing) {
    case Showing::kView:
      return step::Overlay{.source = tree.source,
                           .target = tree.target,
                           .fact = fact,
                           .access = Access::kReadOnly,
                           // SECURITY: an environment's files belong to root or to nobody that the
                           // sandbox knows. Mapped, those that only root may read would be open.
                           .map_owner = false};
    case Showing::kFromBase:
      return step::FromBase{
          .path = tree.source.substr(tree.within.size() + 1), .target = tree.target, .fact = fact};
    case Showing::kCopy:
      return step::Copy{.source = tree.source, .target = tree.target, .fact = fact};
    case Showing::kBind:
      break;
  }
  return step::Bind{.source = tree.source,
                    .target = tree.target,
                    .access = tree.access,
                    .fact = fact,
                    .map_owner = tree.map_owner,
                    .host_inodes = tree.own_inodes};
}

}  // namespace igloo::sandbox
