#include "agent/tmux_terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/unix_listener.h"
#include "service/programs.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMostText = 1U << 20;
/// tmux makes a name of its own out of others.
constexpr const char* kSession = "box";

/// The caller's, without those by which tmux would find itself inside of another tmux.
std::vector<std::string> Variables() {
  std::vector<std::string> variables = service::OwnVariables();
  std::erase_if(variables, [](const std::string& each) {
    return each.starts_with("TMUX=") || each.starts_with("TMUX_PANE=");
  });
  return variables;
}

/// tmux takes a ';' at the end of a word for the end of a command.
std::string Word(std::string word) {
  if (word.ends_with(';')) word.insert(word.size() - 1, 1, '\\');
  return word;
}

/// What counts in the terminal of a box, and nothing else: -f /dev/null keeps the settings of the
/// machine and of the user out. -q: an older tmux knows fewer options.
std::vector<std::string> Settings(const std::string& box) {
  return {"start-server", ";",
          // The last words of a box, and how it ended, stay until somebody has seen them.
          "set", "-gq", "remain-on-exit", "on", ";", "set", "-gq", "remain-on-exit-format", "", ";",
          "set-hook", "-g", "pane-died", "detach-client -s box", ";",
          // Two keys: to detach, and to look back. There is no other window and no shell of the
          // host's in it.
          "unbind-key", "-a", "-T", "prefix", ";", "unbind-key", "-a", "-T", "root", ";",
          "bind-key", "-T", "prefix", "d", "detach-client", ";", "bind-key", "-T", "prefix", "[",
          "copy-mode", ";", "bind-key", "-T", "prefix", "C-b", "send-prefix", ";",
          // Agents wait for Escape alone.
          "set", "-gq", "escape-time", "10", ";",
          // Ctrl-B D counts however fast it comes.
          "set", "-gq", "assume-paste-time", "0", ";", "set", "-gq", "history-limit", "20000", ";",
          "set", "-gq", "focus-events", "on", ";", "set", "-gq", "default-terminal",
          "screen-256color", ";", "set", "-gq", "status-left", "[" + box + "] ", ";", "set", "-gq",
          "status-left-length", "70", ";", "set", "-gq", "window-status-format", "", ";", "set",
          "-gq", "window-status-current-format", "", ";", "set", "-gq", "status-right",
          "igloo | leave it running: Ctrl-B D", ";"};
}

constexpr int kWakeMillis = 100;

UniqueFd OpenProcess(pid_t pid) {
  return UniqueFd(pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1);
}

/// tmux sometimes misses that its program has ended, as if SIGCHLD had not come: seen with
/// tmux 3.3a in one of ten ends on a busy machine. Told once more, it looks. `server` is the user's
/// own.
void WakeServer(pid_t server) {
  if (const UniqueFd process = OpenProcess(server)) {
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGCHLD, nullptr, 0);
  }
}

}  // namespace

Result<TmuxTerminal> TmuxTerminal::Of(const std::string& socket) {
  IGLOO_TRY(CheckSocketPath(socket));
  std::string program = FindInPath("tmux");
  if (program.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no program 'tmux' on PATH",
                "install the package 'tmux', or do without --tmux");
  }
  return TmuxTerminal(std::move(program), socket);
}

bool TmuxTerminal::IsInside(const std::string& socket) {
  const char* variable = std::getenv("TMUX");
  return variable != nullptr && std::string_view(variable).starts_with(socket + ",");
}

Result<TmuxTerminal::Said> TmuxTerminal::Ask(std::vector<std::string> words) const {
  IGLOO_ASSIGN(FdPair out, MakePipe());
  IGLOO_ASSIGN(FdPair err, MakePipe());
  SpawnOptions options{.program = program_,
                       .argv = {"tmux", "-u", "-f", "/dev/null", "-S", socket_},
                       .env = Variables(),
                       .fds = {{out.second.get(), 1}, {err.second.get(), 2}}};
  options.argv.insert(options.argv.end(), std::make_move_iterator(words.begin()),
                      std::make_move_iterator(words.end()));
  IGLOO_ASSIGN(Child child, Spawn(options));
  out.second.Reset();
  err.second.Reset();
  Said said;
  IGLOO_ASSIGN(said.text, ReadAll(out.first.get(), kMostText));
  IGLOO_ASSIGN(said.errors, ReadAll(err.first.get(), kMostText));
  IGLOO_ASSIGN(const int status, child.Wait());
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

Result<void> TmuxTerminal::Start(const Order& order) const {
  std::vector<std::string> words = Settings(order.box);
  for (const std::string& each :
       {std::string("new-session"), std::string("-d"), std::string("-s"), std::string(kSession),
        std::string("-x"), std::to_string(order.columns), std::string("-y"),
        std::to_string(order.rows), std::string("--")}) {
    words.push_back(each);
  }
  for (const std::string& each : order.argv) words.push_back(Word(each));
  IGLOO_ASSIGN(const Said said, Ask(std::move(words)));
  if (said.status == 0) return {};
  return Fail(Errc::kFailedPrecondition,
              "tmux cannot start the terminal of the box: " + Printable(Quoted(said.errors)),
              "does 'tmux -L probe new-session -d true' work?");
}

Result<TmuxTerminal::State> TmuxTerminal::Look() const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    IGLOO_ASSIGN(const Said said, Ask({"display-message", "-p", "-t", kSession,
                                       "#{pane_dead} #{pane_dead_status} #{pane_dead_signal}."}));
    if (said.status != 0) return State{};
    if (said.text.starts_with("0")) return State{.kind = State::Kind::kRuns};
    if (!said.text.starts_with("1 ")) return State{};
    const std::string_view rest = std::string_view(said.text).substr(2);
    const std::size_t space = rest.find(' ');
    State state{.kind = State::Kind::kEnded};
    const auto number = [&](std::string_view text, int base) {
      int value = 0;
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
      if (parsed.ec != std::errc()) return false;
      state.exit_code = base + value;
      return true;
    };
    if (number(rest.substr(0, space), 0)) return state;
    if (space != rest.npos && number(rest.substr(space + 1), 128)) return state;
    // The terminal's end was seen before the process's; tmux knows the rest in a moment.
    if (std::chrono::steady_clock::now() > until) {
      return Fail(Errc::kInternal, "tmux does not say how the box ended",
                  "this should not happen; please report it");
    }
    WakeServer(Processes().server);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TmuxTerminal::Numbers TmuxTerminal::Processes() const {
  Numbers numbers;
  const auto said = Ask({"display-message", "-p", "-t", kSession, "#{pid} #{pane_pid}"});
  if (!said || said->status != 0) return numbers;
  const char* const end = said->text.data() + said->text.size();
  const auto first = std::from_chars(said->text.data(), end, numbers.server);
  if (first.ec == std::errc() && first.ptr != end) {
    std::from_chars(first.ptr + 1, end, numbers.program);
  }
  return numbers;
}

Result<std::string> TmuxTerminal::Text() const {
  IGLOO_ASSIGN(Said said, Ask({"capture-pane", "-p", "-J", "-t", kSession}));
  while (said.text.ends_with('\n') || said.text.ends_with(' ')) said.text.pop_back();
  if (!said.text.empty()) said.text += '\n';
  return Printable(said.text, Newlines::kKeep);
}

Result<void> TmuxTerminal::Attach() const {
  // The second command is for a program that ended before anybody was there to be detached.
  const SpawnOptions options{
      .program = program_,
      .argv = {"tmux", "-u", "-f", "/dev/null", "-S", socket_, "attach-session", "-t", kSession,
               ";", "if-shell", "-F", "#{pane_dead}", "detach-client -s box"},
      .env = Variables(),
      .fds = {{STDIN_FILENO, 0}, {STDOUT_FILENO, 1}, {STDERR_FILENO, 2}}};
  const Numbers numbers = Processes();
  const UniqueFd program = OpenProcess(numbers.program);
  IGLOO_ASSIGN(Child child, Spawn(options));
  // tmux itself ends the client, once it knows that the program has ended.
  pollfd ends[] = {{child.pidfd(), POLLIN, 0}, {program.get(), POLLIN, 0}};
  while (::poll(ends, 2, -1) < 0 && errno == EINTR) {
  }
  while (::poll(ends, 1, kWakeMillis) == 0) WakeServer(numbers.server);
  IGLOO_ASSIGN(const int status, child.Wait());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Fail(Errc::kFailedPrecondition, "tmux could not show the terminal of the box",
              "it says above why; the box goes on, and 'igloo agent list' shows it");
}

Result<void> TmuxTerminal::End() const {
  IGLOO_TRY(Ask({"kill-server"}));
  ::unlink(socket_.c_str());
  return {};
}

}  // namespace igloo::agent
