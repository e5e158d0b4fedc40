#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/jail/jail.h"
#include "environment/run_policy.h"
#include "sandbox/plan.h"
#include "session/run.h"

namespace igloo::testing {

/// Where processes of these tests agree on subordinate ids; empty: nowhere, so they use none.
std::string LeasesPlace();

/// igloo-jail and igloo-init of this build.
backend::Programs BuiltPrograms();

using Adjust = std::function<void(sandbox::Policy&)>;

/// The plan of `request` in the host environment `name`, as `igloo run` makes it; `adjust` may
/// change the policy first. Throws when there is none: the test is wrong then.
sandbox::Plan PlanFor(std::string_view name, const environment::RunRequest& request,
                      const Adjust& adjust = {});
/// Plans of the shell environment.
sandbox::Plan PlanForShell(std::string code, const Adjust& adjust = {});
sandbox::Plan PlanForProgram(std::vector<std::string> argv, const Adjust& adjust = {});

/// Runs plans inside the test process: one event loop, one backend.
class Workbench {
 public:
  explicit Workbench(backend::jail::Mode mode, backend::Programs programs = BuiltPrograms());
  ~Workbench();

  backend::jail::JailBackend& backend();

  /// Runs one plan to its end.
  Result<session::RunResult> Run(const sandbox::Plan& plan);
  /// Runs all at the same time; results are in the order of the plans.
  std::vector<Result<session::RunResult>> RunTogether(const std::vector<sandbox::Plan>& plans);

 private:
  friend class LiveRun;
  struct State;
  std::unique_ptr<State> state_;
};

/// A run of a workbench under way, with its input in the test's hands.
class LiveRun {
 public:
  /// `bench` and `plan` outlive the run.
  LiveRun(Workbench& bench, const sandbox::Plan& plan);
  ~LiveRun();

  void Write(std::string_view text);
  /// Runs the loop until standard output holds `text`; false when it ended or took too long.
  bool WaitForOutput(std::string_view text);
  const std::string& output() const;
  /// Closes the input and runs the loop until the end.
  Result<session::RunResult> Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace igloo::testing
