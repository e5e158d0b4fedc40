#include "machine/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/random.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/calls.h"
#include "machine/launch.h"
#include "machine/stream.h"

namespace igloo::machine {
namespace {

/// Who starts the launcher: an ordinary user of the machine, who has the project's files.
constexpr uid_t kUser = 1000;
constexpr int kLauncherSocket = 3;

struct Streams {
  ToPort control_out, output, error, extra_out[kMaxExtra];
  FromPort control_in, input, extra_in[kMaxExtra];
};
constinit Streams g_streams = {};
constinit char g_mounts[kMaxMounts] = {};

/// A stream that a machine lacks is over from the start.
constexpr size_t kOut = 3 + kMaxExtra, kIn = 2 + kMaxExtra;
/// Answers first, then what a program prints: see Order.
constexpr size_t kFirstOutput = 1 + kMaxExtra;

ToPort* OutStream(size_t i) {
  if (i == 0) return &g_streams.control_out;
  if (i < kFirstOutput) return &g_streams.extra_out[i - 1];
  return i == kFirstOutput ? &g_streams.output : &g_streams.error;
}
FromPort* InStream(size_t i) {
  FromPort* const named[] = {&g_streams.control_in, &g_streams.input};
  return i < 2 ? named[i] : &g_streams.extra_in[i - 2];
}

/// SECURITY: a machine whose first process cannot go on ends; nothing in it goes on unwatched.
[[noreturn]] void End() {
  reboot(RB_AUTOBOOT);
  for (;;) pause();
}

class Guest {
 public:
  [[noreturn]] void Run() {
    Prepare();
    OpenPorts();
    Tell({.kind = EventKind::kUp});
    ReadOrders();
    UseClock();
    MountAll();
    StartSandbox();
    Carry();
  }

 private:
  void Tell(const Event& event) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&event);
    const bool told = kernel::MoveAll(sizeof event, [&](size_t done, size_t left) {
      return write(ports_[kLaunchPort], bytes + done, left);
    });
    if (!told) End();
  }
  /// Keeps the machine until igloo has heard why, and ends it.
  [[noreturn]] void Fail(Stage stage, const char* what = "") const {
    Event event{.kind = EventKind::kFailed, .stage = stage, .sys_errno = errno};
    strncpy(event.text, what, sizeof event.text - 1);
    event.text_size = static_cast<uint32_t>(strlen(event.text));
    if (ports_[kLaunchPort] < 0) {
      // Nobody but the console can hear it.
      dprintf(2, "igloo: stage %u, '%s': %s\n", static_cast<unsigned>(stage), what,
              strerror(errno));
      End();
    }
    Tell(event);
    for (;;) pause();
  }

  void Prepare() const {
    // The kernel's first root can be nobody's old root: pivot_root refuses it. A second mount of it
    // can.
    if (mount("/", "/mnt", nullptr, MS_BIND, nullptr) != 0 || chdir("/mnt") != 0 ||
        mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 || chroot(".") != 0) {
      Fail(Stage::kMount, "/");
    }
    if (mount("dev", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, nullptr) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
      Fail(Stage::kDevices);
    }
    // In their order, of which the names begin with the number.
    char path[64];
    for (int number = 0; number < 100; ++number) {
      snprintf(path, sizeof path, "/modules/%02d.ko", number);
      const kernel::ScopedFd module(open(path, O_RDONLY | O_CLOEXEC));
      if (!module) break;
      if (syscall(SYS_finit_module, module.get(), "", 0) != 0 && errno != EEXIST) {
        Fail(Stage::kModule, path);
      }
    }
    // Kernels of some distributions are started with less.
    kernel::WriteTextAt(AT_FDCWD, "/proc/sys/kernel/unprivileged_userns_clone", "1");
    kernel::WriteTextAt(AT_FDCWD, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0");
  }

  /// The kernel makes them while this runs.
  int AwaitPort(unsigned number) const {
    char path[32];
    snprintf(path, sizeof path, "%s%u", kPortDevice, number + 1);
    const timespec moment{0, 1'000'000};
    for (int tries = 0; tries < 20'000; ++tries) {
      const int fd = open(path, O_RDWR | O_CLOEXEC);
      if (fd >= 0) return fd;
      nanosleep(&moment, nullptr);
    }
    Fail(Stage::kPorts, path);
  }

  void OpenPorts() {
    for (unsigned i = 0; i < kFirstExtraPort; ++i) ports_[i] = AwaitPort(i);
  }

  void ReadOrders() {
    const int port = ports_[kLaunchPort];
    if (!kernel::ReadAll(port, &launch_, sizeof launch_)) Fail(Stage::kOrders);
    errno = EPROTO;
    if (launch_.magic != kMagic || launch_.extra > kMaxExtra || launch_.mounts_bytes > kMaxMounts ||
        launch_.request_bytes > kMaxRequest || launch_.request_bytes < sizeof(ops::Request)) {
      Fail(Stage::kOrders);
    }
    if (!kernel::ReadAll(port, g_mounts, launch_.mounts_bytes)) Fail(Stage::kOrders);
    void* const room = mmap(nullptr, launch_.request_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) Fail(Stage::kOrders);
    request_ = static_cast<unsigned char*>(room);
    if (!kernel::ReadAll(port, request_, launch_.request_bytes)) Fail(Stage::kOrders);
    for (unsigned i = 0; i < launch_.extra; ++i) {
      ports_[kFirstExtraPort + i] = AwaitPort(kFirstExtraPort + i);
    }
  }

  /// The host's time, and random bytes of its own: a machine has neither by itself.
  void UseClock() {
    const timespec now{launch_.seconds, launch_.nanoseconds};
    if (clock_settime(CLOCK_REALTIME, &now) != 0) Fail(Stage::kClock);
    // As the kernel's rand_pool_info: how many bits and bytes, and these.
    struct {
      int bits = 8 * sizeof launch_.seed, size = sizeof launch_.seed;
      unsigned char bytes[sizeof launch_.seed] = {};
    } seed;
    memcpy(seed.bytes, launch_.seed, sizeof launch_.seed);
    const kernel::ScopedFd random(open("/dev/urandom", O_RDWR | O_CLOEXEC));
    if (!random || ioctl(random.get(), RNDADDENTROPY, &seed) != 0) Fail(Stage::kClock);
    ioctl(random.get(), RNDRESEEDCRNG);
    explicit_bzero(&seed, sizeof seed);
    explicit_bzero(launch_.seed, sizeof launch_.seed);
  }

  /// The next text of the mounts; ends the machine where there is none.
  const char* NextText(size_t& at) const {
    const bool closed = at < launch_.mounts_bytes &&
                        memchr(g_mounts + at, '\0', launch_.mounts_bytes - at) != nullptr;
    errno = EPROTO;
    if (!closed) Fail(Stage::kOrders);
    const char* const text = g_mounts + at;
    at += strlen(text) + 1;
    return text;
  }

  void MountAll() const {
    for (size_t at = 0; at < launch_.mounts_bytes;) {
      const char* const type = NextText(at);
      const char* const source = NextText(at);
      const char* const place = NextText(at);
      const char* const options = NextText(at);
      // Its options begin with 'ro' or 'rw', as in other tables of mounts.
      unsigned long flags = MS_NOSUID | MS_NODEV;
      if (strncmp(options, "ro", 2) == 0) flags |= MS_RDONLY;
      const char* const rest = options[2] == ',' ? options + 3 : "";
      mkdir(place, 0755);
      if (mount(source, place, type, flags, rest) != 0) Fail(Stage::kMount, place);
    }
  }

  /// Two ends: the machine's for the port, and the sandbox's.
  struct Ends {
    int own, given;
  };
  Ends MakeEnds(Way way) const {
    int pair[2];
    if (way == Way::kBoth) {
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) return {pair[0], pair[1]};
    } else if (pipe2(pair, O_CLOEXEC) == 0) {
      // A program may open its standard streams again, by /dev/stdin and its like.
      for (const int end : pair) fchown(end, kUser, kUser);
      return way == Way::kInto ? Ends{pair[1], pair[0]} : Ends{pair[0], pair[1]};
    }
    Fail(Stage::kStreams);
  }

  int Connect(Way way, unsigned port, ToPort& out, FromPort& in) const {
    const Ends ends = MakeEnds(way);
    const int second = way == Way::kBoth ? fcntl(ends.own, F_DUPFD_CLOEXEC, 0) : ends.own;
    if (second < 0) Fail(Stage::kStreams);
    if (way != Way::kInto) out.Open(ends.own, ports_[port]);
    if (way != Way::kOut) in.Open(second, ports_[port]);
    return ends.given;
  }

  /// What igloo saw are files of the host; the launcher compares with those of the machine, which
  /// stand for them.
  void UseOwnFacts(unsigned char* bytes, size_t size) const {
    ops::Reader reader(bytes, size);
    for (const ops::Op* op = reader.Next(); op != nullptr; op = reader.Next()) {
      const bool has_source = op->code == ops::Code::kBind || op->code == ops::Code::kOverlay ||
                              op->code == ops::Code::kBase || op->code == ops::Code::kCopy;
      struct stat info{};
      if (!has_source) continue;
      if (stat(op->text(), &info) != 0) Fail(Stage::kSources, op->text());
      auto* const own = const_cast<ops::Op*>(op);
      own->device = info.st_dev;
      own->inode = info.st_ino;
    }
    errno = EPROTO;
    if (!reader.ok()) Fail(Stage::kOrders);
  }

  int StartLauncher() const {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) Fail(Stage::kLauncher);
    const pid_t pid = fork();
    if (pid == 0) {
      char* const argv[] = {const_cast<char*>("igloo-jail"), nullptr};
      char* const env[] = {nullptr};
      if (setgroups(0, nullptr) == 0 && setgid(kUser) == 0 && setuid(kUser) == 0 &&
          dup2(pair[1], kLauncherSocket) >= 0) {
        fcntl(kLauncherSocket, F_SETFD, 0);
        execve("/igloo/igloo-jail", argv, env);
      }
      _exit(127);
    }
    if (pid < 0) Fail(Stage::kLauncher);
    close(pair[1]);
    return pair[0];
  }

  void SendRequest(const int* fds, unsigned count) const {
    iovec part{request_, launch_.request_bytes};
    alignas(cmsghdr) unsigned char space[CMSG_SPACE(sizeof(int) * ops::kMaxFds)] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(head), fds, sizeof(int) * count);
    // The descriptors travel with the first byte; what does not fit at once follows alone.
    const bool sent = kernel::MoveAll(launch_.request_bytes, [&](size_t done, size_t left) {
      part = {request_ + done, left};
      const ssize_t moved = sendmsg(launcher_, &message, MSG_NOSIGNAL);
      if (moved > 0) {
        message.msg_control = nullptr;
        message.msg_controllen = 0;
      }
      return moved;
    });
    if (!sent) Fail(Stage::kLauncher);
  }

  void StartSandbox() {
    int answers[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, answers) != 0) Fail(Stage::kStreams);
    int fds[5 + kMaxExtra] = {answers[1]};
    ToPort no_out;
    FromPort no_in;
    Streams& all = g_streams;
    fds[ops::kControl] = Connect(Way::kBoth, kControlPort, all.control_out, all.control_in);
    fds[ops::kStdin] = Connect(Way::kInto, kInputPort, no_out, all.input);
    fds[ops::kStdout] = Connect(Way::kOut, kOutputPort, all.output, no_in);
    fds[ops::kStderr] = Connect(Way::kOut, kErrorPort, all.error, no_in);
    for (unsigned i = 0; i < launch_.extra; ++i) {
      fds[ops::kFirstExtra + static_cast<int>(i)] =
          Connect(launch_.ways[i], kFirstExtraPort + i, all.extra_out[i], all.extra_in[i]);
    }
    const unsigned count = ops::kFirstExtra + launch_.extra;
    UseOwnFacts(request_ + sizeof(ops::Request), launch_.request_bytes - sizeof(ops::Request));
    launcher_ = StartLauncher();
    SendRequest(fds, count);
    for (unsigned i = 0; i < count; ++i) close(fds[i]);
    munmap(request_, launch_.request_bytes);
    answers_ = answers[0];
  }

  void TakeAnswer() {
    Event event{.kind = EventKind::kReply};
    const ssize_t count = recv(answers_, &event.reply, sizeof event.reply, 0);
    if (count == sizeof event.reply) return Tell(event);
    close(answers_);
    answers_ = -1;
    Tell({.kind = EventKind::kLaunched});
  }

  [[noreturn]] void Carry() {
    constexpr size_t kAll = kOut + kIn;
    // A port that cannot take anything must not hold up the others.
    for (unsigned i = kControlPort; i < kMaxPorts; ++i) {
      if (ports_[i] >= 0) SetNonBlocking(ports_[i]);
    }
    for (;;) {
      pollfd fds[2 * kAll + 2];
      for (size_t i = 0; i < kOut; ++i) OutStream(i)->Watch(fds + 2 * i);
      for (size_t i = 0; i < kIn; ++i) InStream(i)->Watch(fds + 2 * (kOut + i));
      fds[2 * kAll] = {answers_, POLLIN, 0};
      // Nothing more comes on it but its end: the relay is gone.
      fds[2 * kAll + 1] = {ports_[kLaunchPort], 0, 0};
      if (poll(fds, 2 * kAll + 2, -1) < 0 && errno != EINTR) End();
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      if (fds[2 * kAll + 1].revents != 0) End();
      if (fds[2 * kAll].revents != 0) TakeAnswer();
      const bool wait = order_.AnswersWait(fds + 2 * kFirstOutput, fds + 2 * (kFirstOutput + 1));
      for (size_t i = wait ? kFirstOutput : 0; i < kOut; ++i) {
        if (!OutStream(i)->Move(fds + 2 * i)) End();
      }
      for (size_t i = 0; i < kIn; ++i) {
        if (!InStream(i)->Move(fds + 2 * (kOut + i))) End();
      }
    }
  }

  Launch launch_ = {};
  unsigned char* request_ = nullptr;
  int ports_[kMaxPorts] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  int launcher_ = -1, answers_ = -1;
  Order order_ = {};
};
static_assert(kMaxPorts == 11);

}  // namespace

void GuestMain() {
  signal(SIGPIPE, SIG_IGN);
  Guest().Run();
}

}  // namespace igloo::machine
