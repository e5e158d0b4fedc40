#include "container/outside.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "container/group.h"
#include "container/place.h"
#include "jail/channel.h"
#include "jail/sources.h"
#include "jail/sys.h"

namespace igloo::container {
namespace {

using jail::Fail;
using jail::Failure;
using ops::Step;

jail::Sources g_sources;

/// Directories that the engine wants to mount on, or to see.
constexpr const char* kDirectories[] = {"dev", "etc", "proc", "run", "sys", "tmp", "usr", "var"};

void Say(const char* what) {
  dprintf(STDERR_FILENO, "igloo-container: cannot %s: %s\n", what, strerror(errno));
}

[[noreturn]] void Complain(const char* what) {
  Say(what);
  _exit(125);
}

bool MountMemory(const char* path) {
  return mount("igloo", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=4m,nr_inodes=1024") ==
         0;
}

/// This very program, under a name of the new root.
bool Show(int self, int root) {
  const char* const name = kProgram + 1;
  return mknodat(root, name, S_IFREG | 0555, 0) == 0 &&
         jail::SetMount(
             self, {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, MS_PRIVATE, 0}) &&
         jail::MoveMount(self, root, name);
}

/// A mount namespace of the engine's own. It writes to /run and /tmp of its host, under names that
/// others know: here they are its own, and gone with it however it ends.
void MakePlace(const Group& group) {
  // Here: the link leads to a mount of the namespace that we were started in.
  const kernel::ScopedFd self(jail::OpenTree(AT_FDCWD, "/proc/self/exe", OPEN_TREE_CLONE));
  if (!self) Complain("show itself");
  if (unshare(CLONE_NEWNS) != 0) Complain("make a mount namespace");
  // SECURITY: nothing mounted from here on may travel back to the host.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) Complain("keep mounts back");
  if (!group.Enter()) Complain("enter a cgroup of the container's own");
  if (!MountMemory("/run") || !MountMemory("/tmp")) Complain("mount memory");
  if (mkdir(kRoot, 0755) != 0) Complain("make the container's root");
  const kernel::ScopedFd root(open(kRoot, O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* each : kDirectories) {
    if (!root || mkdirat(root.get(), each, 0755) != 0) Complain("make the container's root");
  }
  if (!Show(self.get(), root.get())) Complain("show itself");
}

/// One container, from its start to its end.
class Keeper {
 public:
  Keeper(char** engine, char** environment) : engine_(engine), environment_(environment) {}

  [[noreturn]] void Live() {
    // What the engine leaves behind when it is killed comes to us.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    // Without an engine its job is refused, once it has come.
    if (group_.Make()) {
      StartEngine();
    } else {
      Say("make a cgroup for the container");
    }
    Serve();
    Await();
    Leave();
  }

 private:
  [[noreturn]] void Leave() const {
    EndAll();
    group_.Remove();
    _exit(0);
  }

  void StartEngine() {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
      return Say("make sockets");
    const pid_t self = getpid();
    pid_ = fork();
    if (pid_ == 0) BecomeEngine(self, sockets[1]);
    close(sockets[1]);
    inside_ = sockets[0];
    if (pid_ < 0) return Say("make a process");
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  }

  [[noreturn]] void BecomeEngine(pid_t parent, int socket) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(125);
    MakePlace(group_);
    // One descriptor passes, as a service manager would hand it over.
    if (dup2(socket, kSocket) != kSocket || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        syscall(SYS_close_range, kSocket + 1, ~0U, 0) != 0) {
      _exit(125);
    }
    char pid[32];
    snprintf(pid, sizeof pid, "LISTEN_PID=%d", getpid());
    const char* variables[kMaxVariables + 3] = {"LISTEN_FDS=1", pid};
    for (unsigned i = 0; i < kMaxVariables && environment_[i] != nullptr; ++i) {
      variables[i + 2] = environment_[i];
    }
    execve(engine_[0], engine_, const_cast<char**>(variables));
    Complain("start the engine");
  }

  /// Opens what the plan shows while the engine is at work, and hands all of it in.
  void Serve() {
    jail::Job job{};
    if (!jail::ReceiveJob(kSocket, job)) Leave();
    Failure failure{};
    const kernel::ScopedFd proc(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    const uint32_t user = job.request.host_id_base + job.request.inner_uid;
    if (!jail::OpenAllSources(job, {true, proc.get(), user}, g_sources, failure)) {
      jail::SendFailure(job.reply(), failure);
      EndAll();
    } else if (!AwaitInside() || !jail::SendJob(inside_, job, g_sources)) {
      // Before it says so: by then all that the engine complained of has been written.
      EndAll();
      jail::SendFailure(job.reply(), {Step::kClone, 0, ECHILD});
    }
    jail::CloseAll(g_sources.fds, g_sources.count);
    jail::CloseAll(job.fds, job.request.fd_count);
    jail::ReleaseBody(job);
    kernel::CloseQuietly(inside_);
  }

  /// Whether the container's first process came so far as to wait for its job.
  bool AwaitInside() const {
    if (inside_ < 0) return false;
    pollfd fds[2] = {{inside_, POLLIN, 0}, {kSocket, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    char ready = 0;
    return fds[1].revents == 0 && read(inside_, &ready, 1) == 1;
  }

  /// Until the engine has ended, or igloo hangs up: there is no second request.
  void Await() const {
    pollfd fds[2] = {{pidfd_, POLLIN, 0}, {kSocket, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
  }

  void EndAll() const {
    if (pidfd_ >= 0) jail::PidfdSignal(pidfd_, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }

  static constexpr unsigned kMaxVariables = 16;
  char** engine_;
  char** environment_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int inside_ = -1;
  Group group_ = {};
};

}  // namespace

void LiveOutside(char** engine, char** environment) {
  umask(022);
  // Hundreds of mount sources are open at once.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  Keeper(engine, environment).Live();
}

}  // namespace igloo::container
