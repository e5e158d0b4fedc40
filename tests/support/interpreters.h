#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backend/jail/jail.h"
#include "cgroup/groups.h"
#include "environment/run_policy.h"
#include "session/interpreter.h"
#include "session/warm/checkpoint.h"

namespace igloo::testing {

/// The plan of an interpreter of a session, as the server makes it. `interpreter`: "python", ...
/// `more`: a project, variables and so on; what it says of the program does not count.
sandbox::Plan PlanForInterpreter(const std::string& interpreter, environment::RunRequest more = {});

/// Interpreters inside the test process: one event loop, one backend, perhaps one checkpoint.
class Interpreters {
 public:
  explicit Interpreters(const std::string& interpreter, environment::RunRequest more = {});
  ~Interpreters();

  enum class From { kStart, kCheckpoint };
  /// One that is ready; null when it could not be had (see `error`).
  std::unique_ptr<session::Interpreter> Open(From from);
  Result<session::CallResult> Call(session::Interpreter& interpreter, std::string code,
                                   std::uint64_t time_ms = 30'000);
  /// A copy of one, in a sandbox of its own; null when it could not be had (see `error`).
  std::unique_ptr<session::Interpreter> Fork(session::Interpreter& of);
  /// The same with one that is open already; whether it could be done (see `error`).
  bool Copy(session::Interpreter& of, session::Interpreter& into);
  /// What a call printed, or its error.
  std::string Say(session::Interpreter& interpreter, std::string code);

  /// For those that are opened from now on.
  void AllowOpenFiles(std::uint64_t most);
  /// What is restored from now on comes from this one; waits until it is made.
  Result<std::shared_ptr<session::Checkpoint>> MakeCheckpoint(
      std::vector<std::string> preload = {});
  void ForgetCheckpoint() { checkpoint_.reset(); }
  /// Another program in igloo-copy's place, from now on.
  void UseCopier(std::string program) { copier_ = std::move(program); }
  const std::string& error() const { return error_; }
  const sandbox::Plan& plan() const { return plan_; }

 private:
  void RunUntil(const std::function<bool()>& done);
  Result<session::CallResult> Execute(session::Interpreter& interpreter,
                                      session::Interpreter::Call asked);

  std::string interpreter_, copier_;
  sandbox::Plan plan_;
  cgroup::Groups groups_;
  backend::jail::JailBackend backend_;
  boost::asio::io_context loop_;  // what still waits on it gives back to those above
  std::shared_ptr<session::Checkpoint> checkpoint_ = {};
  std::string error_ = {};
};

}  // namespace igloo::testing
