#include "cli/agent/enter.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "agent/control.h"
#include "base/file.h"
#include "base/unix_listener.h"
#include "cli/terminal.h"

namespace igloo::cli {
namespace {

/// Passes what one descriptor has to another; false: it has ended.
bool Pass(int from, int to) {
  std::array<char, 16384> buffer;
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  return count > 0 && WriteAll(to, {buffer.data(), static_cast<std::size_t>(count)}).has_value();
}

/// Signals of this process, to be read; they do nothing else meanwhile.
Result<UniqueFd> TakeSignals(sigset_t& before) {
  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int signal : {SIGWINCH, SIGTERM, SIGHUP, SIGQUIT, SIGINT}) {
    ::sigaddset(&taken, signal);
  }
  ::sigprocmask(SIG_BLOCK, &taken, &before);
  UniqueFd fd(::signalfd(-1, &taken, SFD_CLOEXEC));
  if (fd) return fd;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot watch signals");
}

/// Until the program in the box has ended, or this side has.
void Relay(int outer, int connection, int signals) {
  enum { kKeys, kOutput, kAnswer, kSignals };
  std::array<pollfd, 4> fds = {{{STDIN_FILENO, POLLIN, 0},
                                {outer, POLLIN, 0},
                                {connection, POLLIN, 0},
                                {signals, POLLIN, 0}}};
  for (;;) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if (fds[kOutput].revents != 0 && !Pass(outer, STDOUT_FILENO)) fds[kOutput].fd = -1;
    // What it printed last comes before the news of its end.
    if (fds[kOutput].revents == 0 && fds[kAnswer].revents != 0) return;
    if (fds[kKeys].revents != 0 && !Pass(STDIN_FILENO, outer)) return;
    if (fds[kSignals].revents == 0) continue;
    signalfd_siginfo came{};
    (void)!::read(signals, &came, sizeof came);
    if (came.ssi_signo != SIGWINCH) return;
    CopyWindowSize(STDIN_FILENO, outer);
  }
}

}  // namespace

Result<int> EnterBox(const std::string& socket, const std::vector<std::string>& argv) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Fail(Errc::kFailedPrecondition,
                "'igloo agent enter' needs a terminal on standard input and output");
  }
  IGLOO_ASSIGN(Pty pty, OpenPty(STDIN_FILENO));
  IGLOO_ASSIGN(const UniqueFd connection, agent::AskToEnter(socket, argv, pty.inner.get()));
  pty.inner.Reset();
  sigset_t before;
  IGLOO_ASSIGN(const UniqueFd signals, TakeSignals(before));
  {
    IGLOO_ASSIGN(const RawMode raw, RawMode::Enter(STDIN_FILENO));
    Relay(pty.outer.get(), connection.get(), signals.get());
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  // Whoever left this side does not wait: the terminal goes, and the program hears of that.
  pollfd answer{connection.get(), POLLIN, 0};
  pty.outer.Reset();
  if (::poll(&answer, 1, 2000) <= 0) return 129;
  return agent::ReadExit(connection.get());
}

Result<int> JoinBox(const agent::BoxRegistry& boxes, const agent::BoxInfo& box,
                    const std::vector<std::string>& argv) {
  constexpr auto kLimit = std::chrono::seconds(30);
  const std::string socket = boxes.SocketOf(box.name);
  const auto until = std::chrono::steady_clock::now() + kLimit;
  while (!ConnectToOwn(socket) && boxes.Find(box.name) &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return EnterBox(socket, argv);
}

}  // namespace igloo::cli
