#include "jail/sources.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "jail/identity.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

using ops::Code;
using ops::Op;
using ops::Step;

bool Is(const Op& op, Code code) { return op.code == static_cast<uint16_t>(code); }

uint64_t Attributes(const Op& op) {
  uint64_t attributes = MOUNT_ATTR_NOSUID;
  if ((op.flags & ops::kFlagDevice) == 0) attributes |= MOUNT_ATTR_NODEV;
  if ((op.flags & ops::kFlagReadOnly) != 0) attributes |= MOUNT_ATTR_RDONLY;
  if ((op.flags & ops::kFlagNoExec) != 0) attributes |= MOUNT_ATTR_NOEXEC;
  // The lower half of an overlay is never written to.
  if (Is(op, Code::kOverlay) || Is(op, Code::kBase)) attributes |= MOUNT_ATTR_RDONLY;
  return attributes;
}

/// Opens the path in this process's own mount namespace: a descriptor that another process opened
/// cannot be cloned from another one.
int OpenSource(const Op& op, Failure& failure) {
  failure.step = Step::kSource;
  // A file that is copied is read; a fifo in its place must not make us wait.
  const bool copied = Is(op, Code::kCopy);
  const int path_fd =
      OpenAt2(AT_FDCWD, op.text(), copied ? O_RDONLY | O_NONBLOCK : O_PATH, RESOLVE_NO_MAGICLINKS);
  if (path_fd < 0) return -1;
  // SECURITY: whatever the path resolves to by now, only the file the planner saw is mounted.
  if (!IsSameFile(path_fd, op)) {
    CloseQuietly(path_fd);
    failure.step = Step::kSourceChanged;
    errno = ESTALE;
    return -1;
  }
  if (copied) return path_fd;
  // An overlay's lower half is one file system; everything else comes with what is mounted in it.
  const unsigned recursive = Is(op, Code::kBind) ? AT_RECURSIVE : 0;
  const int tree = OpenTree(path_fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | recursive);
  CloseQuietly(path_fd);
  if (tree < 0) return -1;
  mount_attr attr{};
  attr.attr_set = Attributes(op);
  attr.propagation = MS_PRIVATE;
  if (MountSetattr(tree, "", AT_EMPTY_PATH | recursive, attr) == 0) return tree;
  CloseQuietly(tree);
  return -1;
}

/// Started by root, the sandbox's user is nobody the disk knows: its owner's files become its own.
bool MapOwner(int tree, const Op& op, const SourceOwner& to, Failure& failure) {
  failure.step = Step::kSourceMap;
  const int owner =
      OwnerNamespace(to.proc_fd, {op.owner_uid, op.owner_gid}, {to.host_id, to.host_id});
  if (owner < 0) return false;
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_IDMAP;
  attr.userns_fd = static_cast<uint64_t>(owner);
  const bool mapped = MountSetattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, attr) == 0;
  CloseQuietly(owner);
  return mapped;
}

}  // namespace

bool IsSameFile(int fd, const Op& op) {
  struct stat info{};
  return fstat(fd, &info) == 0 && info.st_dev == op.device && info.st_ino == op.inode &&
         (info.st_mode & S_IFMT) == op.mode;
}

bool OpenSources(const List& list, uint32_t first_index, const SourceOwner& owner, int* fds,
                 unsigned& count, Failure& failure) {
  ops::Reader reader(list.bytes, list.size);
  failure.index = first_index;
  for (const Op* op = reader.Next(); op != nullptr; op = reader.Next(), ++failure.index) {
    const bool has_source = Is(*op, Code::kBind) || Is(*op, Code::kOverlay) ||
                            Is(*op, Code::kBase) || Is(*op, Code::kCopy);
    if (!has_source) continue;
    if (count == kMaxSources) {
      failure.step = Step::kSource;
      failure.sys_errno = E2BIG;
      return false;
    }
    const int tree = OpenSource(*op, failure);
    if (tree >= 0) fds[count++] = tree;
    const bool map = owner.map && (op->flags & ops::kFlagMapOwner) != 0;
    if (tree < 0 || (map && !MapOwner(tree, *op, owner, failure))) {
      failure.sys_errno = errno;
      return false;
    }
  }
  if (reader.ok()) return true;
  failure.step = Step::kDecode;
  failure.sys_errno = EBADMSG;
  return false;
}

}  // namespace igloo::jail
