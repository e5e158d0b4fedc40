#include "cli/run/relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "cli/net/network_monitor.h"
#include "cli/run/execute.h"
#include "session/asio.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

/// What is still on its way when the program has ended; somebody else may hold the terminal.
constexpr auto kDrainLimit = std::chrono::seconds(1);

/// A description of its own where possible: making ours non-blocking must not change the caller's.
int OpenKeyboard() {
  const int fd = ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return fd >= 0 ? fd : ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
}

session::RunIo OnTerminal(session::RunIo io, UniqueFd terminal, std::function<void()> stopped,
                          NetworkMonitor& monitor) {
  io.terminal = std::move(terminal);
  io.stopped = std::move(stopped);
  monitor.Attend(io);
  return io;
}

class Relay {
 public:
  Relay(const sandbox::Plan& plan, backend::Backend& backend, Pty pty, session::RunIo io,
        const config::AuditConfig& audit, RawMode& raw, Console& console)
      : console_(console),
        raw_(raw),
        desk_(loop_, audit, [&](std::string_view text) { console_.Note(text); }),
        outer_(loop_, pty.outer.Release()),
        keyboard_(loop_, OpenKeyboard()),
        signals_(loop_),
        drained_(loop_),
        run_(loop_, plan, backend,
             OnTerminal(
                 std::move(io), std::move(pty.inner),
                 [this] {
                   Suspend();
                   run_.Continue();
                 },
                 desk_)) {
    desk_.Serve(run_);
  }

  Result<session::RunResult> Run() {
    for (const int signal :
         {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2, SIGALRM}) {
      signals_.add(signal);
    }
    asio::co_spawn(loop_, PassOutput(), asio::detached);
    asio::co_spawn(loop_, PassKeys(), asio::detached);
    asio::co_spawn(loop_, WatchSignals(), asio::detached);
    asio::co_spawn(loop_, run_.Execute(),
                   [this](const std::exception_ptr& thrown, Result<session::RunResult> value) {
                     // An exception leaves an empty value, which would read as success.
                     if (thrown) std::rethrow_exception(thrown);
                     result_ = std::move(value);
                     if (output_over_) return loop_.stop();
                     drained_.expires_after(kDrainLimit);
                     drained_.async_wait([this](auto) { loop_.stop(); });
                   });
    loop_.run();
    return *std::move(result_);
  }

 private:
  asio::awaitable<void> PassOutput() {
    std::string buffer(16U << 10, '\0');
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      const auto space = asio::buffer(buffer);
      const std::size_t count = co_await outer_.async_read_some(space, token);
      if (error) break;  // nobody inside has the terminal any more
      if (!console_.Out({buffer.data(), count})) run_.Kill();
    }
    output_over_ = true;
    if (result_) loop_.stop();
  }

  asio::awaitable<void> PassKeys() {
    std::string buffer(4U << 10, '\0');
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      co_await keyboard_.async_wait(stream_descriptor::wait_read, token);
      const ssize_t count =
          error ? 0 : ::read(keyboard_.native_handle(), buffer.data(), buffer.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) break;
      std::string_view left(buffer.data(), static_cast<std::size_t>(count));
      while (!left.empty()) {
        const ssize_t written = ::write(outer_.native_handle(), left.data(), left.size());
        if (written > 0) {
          left.remove_prefix(static_cast<std::size_t>(written));
          continue;
        }
        if (errno != EAGAIN && errno != EINTR) co_return;
        // A program that does not read keeps the keys waiting, not igloo.
        boost::system::error_code wait_error;
        auto wait_token = session::Redirect(wait_error);
        co_await outer_.async_wait(stream_descriptor::wait_write, wait_token);
        if (wait_error) co_return;
      }
    }
    run_.Kill();  // the caller's terminal is gone
  }

  asio::awaitable<void> WatchSignals() {
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      const int signal = co_await signals_.async_wait(token);
      if (error) co_return;
      switch (signal) {
        case SIGWINCH:
          CopyWindowSize(STDIN_FILENO, outer_.native_handle());
          break;
        case SIGINT:
          // As the key would: whatever is in the foreground inside decides.
          (void)!::write(outer_.native_handle(), "\x03", 1);
          break;
        case SIGTSTP:
          Suspend();
          break;
        default:
          run_.Kill();
      }
    }
  }

  /// Gives the terminal back and stops, until a shell lets igloo go on (fg).
  void Suspend() {
    PassRest();
    raw_.Leave();
    boost::system::error_code ignored;
    signals_.remove(SIGTSTP, ignored);
    // All of the job, as the key would: a script that started igloo stops, too. Where no shell
    // could let it go on, the kernel ignores this.
    ::kill(0, SIGTSTP);
    signals_.add(SIGTSTP, ignored);
    // Whoever said so may have told igloo alone, and igloo's own programs stopped with it.
    ::kill(0, SIGCONT);
    if (!raw_.Return()) return run_.Kill();
    CopyWindowSize(STDIN_FILENO, outer_.native_handle());
  }

  /// What the program wrote before it stopped.
  void PassRest() {
    std::array<char, 16384> buffer;
    ssize_t count = 0;
    while ((count = ::read(outer_.native_handle(), buffer.data(), buffer.size())) > 0) {
      if (!console_.Out({buffer.data(), static_cast<std::size_t>(count)})) return;
    }
  }

  asio::io_context loop_{1};
  Console& console_;
  RawMode& raw_;
  NetworkMonitor desk_;
  stream_descriptor outer_, keyboard_;
  asio::signal_set signals_;
  asio::steady_timer drained_;
  session::Run run_;
  std::optional<Result<session::RunResult>> result_ = {};
  bool output_over_ = false;
};

}  // namespace

Result<session::RunResult> RunOnTerminal(const sandbox::Plan& plan, backend::Backend& backend,
                                         Pty pty, session::RunIo io,
                                         const config::AuditConfig& audit, Console& console) {
  IGLOO_ASSIGN(RawMode raw, RawMode::Enter(STDIN_FILENO));
  Relay relay(plan, backend, std::move(pty), std::move(io), audit, raw, console);
  auto result = relay.Run();
  // While the signals are still caught: none can come between the relay's end and this.
  raw.Leave();
  HoldEndSignals();
  return result;
}

}  // namespace igloo::cli
