#include "support/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "base/file.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

constexpr int kPatienceMs = 30'000;

}  // namespace

Terminal::Terminal(const std::string& program, std::vector<std::string> args) {
  int outer = -1, inner = -1;
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  std::array<char, 256> name;
  if (::openpty(&outer, &inner, name.data(), nullptr, &size) != 0) {
    throw std::runtime_error("openpty failed");
  }
  outer_.Reset(outer);
  // Kept open: the habits can be looked at after the program's end.
  inner_.Reset(inner);
  for (const int fd : {outer, inner}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  name_ = name.data();
  // setsid with --ctty: the terminal becomes the session's, as a login would make it.
  SpawnOptions options{
      .program = "/usr/bin/setsid",
      .argv = {"setsid", "--ctty", program},
      .env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8", "TERM=xterm"},
      .fds = {{inner, 0}, {inner, 1}, {inner, 2}}};
  options.argv.insert(options.argv.end(), args.begin(), args.end());
  child_ = Spawn(options).value();
}

Terminal::~Terminal() = default;

void Terminal::Type(std::string_view keys) { (void)WriteAll(outer_.get(), keys); }

void Terminal::Resize(int rows, int columns) {
  const winsize size{.ws_row = static_cast<unsigned short>(rows),
                     .ws_col = static_cast<unsigned short>(columns),
                     .ws_xpixel = 0,
                     .ws_ypixel = 0};
  ::ioctl(outer_.get(), TIOCSWINSZ, &size);
}

termios Terminal::Habits() const {
  termios habits{};
  ::tcgetattr(inner_.get(), &habits);
  return habits;
}

void Terminal::HangUp() {
  inner_.Reset();
  outer_.Reset();
}

int Terminal::WaitForEnd() {
  pollfd end{child_.pidfd(), POLLIN, 0};
  if (::poll(&end, 1, kPatienceMs) != 1) return -1;
  const int status = child_.Wait().value();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool Terminal::ReadMore() {
  // The inner end stays open here, so the end is seen at the child.
  std::array<pollfd, 2> fds = {{{outer_.get(), POLLIN, 0}, {child_.pidfd(), POLLIN, 0}}};
  if (::poll(fds.data(), fds.size(), kPatienceMs) <= 0) return false;
  if ((fds[0].revents & POLLIN) == 0) return false;
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(outer_.get(), buffer.data(), buffer.size());
  if (count <= 0) return false;
  output_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

bool Terminal::WaitForOutput(std::string_view text) {
  for (;;) {
    const std::size_t at = output_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!ReadMore()) return false;
  }
}

int Terminal::Finish() {
  while (ReadMore()) {
  }
  pollfd end{child_.pidfd(), POLLIN, 0};
  if (::poll(&end, 1, 0) != 1) return -1;
  const int status = child_.Wait().value();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace igloo::testing
