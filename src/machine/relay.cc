#include "machine/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/calls.h"
#include "machine/kvm.h"
#include "machine/launch.h"
#include "machine/stream.h"

namespace igloo::machine {
namespace {

constexpr int kMaxWords = 256;
/// A machine is up long before, on KVM and without; one on KVM that is not is started again.
constexpr uint64_t kPatienceMicros = 30'000'000, kLongPatienceMicros = 180'000'000;

/// The last bytes of something that may go on for ever.
class Tail {
 public:
  void Add(const char* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) ring_[count_++ % sizeof ring_] = bytes[i];
  }
  /// As much as fits, oldest first; how much that is.
  size_t Copy(char* to, size_t most) const {
    const size_t have = count_ < sizeof ring_ ? count_ : sizeof ring_;
    const size_t size = have < most ? have : most;
    for (size_t i = 0; i < size; ++i) to[i] = ring_[(count_ - size + i) % sizeof ring_];
    return size;
  }

 private:
  char ring_[1024];
  size_t count_ = 0;
};

struct Streams {
  FromPort control_out, output, error, extra_out[kMaxExtra];
  ToPort control_in, input, extra_in[kMaxExtra];
};
constinit Streams g_streams = {};
constexpr size_t kOut = 3 + kMaxExtra, kIn = 2 + kMaxExtra;
/// Answers first, then what a program prints: see Order.
constexpr size_t kFirstOutput = 1 + kMaxExtra;

FromPort* OutStream(size_t i) {
  if (i == 0) return &g_streams.control_out;
  if (i < kFirstOutput) return &g_streams.extra_out[i - 1];
  return i == kFirstOutput ? &g_streams.output : &g_streams.error;
}
ToPort* InStream(size_t i) {
  ToPort* const named[] = {&g_streams.control_in, &g_streams.input};
  return i < 2 ? named[i] : &g_streams.extra_in[i - 2];
}

/// Bytes of the launch that are on their way into the machine.
struct Pending {
  size_t size = 0, sent = 0;
  unsigned char bytes[64u << 10];
};
constinit Pending g_orders = {};

class Relay {
 public:
  Relay(int extra, char** words) : extra_(extra), words_(words) {}

  int Run() {
    Event trial{.kind = EventKind::kAccelerated};
    bool kvm = TryKvm(trial.text, sizeof trial.text);
    if (kvm && StartEmulator(true)) {
      Tell(trial);
      if (AwaitUp(kPatienceMicros)) return Carry();
      char words[160] = {};
      said_.Copy(words, sizeof words - 1);
      EndEmulator();
      snprintf(trial.text, sizeof trial.text, "a machine on KVM did not start; it said last: %s",
               words);
    }
    trial.kind = EventKind::kEmulated;
    Tell(trial, strlen(trial.text));
    if (!StartEmulator(false)) {
      Event failed{.kind = EventKind::kNotStarted, .sys_errno = errno};
      Tell(failed);
      return 1;
    }
    return AwaitUp(kLongPatienceMicros) ? Carry() : TellLoss();
  }

 private:
  unsigned ports() const { return kFirstExtraPort + static_cast<unsigned>(extra_); }

  void Tell(Event& event, size_t text_size = 0) const {
    event.text_size = static_cast<uint32_t>(text_size);
    (void)!send(kRelayLaunchFd, &event, sizeof event, MSG_NOSIGNAL);
  }

  // --- the emulator

  /// Our ends are closed over exec.
  bool MakePairs(int (&theirs)[kMaxPorts], int& their_console) {
    int pair[2];
    for (unsigned i = 0; i < ports(); ++i) {
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
      ports_[i] = pair[0];
      theirs[i] = pair[1];
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    console_ = pair[0];
    their_console = pair[1];
    return true;
  }

  /// Above everything that is to be put in its place.
  static int Away(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, kFirstPortFd + 32); }

  /// In a child that borrows this memory.
  void BecomeEmulator(const int (&theirs)[kMaxPorts], int console, char** argv) const {
    int away[kMaxPorts];
    const int own_console = Away(console);
    for (unsigned i = 0; i < ports(); ++i) away[i] = Away(theirs[i]);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool placed = nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(own_console, 1) >= 0 &&
                        dup2(own_console, 2) >= 0 && dup2(own_console, kConsoleFd) >= 0;
    if (!placed) _exit(126);
    for (unsigned i = 0; i < ports(); ++i) {
      if (dup2(away[i], kFirstPortFd + static_cast<int>(i)) < 0) _exit(126);
    }
    // SECURITY: neither igloo's descriptors nor those of the program.
    syscall(SYS_close_range, 3, kConsoleFd - 1, 0);
    syscall(SYS_close_range, kFirstPortFd + ports(), ~0U, 0);
    signal(SIGPIPE, SIG_DFL);
    char* const env[] = {const_cast<char*>("PATH=/usr/bin"), const_cast<char*>("LANG=C"), nullptr};
    execve(argv[0], argv, env);
    _exit(127);
  }

  bool StartEmulator(bool kvm) {
    char* argv[kMaxWords + 5];
    int count = 0;
    while (words_[count] != nullptr && count < kMaxWords) {
      argv[count] = words_[count];
      ++count;
    }
    const char* const more[] = {"-accel", kvm ? "kvm" : "tcg,thread=multi", "-cpu",
                                kvm ? "host" : "max", nullptr};
    for (const char* const word : more) argv[count++] = const_cast<char*>(word);
    int theirs[kMaxPorts], their_console = -1;
    if (!MakePairs(theirs, their_console)) return false;
    emulator_ = fork();
    if (emulator_ == 0) BecomeEmulator(theirs, their_console, argv);
    for (unsigned i = 0; i < ports(); ++i) close(theirs[i]);
    close(their_console);
    return emulator_ > 0;
  }

  void EndEmulator() {
    kill(emulator_, SIGKILL);
    while (waitpid(emulator_, nullptr, 0) < 0 && errno == EINTR) {
    }
    for (unsigned i = 0; i < ports(); ++i) close(ports_[i]);
    close(console_);
    event_size_ = 0;
    said_ = {};
  }

  // --- what a machine says while it starts

  /// Whole events, and only those of a machine. False: it is gone, or says what it must not.
  bool TakeEvents() {
    auto* const bytes = reinterpret_cast<unsigned char*>(&event_);
    const ssize_t count =
        read(ports_[kLaunchPort], bytes + event_size_, sizeof event_ - event_size_);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count <= 0) return false;
    event_size_ += static_cast<size_t>(count);
    if (event_size_ < sizeof event_) return true;
    event_size_ = 0;
    // SECURITY: the relay's own words are not a machine's to say.
    if (event_.kind < EventKind::kUp || event_.kind > EventKind::kFailed) return false;
    if (event_.text_size > sizeof event_.text) return false;
    if (event_.kind == EventKind::kUp) {
      up_ = true;
      return true;
    }
    Event passed = event_;
    Tell(passed, event_.text_size);
    return true;
  }

  void TakeConsole() {
    char bytes[4096];
    const ssize_t count = read(console_, bytes, sizeof bytes);
    if (count > 0) said_.Add(bytes, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) console_over_ = true;
  }

  bool AwaitUp(uint64_t patience) {
    const uint64_t end = kernel::NowMicros() + patience;
    while (!up_) {
      const uint64_t now = kernel::NowMicros();
      if (now >= end) return false;
      pollfd fds[] = {{ports_[kLaunchPort], POLLIN, 0}, {console_over_ ? -1 : console_, POLLIN, 0}};
      const int ready = poll(fds, 2, static_cast<int>((end - now) / 1000 + 1));
      if (ready <= 0) continue;
      if (fds[1].revents != 0) TakeConsole();
      if (fds[0].revents != 0 && !TakeEvents()) return false;
    }
    return true;
  }

  // --- carrying

  /// By what igloo gave: a pipe's end to read goes in, one to write comes out, a socket does both.
  void Connect(int fd, unsigned port, FromPort* out, ToPort* in) const {
    const int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
    const bool both = mode == O_RDWR;
    const int second = both ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : fd;
    if (out != nullptr && mode != O_RDONLY) out->Open(fd, ports_[port]);
    if (in != nullptr && mode != O_WRONLY) in->Open(second, ports_[port]);
  }

  void ConnectAll() const {
    for (unsigned i = 0; i < ports(); ++i) SetNonBlocking(ports_[i]);
    Connect(kRelayControlFd, kControlPort, &g_streams.control_out, &g_streams.control_in);
    // Of the program's own, each has one way only: /dev/null, too.
    g_streams.input.Open(0, ports_[kInputPort]);
    g_streams.output.Open(1, ports_[kOutputPort]);
    g_streams.error.Open(2, ports_[kErrorPort]);
    for (int i = 0; i < extra_; ++i) {
      Connect(kRelayExtraFd + i, kFirstExtraPort + static_cast<unsigned>(i),
              &g_streams.extra_out[i], &g_streams.extra_in[i]);
    }
  }

  /// What igloo says for the launch, once the machine is up. Its end is igloo's.
  void MoveOrders(const pollfd* fds) {
    if (fds[0].revents != 0) {
      const ssize_t count = read(kRelayLaunchFd, g_orders.bytes, sizeof g_orders.bytes);
      orders_over_ = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
      g_orders.size = count > 0 ? static_cast<size_t>(count) : 0;
      g_orders.sent = 0;
    }
    if (g_orders.sent == g_orders.size) return;
    const ssize_t count =
        write(ports_[kLaunchPort], g_orders.bytes + g_orders.sent, g_orders.size - g_orders.sent);
    if (count > 0) g_orders.sent += static_cast<size_t>(count);
  }

  static bool AllArrived() {
    return g_streams.control_out.over() && g_streams.output.over() && g_streams.error.over();
  }

  /// One round; false: the machine is gone, or no machine of ours.
  bool Move() {
    constexpr size_t kAll = kOut + kIn;
    pollfd fds[2 * kAll + 4];
    const bool pending = g_orders.sent < g_orders.size;
    for (size_t i = 0; i < kOut; ++i) OutStream(i)->Watch(fds + 2 * i);
    for (size_t i = 0; i < kIn; ++i) InStream(i)->Watch(fds + 2 * (kOut + i));
    pollfd* const own = fds + 2 * kAll;
    own[0] = {up_ && !pending && !orders_over_ ? kRelayLaunchFd : -1, POLLIN, 0};
    own[1] = {pending ? ports_[kLaunchPort] : -1, POLLOUT, 0};
    own[2] = {ports_[kLaunchPort], POLLIN, 0};
    own[3] = {console_over_ ? -1 : console_, POLLIN, 0};
    if (poll(fds, 2 * kAll + 4, -1) < 0) return errno == EINTR;
    if (own[3].revents != 0) TakeConsole();
    bool alive = own[2].revents == 0 || TakeEvents();
    MoveOrders(own);
    const bool wait = order_.AnswersWait(fds + 2 * kFirstOutput, fds + 2 * (kFirstOutput + 1));
    for (size_t i = wait ? kFirstOutput : 0; i < kOut; ++i) {
      alive = OutStream(i)->Move(fds + 2 * i) && alive;
    }
    for (size_t i = 0; i < kIn; ++i) alive = InStream(i)->Move(fds + 2 * (kOut + i)) && alive;
    return alive;
  }

  int Carry() {
    ConnectAll();
    while (!AllArrived()) {
      if (!Move()) return TellLoss();
    }
    EndEmulator();
    return 0;
  }

  /// What it said last has come by now, or comes before its end.
  int TellLoss() {
    kill(emulator_, SIGTERM);
    const uint64_t end = kernel::NowMicros() + 1'000'000;
    while (!console_over_ && kernel::NowMicros() < end) {
      pollfd fd{console_, POLLIN, 0};
      if (poll(&fd, 1, 100) > 0) TakeConsole();
    }
    Event event{.kind = EventKind::kLost};
    const size_t size = said_.Copy(event.text, sizeof event.text);
    kill(emulator_, SIGKILL);
    int status = 0;
    while (waitpid(emulator_, &status, 0) < 0 && errno == EINTR) {
    }
    event.sys_errno = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    Tell(event, size);
    return 2;
  }

  int extra_;
  char** words_;
  pid_t emulator_ = -1;
  int ports_[kMaxPorts] = {};
  int console_ = -1;
  bool console_over_ = false, up_ = false, orders_over_ = false;
  Event event_ = {};
  size_t event_size_ = 0;
  Tail said_ = {};
  Order order_ = {};
};

}  // namespace

int RelayMain(int extra, char** words) {
  signal(SIGPIPE, SIG_IGN);
  if (extra < 0 || extra > static_cast<int>(kMaxExtra) || words[0] == nullptr) return 125;
  return Relay(extra, words).Run();
}

}  // namespace igloo::machine
