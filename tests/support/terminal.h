#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/spawn.h"
#include "base/unique_fd.h"

namespace igloo::testing {

/// A person at a terminal: a program under way with a real terminal as its own, whose other end is
/// in the test's hands. Killed when dropped.
class Terminal {
 public:
  /// Starts `program args...` as the leader of a session that has this terminal.
  Terminal(const std::string& program, std::vector<std::string> args);
  ~Terminal();

  pid_t pid() const { return child_.pid(); }
  void Signal(int signal) const { child_.Signal(signal); }
  void Type(std::string_view keys);
  void Resize(int rows, int columns);
  /// What the terminal does with keys now: echo, signals, ...
  termios Habits() const;
  /// The terminal vanishes, as when its window is closed or ssh is cut. Nothing is read any more.
  void HangUp();
  /// Waits for the program's end after that: as Finish().
  int WaitForEnd();
  /// Its path outside.
  const std::string& name() const { return name_; }

  /// Reads until what has come since the last such call holds `text`; false when it ended before.
  bool WaitForOutput(std::string_view text);
  /// Everything seen so far.
  const std::string& output() const { return output_; }
  /// Reads to the end; exit code, or 128 + signal, or -1 when it does not end.
  int Finish();

 private:
  bool ReadMore();

  UniqueFd outer_ = {}, inner_ = {};
  std::string name_ = {};
  Child child_ = {};
  std::string output_ = {};
  std::size_t seen_ = 0;
};

}  // namespace igloo::testing
