#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/jail/jail.h"
#include "base/error.h"
#include "base/temp_dir.h"
#include "bench/timeline.h"
#include "sandbox/plan.h"

namespace igloo::bench {

/// Runs in this process through a launcher that is already there, as a server does.
class LauncherRuns {
 public:
  /// With a `timeline`, every run is entered there.
  LauncherRuns(backend::Programs programs, backend::jail::Mode mode, Timeline* timeline = nullptr);
  ~LauncherRuns();

  /// One run, from before session::Run exists to its result, in microseconds.
  Result<double> Once(const sandbox::Plan& plan);
  /// `count` runs of `plan`, a program that answers a line with a line and ends with its input, at
  /// once; `look` is called when all of them have answered.
  Result<void> Idle(const sandbox::Plan& plan, unsigned count, const std::function<void()>& look);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Package directories as a Nix store has them, in a place of their own.
class FakeStore {
 public:
  static Result<FakeStore> Make(std::size_t packages);

  /// Where package directories are on the host; the same name is used below /nix/store.
  const std::vector<std::string>& sources() const { return sources_; }
  static std::string TargetOf(const std::string& source);

 private:
  explicit FakeStore(TempDir directory) : directory_(std::move(directory)) {}
  TempDir directory_;
  std::vector<std::string> sources_ = {};
};

/// The plan of `argv` in a host environment that also shows `store`'s packages, each alone.
Result<sandbox::Plan> PlanFor(const std::string& environment, std::vector<std::string> argv,
                              const FakeStore* store = nullptr);

}  // namespace igloo::bench
