#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/spawn.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"

namespace igloo::testing {

/// One rich result of a run.
struct DrivenPart {
  std::string id = {}, type = {}, data = {}, encoding = {};
};

/// How one piece of code ended, and what it printed.
struct DrivenRun {
  int status = -1;  ///< of the run, or of the interpreter when that has `ended`
  std::string value = {}, error = {}, out = {}, err = {};
  bool interrupted = false;
  bool ended = false;  ///< the interpreter, instead of the run
  std::vector<DrivenPart> parts = {};
};

/// An interpreter of this machine under its driver, without a sandbox around it.
class Driven {
 public:
  /// Returns when it is ready.
  explicit Driven(std::string_view interpreter);

  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;
  ~Driven();  ///< ends it and what it started

  DrivenRun Run(std::string_view code, std::string_view flags = "echo");

  /// The steps of Run, for tests that do something in between.
  void Begin(std::string_view code, std::string_view flags = "echo");
  /// Reads until what the run printed holds `text`.
  bool WaitForOutput(std::string_view text);
  DrivenRun End();

  /// SIGINT for the interpreter and what it started, as a terminal sends it.
  void Interrupt() const;
  /// Interrupts until the run has ended, as the host does: a signal that comes just before a system
  /// call that waits is heard only with the next one.
  DrivenRun EndByInterrupts();
  /// What the host says before code; a driver knows the word "run".
  void Order(std::string_view word, std::string_view code, std::string_view flags);
  /// Any bytes, as the host.
  void Send(std::string_view bytes) const;
  /// The host goes away.
  void HangUp() { orders_.Reset(); }
  /// Reads until the interpreter has ended; its exit status, or 128 and a signal.
  int WaitForEnd();

  const std::string& directory() const { return directory_.path(); }
  const std::string& ready() const { return ready_; }  ///< the payload of its first message

 private:
  bool ReadMore(int timeout_ms);
  void TakeMessages();

  TempDir directory_;
  Child child_ = {};
  UniqueFd orders_ = {}, words_ = {}, out_ = {}, err_ = {};
  pid_t pid_ = -1;
  int last_id_ = 0;
  bool done_ = false;
  std::string buffer_ = {}, ready_ = {};
  std::string pieces_ = {};  ///< of a part that is still to come
  DrivenRun run_ = {};
};

}  // namespace igloo::testing
