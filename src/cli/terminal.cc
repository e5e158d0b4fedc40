#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace igloo::cli {

namespace {

/// A terminal's outer end in a file system of its own, which is mounted nowhere: whoever has the
/// inner end may open it again, whatever id it has, and nobody else can reach it. Empty where this
/// process may not make one.
UniqueFd OpenPrivatePtmx() {
  const UniqueFd context(::fsopen("devpts", FSOPEN_CLOEXEC));
  if (!context || ::fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", "0666", 0) != 0 ||
      ::fsconfig(context.get(), FSCONFIG_SET_STRING, "ptmxmode", "0600", 0) != 0 ||
      ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return {};
  }
  const UniqueFd root(
      ::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
  if (!root) return {};
  return UniqueFd(::openat(root.get(), "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
}

/// Root's sandboxes have ids of their own, to which a terminal of root's is somebody else's file.
UniqueFd OpenPtmx() {
  UniqueFd ptmx = ::geteuid() == 0 ? OpenPrivatePtmx() : UniqueFd();
  if (!ptmx) ptmx.Reset(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  return ptmx;
}

}  // namespace

Result<Pty> OpenPty(int like) {
  // SECURITY: the caller's own terminal never goes inside: whoever holds it could read its keys
  // and, with TIOCSTI, type on it. O_NOCTTY: nor does the new one become igloo's.
  Pty pty{.outer = OpenPtmx()};
  int unlocked = 0;
  if (!pty.outer || ::ioctl(pty.outer.get(), TIOCSPTLCK, &unlocked) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a terminal", "is /dev/pts mounted?");
  }
  // By descriptor: a name below /dev/pts may belong to another mount of it.
  pty.inner.Reset(::ioctl(pty.outer.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!pty.inner) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open the new terminal");
  }
  termios habits{};
  if (::tcgetattr(like, &habits) == 0) ::tcsetattr(pty.inner.get(), TCSANOW, &habits);
  CopyWindowSize(like, pty.outer.get());
  return pty;
}

void CopyWindowSize(int from, int to) {
  winsize size{};
  if (::ioctl(from, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

std::string TerminalType() {
  const char* type = std::getenv("TERM");
  const std::string_view text = type == nullptr ? "" : type;
  const bool fine =
      !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '+' || c == '.' || c == '_';
      });
  return fine ? std::string(text) : "xterm";
}

Result<RawMode> RawMode::Enter(int fd) {
  RawMode mode(fd);
  IGLOO_TRY(mode.Return());
  return mode;
}

Result<void> RawMode::Return() {
  if (raw_) return {};
  if (::tcgetattr(fd_, &before_) == 0) {
    termios raw = before_;
    ::cfmakeraw(&raw);
    raw_ = ::tcsetattr(fd_, TCSADRAIN, &raw) == 0;
  }
  if (raw_) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot set up the terminal");
}

void RawMode::Leave() {
  if (std::exchange(raw_, false)) ::tcsetattr(fd_, TCSADRAIN, &before_);
}

}  // namespace igloo::cli
