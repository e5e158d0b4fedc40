#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/spawn.h"
#include "base/unique_fd.h"
#include "support/igloo.h"

namespace igloo::testing {

/// A program under way, with its pipes in the test's hands. Killed when dropped.
class Running {
 public:
  /// Starts it; Invocation::input is written at once, and the input stays open.
  explicit Running(const Invocation& invocation);

  pid_t pid() const { return child_.pid(); }
  void Signal(int signal) const { child_.Signal(signal); }
  void Write(std::string_view text);
  void CloseInput() { input_.Reset(); }

  /// Reads until standard output holds `text`; false when it ended or took too long.
  bool WaitForOutput(std::string_view text);
  /// The next line of standard output, without its end; nothing when it ended or took too long.
  std::optional<std::string> NextLine();
  /// What has come on standard error so far.
  const std::string& errors() const { return outcome_.err; }
  /// Reads until standard error holds `text`.
  bool WaitForErrors(std::string_view text);
  /// Closes the input, reads all there is and waits for the end.
  Outcome Finish();

 private:
  /// Takes what has come; false at the end of both streams or when nothing comes for long.
  bool ReadMore();

  Child child_ = {};
  UniqueFd input_ = {}, out_ = {}, err_ = {};
  Outcome outcome_ = {};
  std::size_t line_ = 0;  ///< where the next line begins
};

/// `igloo args...` of this build, under way.
Running StartIgloo(std::vector<std::string> args);

/// The same through a shell that first runs `preparation` ("cd /tmp; exec 7</dev/null").
Invocation IglooAfter(const std::string& preparation, std::vector<std::string> args);

}  // namespace igloo::testing
