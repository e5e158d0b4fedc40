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

uint64_t Attributes(const Op& op) {
  uint64_t attributes = MOUNT_ATTR_NOSUID;
  if ((op.flags & ops::kFlagDevice) == 0) attributes |= MOUNT_ATTR_NODEV;
  if ((op.flags & ops::kFlagReadOnly) != 0) attributes |= MOUNT_ATTR_RDONLY;
  if ((op.flags & ops::kFlagNoExec) != 0) attributes |= MOUNT_ATTR_NOEXEC;
  // The lower half of an overlay is never written to.
  if (op.code == Code::kOverlay || op.code == Code::kBase) attributes |= MOUNT_ATTR_RDONLY;
  return attributes;
}

/// Opens the path in this process's own mount namespace: a descriptor that another process opened
/// cannot be cloned from another one.
int OpenPath(const Op& op) {
  // A file that is copied is read; a fifo in its place must not make us wait.
  const int flags = op.code == Code::kCopy ? O_RDONLY | O_NONBLOCK : O_PATH;
  return OpenAt2(AT_FDCWD, op.text(), flags, RESOLVE_NO_MAGICLINKS);
}

/// The namespace of the last owner: a process makes each, and most trees of a run have one owner.
struct LastOwner {
  uint32_t uid = 0, gid = 0;
  int fd = -1;
  ~LastOwner() { CloseQuietly(fd); }
};

/// Started by root, the sandbox's user is nobody the disk knows: its owner's files become its own.
bool MapOwner(int tree, const Op& op, const SourceOwner& to, LastOwner& last) {
  if (last.fd < 0 || last.uid != op.owner_uid || last.gid != op.owner_gid) {
    CloseQuietly(last.fd);
    last.uid = op.owner_uid;
    last.gid = op.owner_gid;
    last.fd = OwnerNamespace(to.proc_fd, {last.uid, last.gid}, {to.host_id, to.host_id});
  }
  return last.fd >= 0 && MapOwners(tree, last.fd, AT_RECURSIVE);
}

/// What was opened becomes a detached mount with its final attributes.
bool CloneSource(int& source, const Op& op) {
  const ScopedFd path_fd(source);
  // An overlay's lower half is one file system; everything else comes with what is mounted in it.
  const unsigned recursive = op.code == Code::kBind ? AT_RECURSIVE : 0;
  source = CloneTree(path_fd.get(), recursive);
  return source >= 0 && SetMount(source, {Attributes(op), 0, MS_PRIVATE, 0}, recursive);
}

/// Appends the source of one operation.
bool OpenSource(const Op& op, uint32_t index, const SourceOwner& owner, LastOwner& last,
                Sources& sources, Failure& failure) {
  errno = E2BIG;
  if (sources.count == kMaxSources) return Fail(failure, Step::kSource, index);
  // The caller closes it, whatever happens.
  int& source = sources.fds[sources.count++] = OpenPath(op);
  if (source < 0) return Fail(failure, Step::kSource, index);
  // SECURITY: whatever the path resolves to by now, only the file the planner saw is mounted.
  if (!IsSameFile(source, op)) return Fail(failure, Step::kSourceChanged, index);
  if (op.code != Code::kCopy && !CloneSource(source, op)) {
    return Fail(failure, Step::kSource, index);
  }
  const bool map = owner.map && (op.flags & ops::kFlagMapOwner) != 0;
  return !map || MapOwner(source, op, owner, last) || Fail(failure, Step::kSourceMap, index);
}

}  // namespace

bool IsSameFile(int fd, const Op& op) {
  struct stat info{};
  if (fstat(fd, &info) == 0 && info.st_dev == op.device && info.st_ino == op.inode &&
      (info.st_mode & S_IFMT) == op.mode) {
    return true;
  }
  errno = ESTALE;
  return false;
}

bool OpenSources(const List& list, uint32_t& index, const SourceOwner& owner, Sources& sources,
                 Failure& failure) {
  ops::Reader reader(list.bytes, list.size);
  LastOwner last;
  for (const Op* op = reader.Next(); op != nullptr; op = reader.Next(), ++index) {
    const bool has_source = op->code == Code::kBind || op->code == Code::kOverlay ||
                            op->code == Code::kBase || op->code == Code::kCopy;
    if (has_source && !OpenSource(*op, index, owner, last, sources, failure)) return false;
  }
  errno = EBADMSG;
  return reader.ok() || Fail(failure, Step::kDecode, index);
}

bool OpenAllSources(const Job& job, const SourceOwner& owner, Sources& sources, Failure& failure) {
  uint32_t index = 0;
  return OpenSources(job.environment(), index, owner, sources, failure) &&
         OpenSources(job.fresh(), index, owner, sources, failure) &&
         OpenSources(job.run(), index, owner, sources, failure);
}

}  // namespace igloo::jail
