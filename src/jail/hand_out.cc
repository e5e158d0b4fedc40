#include "jail/hand_out.h"

#include <sched.h>
#include <sys/socket.h>

#include "jail/channel.h"
#include "jail/sys.h"
#include "jail/trees.h"

namespace igloo::jail {
namespace {

constexpr uint64_t kStraight = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

/// What goes to the launcher, with a detached tree and igloo's reply socket.
struct Order {
  Ids inner;  ///< whose files the sandbox makes, as seen inside
};

void Hand(int reply_socket, int directory) {
  ops::Reply reply{};
  reply.kind = static_cast<uint32_t>(ops::ReplyKind::kHandedOut);
  SendReply(reply_socket, reply, directory);
}

/// Makes files of `owners` namespace's ids the starter's, in this mount and nowhere else.
bool MapTree(int tree, int owners) {
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_IDMAP;
  attr.userns_fd = static_cast<uint64_t>(owners);
  return MountSetattr(tree, "", AT_EMPTY_PATH, attr) == 0;
}

}  // namespace

bool HandOutDirectory(Setup& setup, const char* path) {
  const int fd =
      OpenAt2(setup.root_fd, Relative(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, kStraight);
  if (fd < 0) return false;
  if (setup.hand_out < 0) {
    Hand(setup.job->reply(), fd);
    CloseQuietly(fd);
    return true;
  }
  const int tree = OpenTree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE);
  CloseQuietly(fd);
  if (tree < 0) return false;
  const ops::Request& request = setup.job->request;
  const Order order{{request.inner_uid, request.inner_gid}};
  // The launcher's copy of the reply socket keeps igloo waiting until the directory has come.
  const int fds[2] = {tree, setup.job->reply()};
  const bool sent = SendWithFds(setup.hand_out, &order, sizeof order, fds, 2);
  CloseQuietly(tree);
  return sent;
}

bool Mapper::NeedIds(int proc_fd) {
  proc_fd_ = proc_fd;
  starter_ = {getuid(), getgid()};
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && DenyGroups(proc_fd);
}

bool Mapper::Begin() {
  const int owners = NamespaceFor({ops::kDefaultInnerId, ops::kDefaultInnerId});
  const int trial = owners < 0 ? -1 : NewTmpfs({4096, 2, 0700, true});
  const bool mapped = trial >= 0 && MapTree(trial, owners);
  CloseQuietly(trial);
  return mapped && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets_) == 0;
}

int Mapper::NamespaceFor(const Ids& inner) {
  if (namespace_ >= 0 && inner_ == inner) return namespace_;
  CloseQuietly(namespace_);
  inner_ = inner;
  namespace_ = OwnerNamespace(proc_fd_, inner, starter_);
  return namespace_;
}

void Mapper::Take() {
  Order order{};
  int fds[2] = {-1, -1};
  unsigned count = 0;
  if (!ReceiveWithFds(sockets_[0], &order, sizeof order, fds, 2, count)) return;
  if (count == 2) {
    const int owners = NamespaceFor(order.inner);
    const bool mapped = owners >= 0 && MapTree(fds[0], owners);
    const int directory = mapped ? openat(fds[0], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory >= 0) {
      Hand(fds[1], directory);
    } else {
      SendFailure(fds[1], {ops::Step::kHandOut, 0, errno});
    }
    CloseQuietly(directory);
  }
  CloseAll(fds, count);
}

}  // namespace igloo::jail
