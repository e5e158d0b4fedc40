#include "support/igloo.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/spawn.h"
#include "wall/walls.h"

namespace igloo::testing {
namespace {

/// Feeds and drains a child's pipes until all are closed.
void Exchange(UniqueFd input, std::string_view text, UniqueFd out, UniqueFd err, Outcome& outcome) {
  if (text.empty()) input.Reset();
  (void)SetNonBlocking(input.get());
  while (out || err) {
    std::array<pollfd, 3> fds = {
        {{input.get(), POLLOUT, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) <= 0) continue;
    if (fds[0].revents != 0) {
      const ssize_t count = ::write(input.get(), text.data(), text.size());
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
      if (text.empty() || (count < 0 && errno != EAGAIN)) input.Reset();
    }
    if (fds[1].revents != 0) Drain(out, outcome.out);
    if (fds[2].revents != 0) Drain(err, outcome.err);
  }
}

}  // namespace

void Drain(UniqueFd& fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
  if (count > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(count));
  } else {
    fd.Reset();
  }
}

std::vector<std::string> UsualVariables() {
  std::vector<std::string> all = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"};
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr) all.push_back(std::string("XDG_RUNTIME_DIR=") + runtime);
  return all;
}

std::string BinDirectory() {
  const std::string self = ReadLink("/proc/self/exe").value();
  return self.substr(0, self.rfind('/'));
}

Outcome RunProgram(const Invocation& invocation) {
  ::signal(SIGPIPE, SIG_IGN);
  Outcome outcome;
  FdPair in = MakePipe().value();
  FdPair out = MakePipe().value();
  FdPair err = MakePipe().value();
  SpawnOptions options{.program = invocation.program,
                       .argv = {invocation.program},
                       .env = invocation.env,
                       .fds = {{out.second.get(), 1}, {err.second.get(), 2}},
                       .reset_signals = invocation.reset_signals};
  options.argv.insert(options.argv.end(), invocation.args.begin(), invocation.args.end());
  if (invocation.close_input) {
    // Spawn always fills 0-2, so a shell closes it on the way.
    std::vector<std::string> wrapped = {"/bin/sh", "-c", "exec 0<&-; exec \"$0\" \"$@\""};
    wrapped.insert(wrapped.end(), options.argv.begin(), options.argv.end());
    options.program = "/bin/sh";
    options.argv = std::move(wrapped);
  } else {
    options.fds.push_back({in.first.get(), 0});
  }
  auto child = Spawn(options);
  if (!child) {
    outcome.status = -1;
    outcome.err = child.error().what;
    return outcome;
  }
  in.first.Reset();
  out.second.Reset();
  err.second.Reset();
  Exchange(std::move(in.second), invocation.input, std::move(out.first), std::move(err.first),
           outcome);
  const int status = child->Wait().value();
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

Outcome Igloo(std::vector<std::string> args, std::string input) {
  return RunProgram(
      {.program = BinDirectory() + "/igloo", .args = std::move(args), .input = std::move(input)});
}

std::string TempParent() {
  const char* place = std::getenv("TMPDIR");
  return place != nullptr ? place : "/tmp";
}

bool WaitFor(const std::function<bool()>& condition, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool RunningAsRoot() { return ::geteuid() == 0; }

std::vector<const char*> OfferedWalls() {
  std::vector<const char*> names;
  for (const wall::Wall& each : wall::All()) {
    if (each.served && (RunningAsRoot() || !each.can.needs_root)) names.push_back(each.name.data());
  }
  return names;
}

}  // namespace igloo::testing
