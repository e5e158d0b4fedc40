#pragma once

#include <string>
#include <vector>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {

/// A real terminal emulator, whose screen can be read: a tmux server of the test's own. Ended when
/// dropped.
class Tmux {
 public:
  /// Runs `env words...` on a screen of 80 columns and 24 rows.
  explicit Tmux(const std::vector<std::string>& words);
  ~Tmux();

  void Type(const std::string& text) const { Run({"send-keys", "-t", "test", "-l", text}); }
  /// Keys by tmux's names: "C-z".
  void Keys(const std::vector<std::string>& keys) const;
  void Resize(int columns, int rows) const;
  /// What the screen shows now.
  std::string Screen() const { return Run({"capture-pane", "-p", "-t", "test"}).out; }
  /// Waits until it shows this.
  bool WaitFor(const std::string& text) const;

 private:
  Outcome Run(std::vector<std::string> words) const;
  TempDir place_ = TempDir::Make("/tmp").value();
};

}  // namespace igloo::testing
