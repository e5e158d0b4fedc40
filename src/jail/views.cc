#include "jail/views.h"

#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "jail/sources.h"
#include "jail/sys.h"
#include "jail/trees.h"

namespace igloo::jail {
namespace {

using ops::Op;

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
         mkdirat(setup.root_fd, name, 0755) == 0 && MoveMount(lower.fd, setup.root_fd, name);
}

bool PlaceLower(Setup& setup, Lower& lower) {
  const unsigned number = setup.next_lower++;
  if (setup.role == Role::kOnTemplate) {
    snprintf(lower.path, sizeof lower.path, "/.igloo/trees/%u", number);
    lower.fd = OpenBelow(setup.old_root, lower.path, O_PATH | O_DIRECTORY);
    return lower.fd >= 0;
  }
  lower.fd = NextSource(setup);
  if (lower.fd < 0) return false;
  if (setup.role == Role::kTemplate) return KeepForSandboxes(setup, number, lower);
  strcpy(lower.path, kInOldRoot);
  return MoveMount(lower.fd, AT_FDCWD, kInOldRoot);
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
  return setup.base >= 0 && MoveMount(setup.base, AT_FDCWD, place);
}

bool AttachFromBase(Setup& setup, const Op& op) {
  // SECURITY: looked at in the lower half, because an overlay's directories have other numbers.
  const ScopedFd seen(OpenBelow(setup.base_lower, op.text(), O_PATH | O_NOFOLLOW));
  if (!seen || !IsSameFile(seen.get(), op)) return false;
  const ScopedFd part(OpenBelow(setup.base, op.text(), O_PATH | O_NOFOLLOW));
  const int tree = part ? CloneTree(part.get()) : -1;
  return tree >= 0 && Attach(tree, setup.root_fd, op.path());
}

bool CopyFile(Setup& setup, const Op& op) {
  const ScopedFd from(setup.role == Role::kOnTemplate
                          ? OpenBelow(setup.old_root, op.path(), O_RDONLY | O_NOFOLLOW)
                          : NextSource(setup));
  if (!from) return false;
  // SECURITY: NO_XDEV: only the root under construction is ever written to, never a mounted tree.
  const ScopedFd to(OpenBelow(setup.root_fd, op.path(), O_WRONLY | O_NOFOLLOW, RESOLVE_NO_XDEV));
  off_t at = 0;
  ssize_t count = to ? 1 : -1;
  while (count > 0) count = sendfile(to.get(), from.get(), &at, 1U << 20);
  return count == 0;
}

int TreeOfBind(Setup& setup, const Op& op) {
  if (setup.role != Role::kOnTemplate || setup.entered) return NextSource(setup);
  const ScopedFd fd(OpenBelow(setup.old_root, op.path(), O_PATH | O_NOFOLLOW));
  return fd ? CloneTree(fd.get(), AT_RECURSIVE) : -1;
}

}  // namespace igloo::jail
