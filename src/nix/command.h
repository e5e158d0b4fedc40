#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "nix/settings.h"

namespace igloo::nix {

/// Which of Nix's programs.
enum class Program { kNix, kStore };

/// One call of Nix. It never goes through a shell, and sees nothing of the caller's environment but
/// what Settings lists.
struct Command {
  Program program = Program::kNix;
  std::vector<std::string> args = {};
  /// Told every line that Nix writes to standard error, as it comes.
  std::function<void(std::string_view line)> progress = {};
};

/// What Nix wrote to standard output. When Nix fails, the error's text is made of the last lines
/// that it wrote. Ctrl-C ends Nix and everything that it started; the error's number is EINTR then.
/// Blocks; for the one thread of a command, not for a server's.
Result<std::string> Call(const Settings& settings, const Command& command);

/// Nix's own last words, as an error shows them: at most a dozen lines, without warnings that say
/// nothing about the failure. Pure.
std::string LastLines(std::string_view text);

}  // namespace igloo::nix
