#include "jail/hidden.h"

#include <sys/mount.h>

#include "jail/sources.h"
#include "jail/sys.h"
#include "jail/trees.h"

namespace igloo::jail {
namespace {

using ops::Op;

/// SECURITY: what a sandbox beside this one moved meanwhile would be shown under another name. An
/// overlay's directories have numbers of their own, so its lower half is looked at.
bool IsAsSeen(const Setup& setup, const Op& op, int target) {
  if ((op.flags & ops::kFlagView) == 0) return IsSameFile(target, op);
  if (op.bytes >= op.path_size) return false;
  const ScopedFd seen(OpenBelow(setup.lower, op.path() + op.bytes, O_PATH | O_NOFOLLOW));
  return seen && IsSameFile(seen.get(), op);
}

/// SECURITY: read-only, because the file's owner, which the code is, could give itself the right to
/// read it, and that is the same file for all that is hidden.
bool CoverOpen(int root_fd, const char* cover, int target) {
  const ScopedFd tree(OpenTree(root_fd, Relative(cover), OPEN_TREE_CLONE));
  constexpr uint64_t kQuiet =
      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  return tree && SetMount(tree.get(), {kQuiet, 0, 0, 0}) &&
         MoveMount(tree.get(), target, "", MOVE_MOUNT_T_EMPTY_PATH);
}

}  // namespace

bool HideBehind(Setup& setup, const Op& op) {
  const ScopedFd target(OpenBelow(setup.root_fd, op.path(), O_PATH | O_NOFOLLOW));
  if (!target) return false;
  errno = ESTALE;
  return IsAsSeen(setup, op, target.get()) && CoverOpen(setup.root_fd, op.text(), target.get());
}

}  // namespace igloo::jail
