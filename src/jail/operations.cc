#include "jail/operations.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "jail/channel.h"
#include "jail/edge.h"
#include "jail/hand_out.h"
#include "jail/helper.h"
#include "jail/hidden.h"
#include "jail/network.h"
#include "jail/sys.h"
#include "jail/trees.h"
#include "jail/views.h"
#include "kernel/privileges.h"

namespace igloo::jail {
namespace {

using ops::Code;
using ops::Op;

bool Root(Setup& setup, const Op& op) {
  // SECURITY: nothing mounted from here on may travel back to the host.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  setup.root_fd = TakeMemory(setup.stock, {op.bytes, op.inodes, 0755, false});
  return setup.root_fd >= 0 && MoveMount(setup.root_fd, AT_FDCWD, StageOf(setup));
}

void ForgetParent(Setup& setup) {
  if (setup.parent.path != nullptr) CloseQuietly(setup.parent.fd);
  setup.parent = {};
}

/// What was opened at or below the place of an operation may no longer be what is seen there.
void ForgetParentBelow(Setup& setup, const Op& op) {
  const Parent& parent = setup.parent;
  const char* path = Relative(op.path());
  const size_t size = strlen(path);
  const bool below = parent.path != nullptr && parent.size >= size &&
                     memcmp(parent.path, path, size) == 0 &&
                     (parent.size == size || parent.path[size] == '/');
  if (below) ForgetParent(setup);
}

/// The directory that a name is made in, and the name.
struct Place {
  int directory;  ///< borrowed, or -1 with errno
  const char* name;
};

/// SECURITY: a link on the way could lead a name out of the root, to the host's files while its
/// tree is still there. The planner makes no such plan; OpenBelow does not rely on it.
Place PlaceOf(Setup& setup, const char* path) {
  path = Relative(path);
  const char* slash = strrchr(path, '/');
  if (slash == nullptr) return {setup.root_fd, path};
  const size_t size = static_cast<size_t>(slash - path);
  Parent& parent = setup.parent;
  if (parent.path == nullptr || parent.size != size || memcmp(parent.path, path, size) != 0) {
    ForgetParent(setup);
    char text[4096];
    if (size >= sizeof text) {
      errno = ENAMETOOLONG;
      return {-1, nullptr};
    }
    memcpy(text, path, size);
    text[size] = '\0';
    const int fd = OpenBelow(setup.root_fd, text, O_PATH | O_DIRECTORY);
    if (fd < 0) return {-1, nullptr};
    parent = {path, size, fd};
  }
  return {parent.fd, slash + 1};
}

bool Directory(Setup& setup, const Op& op) {
  const Place place = PlaceOf(setup, op.path());
  return place.directory >= 0 && mkdirat(place.directory, place.name, op.mode) == 0;
}

bool Symlink(Setup& setup, const Op& op) {
  const Place place = PlaceOf(setup, op.path());
  return place.directory >= 0 && symlinkat(op.text(), place.directory, place.name) == 0;
}

bool File(Setup& setup, const Op& op) {
  const Place place = PlaceOf(setup, op.path());
  if (place.directory < 0) return false;
  // Mount points are empty files: one call makes one.
  if (op.text_size == 0) {
    return mknodat(place.directory, place.name, S_IFREG | op.mode, 0) == 0;
  }
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const ScopedFd fd(openat(place.directory, place.name, kNew, op.mode));
  return fd && kernel::MoveAll(op.text_size, [&](size_t done, size_t left) {
           return write(fd.get(), op.text() + done, left);
         });
}

/// Without a right for anybody to write: who opens it for reading waits until igloo puts a file in
/// its place.
bool NamedPipe(Setup& setup, const Op& op) {
  const Place place = PlaceOf(setup, op.path());
  return place.directory >= 0 && mknodat(place.directory, place.name, S_IFIFO | 0444, 0) == 0;
}

bool AttachAt(Setup& setup, const Op& op, int tree) {
  return tree >= 0 && Attach(tree, setup.root_fd, op.path());
}

bool Bind(Setup& setup, const Op& op) { return AttachAt(setup, op, TreeOfBind(setup, op)); }

bool Tmpfs(Setup& setup, const Op& op) {
  const bool no_exec = (op.flags & ops::kFlagNoExec) != 0;
  return AttachAt(setup, op, TakeMemory(setup.stock, {op.bytes, op.inodes, op.mode, no_exec}));
}

bool Overlay(Setup& setup, const Op& op) {
  if (!setup.entered) return AttachView(setup, op);
  CloseQuietly(setup.lower);
  setup.lower = NextSource(setup);
  return setup.lower >= 0 && AttachOverlay(setup.lower, setup.root_fd, op);
}

bool Proc(Setup& setup, const Op& op) { return AttachAt(setup, op, TakeProc(setup.stock)); }

bool Mask(Setup& setup, const Op& op) {
  const char* cover = op.code == Code::kMaskFile ? ".igloo/nothing" : ".igloo/empty";
  return Cover(setup.root_fd, cover, op.path());
}

bool ReadOnly(Setup& setup, const Op& op) {
  return (op.flags & ops::kFlagOver) != 0 ? FreezeOver(setup.root_fd, op.path())
                                          : FreezeInPlace(setup.root_fd, op.path());
}

bool Pivot(Setup& setup, const Op&) {
  ForgetOldRoot(setup);
  setup.entered = true;
  return fchdir(setup.root_fd) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
         DropOldRoot(setup) && chdir("/") == 0;
}

bool Seal(Setup& setup, const Op&) { return MakeReadOnly(setup.root_fd); }

bool Network(Setup& setup, const Op&) { return EnterNetwork(setup); }

bool Hostname(Setup&, const Op& op) { return sethostname(op.text(), op.text_size) == 0; }

/// Settings of the sandbox's own user namespace. The kernel counts inotify in every namespace up to
/// the host's: without bounds of its own, one sandbox takes all instances (128) of the starter's
/// id.
bool NoNamespaces(Setup& setup, const Op&) {
  const auto bound = [&](const char* path, const char* value) {
    return WriteTextAt(setup.root_fd, path, value) || errno == ENOENT;  // a kernel without inotify
  };
  return WriteTextAt(setup.root_fd, "proc/sys/user/max_user_namespaces", "0") &&
         bound("proc/sys/user/max_inotify_instances", "32") &&
         bound("proc/sys/user/max_inotify_watches", "8192");
}

bool Listen(Setup& setup, const Op& op) {
  const ScopedFd fd(ListenOn(static_cast<uint16_t>(op.mode)));
  ops::Reply reply{};
  reply.kind = ops::ReplyKind::kListening;
  reply.index = op.mode;
  if (fd) SendReply(setup.job->reply(), reply, fd.get());
  return bool{fd};
}

bool Sockets(Setup& setup, const Op& op) {
  for (uint32_t i = 0; i < op.mode; ++i) {
    const ScopedFd fd(PlainSocket());
    if (!fd) return false;
    SendReply(setup.job->reply(), ops::ReplyKind::kSocket, fd.get());
  }
  return true;
}

bool HandOut(Setup& setup, const Op& op) {
  if ((op.flags & ops::kFlagKept) != 0) {
    setup.kept = OpenBelow(setup.root_fd, op.path(), O_RDONLY | O_DIRECTORY);
    if (setup.kept < 0) return false;
  }
  return HandOutDirectory(setup, op.path());
}

bool KeepsRawSockets(const Op& op) { return (op.flags & ops::kFlagRawSockets) != 0; }

bool Bound(Setup& setup, const Op& op) {
  if (!KeepsRawSockets(op)) return setup.bounded || kernel::BoundPrivileges();
  errno = EPERM;
  return !setup.bounded && kernel::RaiseForPrograms(CAP_NET_RAW) && kernel::BoundPrivileges();
}

bool Drop(Setup&, const Op& op) {
  return kernel::DropPrivileges(KeepsRawSockets(op) ? 1UL << CAP_NET_RAW : 0);
}

/// Control and stdio become 3, 4, ... and nothing else of the launcher's survives: no descriptor,
/// no request of anybody's. A new program would cost a third of what is left of a run by now.
bool BecomeInit(Setup& setup, const Op&) {
  if (!OldRootIsGone(setup)) return false;
  const ops::Request& request = setup.job->request;
  const unsigned count = request.init_fds + (setup.kept >= 0 ? 1 : 0);
  const int above = 3 + static_cast<int>(count);
  int moved[ops::kMaxFds + 1];
  for (unsigned i = 0; i < count; ++i) {
    const int fd = i < request.init_fds ? setup.job->fds[ops::kControl + i] : setup.kept;
    moved[i] = fcntl(fd, F_DUPFD_CLOEXEC, above);
    if (moved[i] < 0) return false;
  }
  const int reply = fcntl(setup.job->reply(), F_DUPFD_CLOEXEC, above);
  if (reply < 0) return false;
  for (unsigned i = 0; i < count; ++i) {
    if (dup2(moved[i], 3 + static_cast<int>(i)) < 0) return false;
  }
  // The job's own number may have been reused by now; a failure must still arrive.
  const_cast<Job*>(setup.job)->fds[ops::kReply] = reply;
  umask(022);
  if ((request.flags & ops::kRequestTimeline) != 0) {
    ops::Reply timeline{};
    timeline.kind = ops::ReplyKind::kTimeline;
    setup.stamps[3] = NowMicros();
    memcpy(timeline.stamps, setup.stamps, sizeof timeline.stamps);
    SendReply(reply, timeline);
  }
  void (*const init)() = setup.init;
  // SECURITY: the payload shares a process tree with this memory from here on.
  ForgetBodies();
  // Last of all, and igloo sees it: end of file on the reply socket means that init runs.
  if (syscall(SYS_close_range, 3 + count, ~0U, 0) != 0) return false;
  init();
  _exit(125);
}

using Operation = bool (*)(Setup&, const Op&);

/// INVARIANT: in the order of ops::Code, starting at kRoot.
constexpr Operation kTable[] = {
    Root,    Directory, Symlink,        File,         NamedPipe,  Bind,
    Tmpfs,   Proc,      Mask,           Mask,         HideBehind, ReadOnly,
    Overlay, MakeBase,  AttachFromBase, CopyFile,     Pivot,      Seal,
    Network, MakeEdge,  CloseNetwork,   OpenResolver, Hostname,   NoNamespaces,
    Listen,  Sockets,   HandOut,        Bound,        Drop,       BecomeInit,
};
static_assert(sizeof kTable / sizeof kTable[0] ==
              static_cast<size_t>(Code::kEnd) - static_cast<size_t>(Code::kRoot));

}  // namespace

bool ApplyList(Setup& setup, const List& list, Failure& failure) {
  ops::Reader reader(list.bytes, list.size);
  bool done = true;
  for (const Op* op = reader.Next(); op != nullptr && done; op = reader.Next()) {
    ForgetParentBelow(setup, *op);
    const auto row = static_cast<size_t>(op->code) - static_cast<size_t>(Code::kRoot);
    done = kTable[row](setup, *op) || Fail(failure, ops::Step::kOperation, setup.next_operation);
    ++setup.next_operation;
  }
  // The next list may be applied by another process, in another mount namespace.
  ForgetParent(setup);
  if (!done || reader.ok()) return done;
  errno = EBADMSG;
  return Fail(failure, ops::Step::kDecode, setup.next_operation);
}

uint32_t CountOperations(const List& list) {
  ops::Reader reader(list.bytes, list.size);
  uint32_t count = 0;
  while (reader.Next() != nullptr) ++count;
  return count;
}

bool GrantsRawSockets(const List& list) {
  ops::Reader reader(list.bytes, list.size);
  while (const Op* op = reader.Next()) {
    if (op->code == Code::kBoundPrivileges) return KeepsRawSockets(*op);
  }
  return false;
}

bool Contains(const List& list, ops::Code code) {
  ops::Reader reader(list.bytes, list.size);
  while (const Op* op = reader.Next()) {
    if (op->code == code) return true;
  }
  return false;
}

}  // namespace igloo::jail
