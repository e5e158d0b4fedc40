#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/jail/jail.h"
#include "base/error.h"
#include "bench/process.h"

namespace igloo::bench {

/// An interpreter that can wait ready for its code, and the same code for one that is started.
struct Language {
  std::string_view key;          ///< "python"
  std::string_view name;         ///< "Python"
  std::string_view environment;  ///< igloo's
  std::string_view driver;
  std::string_view code;
  const char* program;
  const char* flag;  ///< before the code on its command line
  double idle_mib;   ///< what one that waits may cost

  Words cold() const { return {program, flag, std::string(code)}; }
};

std::span<const Language> Languages();

/// Interpreters of one language in this process through a launcher and a pool of its own, as a
/// server has them.
class ReadyRuns {
 public:
  enum class Of {
    kPrograms,  ///< each is the whole program of its interpreter
    kSessions,
  };
  /// `most`: how many wait at once.
  ReadyRuns(backend::Programs programs, const Language& language, Of of, std::size_t most);
  ~ReadyRuns();

  // Of programs:

  /// The language's code in a sandbox that waited for it and that nobody has used: microseconds
  /// from the request to the complete result. Before it returns, not counted, another is ready.
  Result<double> Fresh();
  /// The same of a caller who waits for nothing: one that is ready, or else one that has yet to be
  /// started.
  Result<double> Next();
  /// `count` that wait at once, without a pool. `look` is called when all are there.
  Result<void> Idle(unsigned count, const std::function<void()>& look);

  // Of sessions:

  /// Calls in a session that was opened with the first: microseconds, their median.
  Result<double> Call(unsigned calls);

  enum class Until {
    kFirstCall,  ///< one in the fork has its result
    kWhole,      ///< so has one in the original, which waits until the fork has everything
  };
  /// A fork of a session that holds so much data, half of it in one piece and half in small objects
  /// (the same each time): microseconds. The session is opened with the first.
  Result<double> Fork(unsigned megabytes, Until until);

  /// How often `Fresh` found that none was ready; those were not counted.
  unsigned misses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A Python without a sandbox that takes code over a pipe, runs it, and answers with what it
/// printed: what a call in a session has to do at least.
class PythonLoop {
 public:
  /// As ReadyRuns::Call.
  Result<double> Call(unsigned calls);

 private:
  std::optional<Process> process_ = {};
};

}  // namespace igloo::bench
