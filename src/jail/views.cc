#include "jail/views.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "jail/sources.h"
#include "jail/sys.h"
#include "jail/trees.h"

namespace igloo::jail {
namespace {

using ops::Op;

constexpr uint64_t kStraight = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH;
/// A directory that every host has. In this mount namespace nobody needs what it shows any more:
/// all sources are open by now.
constexpr const char* kInOldRoot = "/dev";

/// The lower half of an overlay must have a path while the overlay is made, and must be out of
/// reach for the code inside. So it is attached in the old root, which is dropped as a whole. (To
/// unmount it alone would make the kernel wait for all processors.) A template keeps it for its
/// sandboxes, whose old root is the template's.
struct Lower {
  int fd = -1;
  char path[64] = {};
};

/// Open to everybody: started by root, each sandbox has another id than its template.
bool KeepForSandboxes(Setup& setup, unsigned number, Lower& lower) {
  char name[32];
  snprintf(name, sizeof name, ".igloo/trees/%u", number);
  snprintf(lower.path, sizeof lower.path, "%s/%s", StageOf(setup), name);
  return (number > 0 || mkdirat(setup.root_fd, ".igloo/trees", 0755) == 0) &&
         mkdirat(setup.root_fd, name, 0755) == 0 &&
         MoveMount(lower.fd, setup.root_fd, name, 0) == 0;
}

bool PlaceLower(Setup& setup, Lower& lower) {
  const unsigned number = setup.next_lower++;
  if (setup.role == Role::kOnTemplate) {
    snprintf(lower.path, sizeof lower.path, "/.igloo/trees/%u", number);
    lower.fd = OpenAt2(setup.old_root, Relative(lower.path), O_PATH | O_DIRECTORY, kStraight);
    return lower.fd >= 0;
  }
  lower.fd = NextSource(setup);
  if (lower.fd < 0) return false;
  if (setup.role == Role::kTemplate) return KeepForSandboxes(setup, number, lower);
  snprintf(lower.path, sizeof lower.path, "%s", kInOldRoot);
  return MoveMount(lower.fd, AT_FDCWD, kInOldRoot, 0) == 0;
}

/// A detached read-only overlay of the next lower half, or -1. The half's descriptor is `lower`.
int NewView(Setup& setup, Lower& lower) {
  if (!PlaceLower(setup, lower)) return -1;
  // Without an upper half there must be two lower ones.
  char halves[160];
  snprintf(halves, sizeof halves, "%s:%s/.igloo/empty", lower.path, StageOf(setup));
  return NewReadOnlyOverlay(halves);
}

}  // namespace

const char* StageOf(const Setup& setup) {
  return setup.role == Role::kOnTemplate ? "/.igloo/empty" : "/tmp";
}

void ForgetOldRoot(Setup& setup) {
  CloseQuietly(setup.old_root);
  CloseQuietly(setup.base);
  CloseQuietly(setup.base_lower);
  setup.old_root = setup.base = setup.base_lower = -1;
}

bool AttachView(Setup& setup, const Op& op) {
  Lower lower;
  const int view = NewView(setup, lower);
  CloseQuietly(lower.fd);
  return view >= 0 && Attach(view, setup.root_fd, op.path());
}

bool MakeBase(Setup& setup, const Op&) {
  CloseQuietly(setup.base);
  CloseQuietly(setup.base_lower);
  Lower lower;
  setup.base = NewView(setup, lower);
  setup.base_lower = lower.fd;
  // Attached, because before Linux 6.15 only what is attached can be cloned. Not over the lower
  // half of a template, which its sandboxes need.
  const char* place = setup.role == Role::kTemplate ? kInOldRoot : lower.path;
  return setup.base >= 0 && MoveMount(setup.base, AT_FDCWD, place, 0) == 0;
}

bool AttachFromBase(Setup& setup, const Op& op) {
  // SECURITY: looked at in the lower half, because an overlay's directories have other numbers.
  const int seen = OpenAt2(setup.base_lower, op.text(), O_PATH | O_NOFOLLOW, kStraight);
  if (seen < 0) return false;
  const bool same = IsSameFile(seen, op);
  CloseQuietly(seen);
  if (!same) {
    errno = ESTALE;
    return false;
  }
  const int part = OpenAt2(setup.base, op.text(), O_PATH | O_NOFOLLOW, kStraight);
  if (part < 0) return false;
  const int tree = OpenTree(part, "", AT_EMPTY_PATH | OPEN_TREE_CLONE);
  CloseQuietly(part);
  return tree >= 0 && Attach(tree, setup.root_fd, op.path());
}

bool CopyFile(Setup& setup, const Op& op) {
  const int from = setup.role == Role::kOnTemplate ? OpenAt2(setup.old_root, Relative(op.path()),
                                                             O_RDONLY | O_NOFOLLOW, kStraight)
                                                   : NextSource(setup);
  // SECURITY: NO_XDEV: only the root under construction is ever written to, never a mounted tree.
  const int to = from < 0 ? -1
                          : OpenAt2(setup.root_fd, Relative(op.path()), O_WRONLY | O_NOFOLLOW,
                                    kStraight | RESOLVE_NO_XDEV);
  off_t at = 0;
  ssize_t count = to < 0 ? -1 : 1;
  while (count > 0) count = sendfile(to, from, &at, 1U << 20);
  CloseQuietly(to);
  CloseQuietly(from);
  return count == 0;
}

int TreeOfBind(Setup& setup, const Op& op) {
  if (setup.role != Role::kOnTemplate || setup.entered) return NextSource(setup);
  const int fd = OpenAt2(setup.old_root, Relative(op.path()), O_PATH | O_NOFOLLOW, kStraight);
  if (fd < 0) return -1;
  const int tree = OpenTree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | AT_RECURSIVE);
  CloseQuietly(fd);
  return tree;
}

}  // namespace igloo::jail
