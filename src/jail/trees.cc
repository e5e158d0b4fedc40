#include "jail/trees.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "jail/sys.h"

namespace igloo::jail {
namespace {

constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr uint64_t kStraight = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH;

bool SetNumber(int fs, const char* key, uint64_t value, const char* format) {
  char text[32];
  snprintf(text, sizeof text, format, static_cast<unsigned long long>(value));
  return FsConfig(fs, FSCONFIG_SET_STRING, key, text) == 0;
}

/// Creates and mounts a configured file system; closes `fs`.
int Finish(int fs, bool configured, uint64_t attributes) {
  int mount = -1;
  if (configured && FsConfig(fs, FSCONFIG_CMD_CREATE, nullptr, nullptr) == 0) {
    mount = FsMount(fs, static_cast<unsigned>(attributes));
  }
  CloseQuietly(fs);
  return mount;
}

/// A read-only copy of the mount at `target`, over it.
bool CoverReadOnly(int target) {
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  const int tree = OpenTree(target, "", OPEN_TREE_CLONE | AT_EMPTY_PATH);
  const bool covered = tree >= 0 && MountSetattr(tree, "", AT_EMPTY_PATH, attr) == 0 &&
                       MoveMount(tree, target, "", MOVE_MOUNT_T_EMPTY_PATH) == 0;
  CloseQuietly(tree);
  return covered;
}

/// Where the changes of a writable overlay live.
bool AttachScratch(int root_fd, const ops::Op& op) {
  const int scratch = NewTmpfs({op.bytes, op.inodes, 0700, false});
  return scratch >= 0 && Attach(scratch, root_fd, ".igloo/upper") &&
         mkdirat(root_fd, ".igloo/upper/changes", 0755) == 0 &&
         mkdirat(root_fd, ".igloo/upper/work", 0755) == 0;
}

}  // namespace

const char* Relative(const char* path) {
  while (*path == '/') ++path;
  return *path == '\0' ? "." : path;
}

bool Attach(int tree, int root_fd, const char* path) {
  const int target = OpenAt2(root_fd, Relative(path), O_PATH | O_NOFOLLOW, kStraight);
  const bool attached = target >= 0 && MoveMount(tree, target, "", MOVE_MOUNT_T_EMPTY_PATH) == 0;
  CloseQuietly(target);
  CloseQuietly(tree);
  return attached;
}

int NewTmpfs(const ops::Memory& memory) {
  const int fs = FsOpen("tmpfs");
  if (fs < 0) return -1;
  const bool configured =
      SetNumber(fs, "size", memory.bytes, "%llu") &&
      (memory.inodes == 0 || SetNumber(fs, "nr_inodes", memory.inodes, "%llu")) &&
      SetNumber(fs, "mode", memory.mode, "%llo");
  return Finish(fs, configured, kQuiet | (memory.no_exec ? MOUNT_ATTR_NOEXEC : 0));
}

int NewProc() {
  const int fs = FsOpen("proc");
  if (fs < 0) return -1;
  // Without hidepid: igloo-init must see every process to add up memory, also one that made itself
  // untraceable. Its own memory is closed to the others all the same.
  return Finish(fs, true, kQuiet | MOUNT_ATTR_NOEXEC);
}

bool Cover(int root_fd, const char* from, const char* path) {
  // Asked first: a cloned tree that is closed unattached makes the kernel wait.
  if (faccessat(root_fd, Relative(path), F_OK, 0) != 0) return errno == ENOENT;
  const int tree = OpenTree(root_fd, Relative(from), OPEN_TREE_CLONE);
  if (tree < 0) return false;
  const bool covered = MoveMount(tree, root_fd, Relative(path), 0) == 0;
  CloseQuietly(tree);
  return covered;
}

bool FreezeInPlace(int root_fd, const char* path) {
  const int target = OpenAt2(root_fd, Relative(path), O_PATH | O_NOFOLLOW, kStraight);
  if (target < 0) return false;
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  // A mount stays where it is, and so does what is mounted in it. A directory becomes one first.
  bool frozen = MountSetattr(target, "", AT_EMPTY_PATH, attr) == 0;
  if (!frozen && errno == EINVAL) frozen = CoverReadOnly(target);
  CloseQuietly(target);
  return frozen;
}

bool FreezeOver(int root_fd, const char* path) {
  const int target = OpenAt2(root_fd, Relative(path), O_PATH | O_NOFOLLOW, kStraight);
  const bool frozen = target >= 0 && CoverReadOnly(target);
  CloseQuietly(target);
  return frozen;
}

int NewReadOnlyOverlay(const char* lowers) {
  const int fs = FsOpen("overlay");
  if (fs < 0) return -1;
  const bool configured = FsConfig(fs, FSCONFIG_SET_STRING, "lowerdir", lowers) == 0;
  return Finish(fs, configured, kQuiet | MOUNT_ATTR_RDONLY);
}

bool AttachOverlay(int lower, int root_fd, const ops::Op& op) {
  if (!Attach(lower, root_fd, ".igloo/lower")) return false;
  const bool read_only = (op.flags & ops::kFlagReadOnly) != 0;
  if (!read_only && !AttachScratch(root_fd, op)) return false;
  const int fs = FsOpen("overlay");
  if (fs < 0) return false;
  const auto set = [&](const char* key, const char* value) {
    return FsConfig(fs, FSCONFIG_SET_STRING, key, value) == 0;
  };
  // Without an upper half there must be two lower ones.
  const bool configured =
      read_only ? set("lowerdir", "/.igloo/lower:/.igloo/empty")
                : set("lowerdir", "/.igloo/lower") && set("upperdir", "/.igloo/upper/changes") &&
                      set("workdir", "/.igloo/upper/work") &&
                      // Without privileges whiteouts and opaque marks live in user attributes.
                      FsConfig(fs, FSCONFIG_SET_FLAG, "userxattr", nullptr) == 0;
  const int overlay = Finish(fs, configured, kQuiet | (read_only ? MOUNT_ATTR_RDONLY : 0));
  if (overlay < 0 || !Attach(overlay, root_fd, op.path())) return false;
  // The view keeps what it needs; the assembly places become empty again.
  return umount2("/.igloo/lower", MNT_DETACH) == 0 &&
         (read_only || umount2("/.igloo/upper", MNT_DETACH) == 0);
}

}  // namespace igloo::jail
