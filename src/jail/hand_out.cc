#include "jail/hand_out.h"

#include <sched.h>
#include <sys/socket.h>

#include "jail/channel.h"
#include "jail/sys.h"
#include "jail/trees.h"

namespace igloo::jail {
namespace {

void Hand(int reply_socket, int directory) {
  SendReply(reply_socket, ops::ReplyKind::kHandedOut, directory);
}

}  // namespace

bool HandOutDirectory(Setup& setup, const char* path) {
  const ScopedFd fd(OpenBelow(setup.root_fd, path, O_RDONLY | O_DIRECTORY));
  if (!fd) return false;
  if (setup.hand_out < 0) {
    Hand(setup.job->reply(), fd.get());
    return true;
  }
  const ScopedFd tree(CloneTree(fd.get()));
  // Whose files the sandbox makes, as seen inside. The launcher's copy of the reply socket keeps
  // igloo waiting until the directory has come.
  const Ids inner = setup.job->inner();
  const int fds[2] = {tree.get(), setup.job->reply()};
  return tree && SendWithFds(setup.hand_out, &inner, sizeof inner, fds, 2);
}

bool Mapper::NeedIds(int proc_fd) {
  proc_fd_ = proc_fd;
  starter_ = {getuid(), getgid()};
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && DenyGroups(proc_fd);
}

bool Mapper::Begin() {
  const int owners = NamespaceFor({ops::kDefaultInnerId, ops::kDefaultInnerId});
  const ScopedFd trial(owners < 0 ? -1 : NewTmpfs({4096, 2, 0700, true}));
  return trial && MapOwners(trial.get(), owners) &&
         socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets_) == 0;
}

int Mapper::NamespaceFor(const Ids& inner) {
  if (namespace_ >= 0 && inner_ == inner) return namespace_;
  CloseQuietly(namespace_);
  inner_ = inner;
  namespace_ = OwnerNamespace(proc_fd_, inner, starter_);
  return namespace_;
}

void Mapper::Take() {
  Ids inner{};
  int fds[2] = {-1, -1};
  unsigned count = 0;
  if (!ReceiveWithFds(sockets_[0], &inner, sizeof inner, fds, 2, count)) return;
  if (count == 2) {
    const int owners = NamespaceFor(inner);
    const bool mapped = owners >= 0 && MapOwners(fds[0], owners);
    const ScopedFd directory(mapped ? openat(fds[0], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
    if (directory) {
      Hand(fds[1], directory.get());
    } else {
      SendFailure(fds[1], {ops::Step::kHandOut, 0, errno});
    }
  }
  CloseAll(fds, count);
}

}  // namespace igloo::jail
