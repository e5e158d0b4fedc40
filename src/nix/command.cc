#include "nix/command.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>

#include "base/file.h"
#include "base/interrupts.h"
#include "base/spawn.h"
#include "base/text.h"

namespace igloo::nix {
namespace {

constexpr std::size_t kMostOutput = 16U << 20;
constexpr std::size_t kMostErrors = 16U << 10;  ///< of the end of what Nix says
constexpr std::size_t kMostLines = 12;
constexpr int kGraceMilliseconds = 5000;

/// What every call is told, whatever the user's own settings are.
constexpr std::string_view kConfig =
    "extra-experimental-features = nix-command flakes\n"
    // SECURITY: a flake could bring settings of its own, such as another cache and its key.
    "accept-flake-config = false\n"
    // SECURITY: evaluating would run builders, before anybody sees what is to be built.
    "allow-import-from-derivation = false\n"
    // SECURITY: builders run behind Nix's wall or not at all. Only a daemon that does not trust the
    // user goes on with its own setting.
    "sandbox = true\n"
    "sandbox-fallback = false\n"
    "warn-dirty = false\n";
/// A store of the user's own has no users to build with.
constexpr std::string_view kOwnStoreConfig = "build-users-group =\n";

std::string DirectoryOf(const std::string& program) {
  return program.substr(0, program.rfind('/'));
}

std::vector<std::string> VariablesOf(const Settings& settings) {
  std::vector<std::string> variables = settings.variables;
  std::string config;
  std::erase_if(variables, [&](const std::string& each) {
    if (!each.starts_with("NIX_CONFIG=")) return false;
    config = each.substr(each.find('=') + 1) + "\n";
    return true;
  });
  config += kConfig;
  if (!settings.store.empty()) config += kOwnStoreConfig;
  variables.push_back("NIX_CONFIG=" + config);
  // For what Nix itself starts: git, ssh, tar.
  variables.push_back("PATH=" + DirectoryOf(settings.program) +
                      ":/run/current-system/sw/bin:/usr/bin:/bin");
  return variables;
}

/// One of Nix's two streams. What is kept of it is bounded.
class Stream {
 public:
  enum class Keep { kBeginning, kEnd };
  Stream(UniqueFd fd, Keep keep, std::size_t most) : fd_(std::move(fd)), keep_(keep), most_(most) {}

  int fd() const { return fd_.get(); }
  bool open() const { return static_cast<bool>(fd_); }
  bool overflowed() const { return overflowed_; }
  const std::string& text() const { return text_; }

  /// Takes what is there; the new bytes.
  std::string Read() {
    char buffer[8192];
    const ssize_t count = ::read(fd_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) return {};
    if (count <= 0) {
      fd_.Reset();
      return {};
    }
    std::string fresh(buffer, static_cast<std::size_t>(count));
    text_ += fresh;
    if (text_.size() > most_) {
      overflowed_ = true;
      if (keep_ == Keep::kEnd) text_.erase(0, text_.size() - most_);
      if (keep_ == Keep::kBeginning) text_.resize(most_);
    }
    return fresh;
  }

 private:
  UniqueFd fd_;
  Keep keep_;
  std::size_t most_;
  std::string text_ = {};
  bool overflowed_ = false;
};

/// Says every whole line once.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& say) : say_(say) {}
  void Add(std::string_view bytes) {
    if (!say_) return;
    for (const char c : bytes) {
      if (c != '\n' && c != '\r') {
        if (line_.size() < 1024) line_ += c;
        continue;
      }
      if (!line_.empty()) say_(line_);
      line_.clear();
    }
  }

 private:
  const std::function<void(std::string_view)>& say_;
  std::string line_ = {};
};

/// Ends Nix the way that lets it end what it started: it kills its builders and tells the daemon.
void End(Child& child) {
  child.Signal(SIGTERM);
  pollfd ended{.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  (void)::poll(&ended, 1, kGraceMilliseconds);
  child.KillAndReap();
}

std::unexpected<Error> Interrupted() {
  return std::unexpected(Error{Errc::kFailedPrecondition, "interrupted: Nix was stopped",
                               "nothing was changed; what it had downloaded is kept", EINTR});
}

/// Reads both streams to their ends. False: Ctrl-C came.
bool ReadBoth(Stream& out, Stream& err, const std::function<void(std::string_view)>& progress) {
  Lines lines(progress);
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigdelset(&mask, SIGINT);
  while (out.open() || err.open()) {
    pollfd fds[] = {{.fd = out.fd(), .events = POLLIN, .revents = 0},
                    {.fd = err.fd(), .events = POLLIN, .revents = 0}};
    const int ready = ::ppoll(fds, 2, nullptr, &mask);
    if (TakeInterrupt()) return false;
    if (ready < 0) continue;
    if (fds[0].revents != 0) (void)out.Read();
    if (fds[1].revents != 0) lines.Add(err.Read());
  }
  return true;
}

}  // namespace

std::string LastLines(std::string_view text) {
  std::deque<std::string_view> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("warning:")) continue;
    // What failed begins here; what was built before is no part of it.
    if (line.starts_with("error:")) lines.clear();
    lines.push_back(line);
  }
  std::string out;
  if (lines.size() > kMostLines) {
    // The first line says what failed, the last ones why.
    out = std::string(lines.front()) + "\n...";
    while (lines.size() > kMostLines - 1) lines.pop_front();
  }
  for (const std::string_view line : lines) {
    out += out.empty() ? "" : "\n";
    out += line;
  }
  return out;
}

Result<std::string> Call(const Settings& settings, const Command& command) {
  if (settings.program.empty()) {
    return Fail(Errc::kFailedPrecondition, "Nix is not installed",
                "install it (sudo apt install nix-bin), or name it with 'program' in [nix]");
  }
  const bool store = command.program == Program::kStore;
  const std::string program =
      store ? DirectoryOf(settings.program) + "/nix-store" : settings.program;
  std::vector<std::string> argv = {program};
  argv.insert(argv.end(), command.args.begin(), command.args.end());
  if (!settings.store.empty()) argv.insert(argv.end(), {"--store", settings.store});
  const CatchInterrupts catching;
  IGLOO_ASSIGN(FdPair out_pipe, MakePipe());
  IGLOO_ASSIGN(FdPair err_pipe, MakePipe());
  IGLOO_ASSIGN(Child child, Spawn({.program = program,
                                   .argv = std::move(argv),
                                   .env = VariablesOf(settings),
                                   .fds = {{out_pipe.second.get(), 1}, {err_pipe.second.get(), 2}},
                                   .own_session = true,
                                   // Killed, Nix would leave its builders behind.
                                   .death_signal = SIGTERM}));
  out_pipe.second.Reset();
  err_pipe.second.Reset();
  Stream out(std::move(out_pipe.first), Stream::Keep::kBeginning, kMostOutput);
  Stream err(std::move(err_pipe.first), Stream::Keep::kEnd, kMostErrors);
  if (!ReadBoth(out, err, command.progress)) {
    End(child);
    return Interrupted();
  }
  IGLOO_ASSIGN(const int status, child.Wait());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (!out.overflowed()) return out.text();
    return Fail(Errc::kExhausted, "Nix answered with more than 16 MB");
  }
  const std::string last = LastLines(err.text());
  return Fail(Errc::kFailedPrecondition,
              last.empty() ? "Nix failed without a word" : "Nix says: " + last);
}

}  // namespace igloo::nix
