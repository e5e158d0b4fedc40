#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace igloo::testing {

/// The directory of the programs under test: that of this test program.
std::string BinDirectory();

/// What a finished program left.
struct Outcome {
  int status = 0;  ///< exit code, or 128 + signal
  std::string out = {};
  std::string err = {};
};

/// What programs under test get unless a test says otherwise: no home, and the place in which
/// processes agree on subordinate ids, if these tests have one.
std::vector<std::string> UsualVariables();

/// How a program is started. Nothing is inherited that is not here.
struct Invocation {
  std::string program = {};
  std::vector<std::string> args = {};
  std::vector<std::string> env = UsualVariables();
  std::string input = {};     ///< written to its standard input, then closed
  bool close_input = false;   ///< start with descriptor 0 closed
  bool reset_signals = true;  ///< false: what this process ignores, it ignores too
};
Outcome RunProgram(const Invocation& invocation);

/// Takes what has come on `fd`; closes it at its end.
void Drain(UniqueFd& fd, std::string& into);

/// `igloo args...` of this build.
Outcome Igloo(std::vector<std::string> args, std::string input = {});

/// A fresh directory below the system's place for temporary files; world-searchable, so that tests
/// run by root can look from inside a sandbox. The caller's TempDir removes it.
std::string TempParent();

/// Waits until `condition` holds, at most `seconds`; for things another process does.
bool WaitFor(const std::function<bool()>& condition, double seconds = 10);

bool RunningAsRoot();

/// The walls that igloo serves by name, as far as this user can have them.
std::vector<const char*> OfferedWalls();

}  // namespace igloo::testing
