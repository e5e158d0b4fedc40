#include "jail/zygote.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "jail/channel.h"
#include "jail/privileges.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

/// The given descriptors become 3, 4, ...; all others go.
bool PlaceFds(const int* fds, unsigned count) {
  int moved[ops::kMaxFds];
  for (unsigned i = 0; i < count; ++i) {
    moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3 + static_cast<int>(count));
    if (moved[i] < 0) return false;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (dup2(moved[i], 3 + static_cast<int>(i)) < 0) return false;
  }
  return syscall(SYS_close_range, 3 + count, ~0U, 0) == 0;
}

}  // namespace

void StartZygote(const Setup& setup, const int* fds, unsigned count) {
  clone_args args{};
  args.exit_signal = SIGCHLD;
  if (Clone3(args) != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != 1) _exit(0);  // the template is gone already
  // A network of its own: the template enters those of its sandboxes.
  if (unshare(CLONE_NEWNET | CLONE_NEWIPC) != 0) _exit(125);
  void (*const zygote)() = setup.zygote;
  if (!PlaceFds(fds, count) || !KeepOnly(CAP_SYS_ADMIN)) _exit(125);
  ForgetBodies();
  umask(022);
  zygote();
  _exit(125);
}

}  // namespace igloo::jail
