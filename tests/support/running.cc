#include "support/running.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/file.h"

namespace igloo::testing {

Running::Running(const Invocation& invocation) {
  ::signal(SIGPIPE, SIG_IGN);
  FdPair in = MakePipe().value();
  FdPair out = MakePipe().value();
  FdPair err = MakePipe().value();
  SpawnOptions options{.program = invocation.program,
                       .argv = {invocation.program},
                       .env = invocation.env,
                       .fds = {{in.first.get(), 0}, {out.second.get(), 1}, {err.second.get(), 2}}};
  options.argv.insert(options.argv.end(), invocation.args.begin(), invocation.args.end());
  child_ = Spawn(options).value();
  input_ = std::move(in.second);
  out_ = std::move(out.first);
  err_ = std::move(err.first);
  Write(invocation.input);
}

void Running::Write(std::string_view text) {
  if (!text.empty()) (void)WriteAll(input_.get(), text);
}

bool Running::ReadMore() {
  if (!out_ && !err_) return false;
  std::array<pollfd, 2> fds = {{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}}};
  // Far more than anything here takes: an emulated machine starts in seconds, beside others in a
  // minute.
  constexpr int kPatienceMs = 120'000;
  if (::poll(fds.data(), fds.size(), kPatienceMs) <= 0) return false;
  if (fds[0].revents != 0) Drain(out_, outcome_.out);
  if (fds[1].revents != 0) Drain(err_, outcome_.err);
  return true;
}

bool Running::WaitForOutput(std::string_view text) {
  while (outcome_.out.find(text) == std::string::npos) {
    if (!ReadMore()) return false;
  }
  return true;
}

bool Running::WaitForErrors(std::string_view text) {
  while (outcome_.err.find(text) == std::string::npos) {
    if (!ReadMore()) return false;
  }
  return true;
}

std::optional<std::string> Running::NextLine() {
  std::size_t searched = line_;
  std::size_t end = 0;
  while ((end = outcome_.out.find('\n', searched)) == std::string::npos) {
    searched = outcome_.out.size();
    if (!ReadMore()) return std::nullopt;
  }
  std::string line = outcome_.out.substr(line_, end - line_);
  line_ = end + 1;
  return line;
}

Outcome Running::Finish() {
  CloseInput();
  while (ReadMore()) {
  }
  // Open pipes after this much patience: the test reports what there is instead of hanging.
  if (out_ || err_) {
    child_.KillAndReap();
    outcome_.status = -1;
    return outcome_;
  }
  const int status = child_.Wait().value();
  outcome_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome_;
}

Running StartIgloo(std::vector<std::string> args) {
  return Running({.program = BinDirectory() + "/igloo", .args = std::move(args)});
}

Invocation IglooAfter(const std::string& preparation, std::vector<std::string> args) {
  Invocation invocation{.program = "/bin/sh"};
  invocation.args = {"-c", preparation + "; exec \"$0\" \"$@\"", BinDirectory() + "/igloo"};
  invocation.args.insert(invocation.args.end(), args.begin(), args.end());
  return invocation;
}

}  // namespace igloo::testing
