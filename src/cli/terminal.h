#pragma once

#include <termios.h>

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::cli {

/// A terminal that igloo made: the inner end is the sandbox's, the outer one stays here.
struct Pty {
  UniqueFd outer = {}, inner = {};
};

/// Makes one that looks like the terminal `like`: the same keys, the same size.
Result<Pty> OpenPty(int like);

void CopyWindowSize(int from, int to);

/// What the caller's terminal understands: TERM, if it is sound, or "xterm".
std::string TerminalType();

/// A terminal that passes every key on as it is, for as long as this lives.
class RawMode {
 public:
  static Result<RawMode> Enter(int fd);
  RawMode(RawMode&& other) noexcept
      : fd_(other.fd_), before_(other.before_), raw_(std::exchange(other.raw_, false)) {}
  RawMode& operator=(RawMode&&) = delete;
  ~RawMode() { Leave(); }
  /// Back to what it was; also done at the end of life.
  void Leave();
  /// Raw once more, after Leave(). What the terminal is now is what it goes back to.
  Result<void> Return();

 private:
  explicit RawMode(int fd) : fd_(fd) {}
  int fd_;
  termios before_ = {};
  bool raw_ = false;
};

}  // namespace igloo::cli
