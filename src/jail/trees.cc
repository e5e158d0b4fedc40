#include "jail/trees.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "jail/sys.h"

namespace igloo::jail {
namespace {

constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

bool SetText(int fs, const char* key, const char* value) {
  return FsConfig(fs, FSCONFIG_SET_STRING, key, value);
}

bool SetNumber(int fs, const char* key, uint64_t value, const char* format) {
  char text[32];
  snprintf(text, sizeof text, format, static_cast<unsigned long long>(value));
  return SetText(fs, key, text);
}

/// A detached mount of a configured file system, or -1.
int Mount(const ScopedFd& fs, bool configured, uint64_t attributes) {
  const bool created = configured && FsConfig(fs.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr);
  return created ? FsMount(fs.get(), static_cast<unsigned>(attributes)) : -1;
}

/// Without hidepid: igloo-init must see every process to add up memory, also one that made itself
/// untraceable. Its own memory is closed to the others all the same.
int NewProc() {
  const ScopedFd fs(FsOpen("proc"));
  return Mount(fs, bool{fs}, kQuiet | MOUNT_ATTR_NOEXEC);
}

int Take(int& fd) {
  const int taken = fd;
  fd = -1;
  return taken;
}

/// A read-only copy of the mount at `target`, over it.
bool CoverReadOnly(int target) {
  const ScopedFd tree(CloneTree(target));
  return tree && MakeReadOnly(tree.get()) &&
         MoveMount(tree.get(), target, "", MOVE_MOUNT_T_EMPTY_PATH);
}

bool AttachOpen(int tree, int root_fd, const char* path) {
  const ScopedFd target(OpenBelow(root_fd, path, O_PATH | O_NOFOLLOW));
  return target && MoveMount(tree, target.get(), "", MOVE_MOUNT_T_EMPTY_PATH);
}

/// Where the changes of a writable overlay live.
bool AttachScratch(int root_fd, const ops::Op& op) {
  const int scratch = NewTmpfs({op.bytes, op.inodes, 0700, false});
  return scratch >= 0 && Attach(scratch, root_fd, ".igloo/upper") &&
         mkdirat(root_fd, ".igloo/upper/upper", 0755) == 0 &&
         mkdirat(root_fd, ".igloo/upper/work", 0755) == 0;
}

}  // namespace

const char* Relative(const char* path) {
  while (*path == '/') ++path;
  return *path == '\0' ? "." : path;
}

int OpenBelow(int root_fd, const char* path, uint64_t flags, uint64_t resolve) {
  return OpenAt2(root_fd, Relative(path), flags,
                 resolve | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

bool Attach(int tree, int root_fd, const char* path) {
  const ScopedFd owned(tree);
  return AttachOpen(tree, root_fd, path);
}

void FillStock(Stock& stock) {
  for (unsigned i = 0; i < Stock::kMemories; ++i) stock.memory[i] = NewTmpfs(ops::kUsualMemory[i]);
  stock.proc = NewProc();
  stock.filled = true;
}

int TakeMemory(Stock& stock, const ops::Memory& wanted) {
  for (unsigned i = 0; stock.filled && i < Stock::kMemories; ++i) {
    if (stock.memory[i] >= 0 && ops::kUsualMemory[i] == wanted) return Take(stock.memory[i]);
  }
  return NewTmpfs(wanted);
}

int TakeProc(Stock& stock) {
  return stock.filled && stock.proc >= 0 ? Take(stock.proc) : NewProc();
}

int NewTmpfs(const ops::Memory& memory) {
  const ScopedFd fs(FsOpen("tmpfs"));
  const bool configured =
      fs && SetNumber(fs.get(), "size", memory.bytes, "%llu") &&
      (memory.inodes == 0 || SetNumber(fs.get(), "nr_inodes", memory.inodes, "%llu")) &&
      SetNumber(fs.get(), "mode", memory.mode, "%llo");
  return Mount(fs, configured, kQuiet | (memory.no_exec ? MOUNT_ATTR_NOEXEC : 0));
}

bool Cover(int root_fd, const char* from, const char* path) {
  // Asked first: a cloned tree that is closed unattached makes the kernel wait.
  if (faccessat(root_fd, Relative(path), F_OK, 0) != 0) return errno == ENOENT;
  const ScopedFd tree(OpenTree(root_fd, Relative(from), OPEN_TREE_CLONE));
  return tree && MoveMount(tree.get(), root_fd, Relative(path));
}

bool FreezeInPlace(int root_fd, const char* path) {
  const ScopedFd target(OpenBelow(root_fd, path, O_PATH | O_NOFOLLOW));
  if (!target) return false;
  // A mount stays where it is, and so does what is mounted in it. A directory becomes one first.
  return MakeReadOnly(target.get()) || (errno == EINVAL && CoverReadOnly(target.get()));
}

bool FreezeOver(int root_fd, const char* path) {
  const ScopedFd target(OpenBelow(root_fd, path, O_PATH | O_NOFOLLOW));
  return target && CoverReadOnly(target.get());
}

int NewReadOnlyOverlay(const char* lowers) {
  const ScopedFd fs(FsOpen("overlay"));
  return Mount(fs, fs && SetText(fs.get(), "lowerdir", lowers), kQuiet | MOUNT_ATTR_RDONLY);
}

bool AttachOverlay(int lower, int root_fd, const ops::Op& op) {
  if (!AttachOpen(lower, root_fd, ".igloo/lower")) return false;
  const bool read_only = (op.flags & ops::kFlagReadOnly) != 0;
  const bool kept = (op.flags & ops::kFlagKeepsChanges) != 0;
  int overlay = -1;
  if (read_only) {
    // Without an upper half there must be two lower ones.
    overlay = NewReadOnlyOverlay("/.igloo/lower:/.igloo/empty");
  } else {
    if (!kept && !AttachScratch(root_fd, op)) return false;
    const ScopedFd fs(FsOpen("overlay"));
    const bool configured =
        fs && SetText(fs.get(), "lowerdir", "/.igloo/lower") &&
        SetText(fs.get(), "upperdir", "/.igloo/upper/upper") &&
        SetText(fs.get(), "workdir", "/.igloo/upper/work") &&
        // Without privileges whiteouts and opaque marks live in user attributes.
        FsConfig(fs.get(), FSCONFIG_SET_FLAG, "userxattr", nullptr);
    overlay = Mount(fs, configured, kQuiet);
  }
  if (overlay < 0 || !Attach(overlay, root_fd, op.path())) return false;
  // The view keeps what it needs; the assembly places become empty again.
  return umount2("/.igloo/lower", MNT_DETACH) == 0 &&
         (read_only || umount2("/.igloo/upper", MNT_DETACH) == 0);
}

}  // namespace igloo::jail
