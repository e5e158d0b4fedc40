#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::bench {

using Words = std::vector<std::string>;

/// What is started. Every command gets the same small environment, and `environment` besides.
struct Command {
  Words argv = {};
  Words environment = {};
};

/// One program from before its start to the end of its output and its exit status.
struct ProcessRun {
  std::int64_t begin = 0, end = 0;  ///< CLOCK_MONOTONIC µs
  std::string output = {};          ///< the beginning of what it wrote
  std::string errors = {};          ///< what it wrote to standard error

  double micros() const { return static_cast<double>(end - begin); }
};

enum class Input { kNone, kPipe };

/// A program under way. Whoever destroys it kills it, and the sandbox with it if that is its way.
class Process {
 public:
  static Result<Process> Start(const Command& command, Input input = Input::kNone);
  Process(Process&& other) noexcept = default;
  Process& operator=(Process&&) = delete;
  ~Process();

  /// Reads to the end of the output and reaps; the clock stops behind both. Fails unless the
  /// program exits with 0, and says then what it wrote to standard error.
  Result<ProcessRun> Finish();

  pid_t pid() const { return pid_.value; }
  int output() const { return output_.get(); }
  UniqueFd& input() { return input_; }

 private:
  /// Moved from, it names nobody.
  struct Pid {
    explicit Pid(pid_t pid) : value(pid) {}
    Pid(Pid&& other) noexcept : value(std::exchange(other.value, -1)) {}
    pid_t value;
  };
  Process(pid_t pid, std::string name, std::int64_t begin)
      : pid_(pid), name_(std::move(name)), begin_(begin) {}

  Pid pid_;
  std::string name_;
  std::int64_t begin_;
  UniqueFd input_ = {}, output_ = {}, errors_ = {};
};

/// fork and exec: this is T when the program is /bin/true.
Result<ProcessRun> RunForked(const Words& argv);
/// posix_spawn, as any good caller would start a program. Fails unless it exits with 0.
Result<ProcessRun> RunSpawned(const Command& command);

/// The first line that says something; peers put warnings and colours around it.
std::string FirstLine(const std::string& text);

}  // namespace igloo::bench
