#pragma once

#include <memory>
#include <string>

#include "backend/jail/jail.h"
#include "cgroup/groups.h"
#include "environment/run_policy.h"
#include "session/run.h"

namespace igloo::testing {

/// The plan of a program that waits, as the server makes it. `environment`: "python", "node",
/// "shell"; `more`: a project, variables and so on.
sandbox::Plan PlanForProgram(const std::string& environment, environment::RunRequest more = {});

/// Programs that wait for their code inside the test process, as the server has them: one event
/// loop, one backend.
class Programs {
 public:
  explicit Programs(const std::string& environment, environment::RunRequest more = {});
  ~Programs();

  /// One whose sandbox is built; its interpreter may still be loading.
  std::unique_ptr<session::Run> Prepare();
  Result<session::RunResult> Go(session::Run& program, std::string code,
                                std::uint64_t time_ms = 30'000);
  /// Lets a program hear what became of its sandbox until `done` holds; false: it never did.
  bool RunUntil(const std::function<bool()>& done);

 private:
  sandbox::Plan plan_;
  cgroup::Groups groups_;
  backend::jail::JailBackend backend_;
  boost::asio::io_context loop_;  // what still waits on it gives back to those above
};

/// The pid of one of them that waits for its file below this process; waits for that. 0: none does.
pid_t WaitForProgram(const std::string& name);

}  // namespace igloo::testing
