#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/temp_dir.h"
#include "bench/candidates.h"
#include "bench/process.h"

namespace igloo::bench {

/// A user with a home directory and a project, and the ways to put a coding agent around it:
/// igloo's box, and bwrap with the words of the launchers that igloo replaces. The agent is a
/// program that says when it began.
class BoxRuns {
 public:
  /// `programs`: where igloo and igloo-bench-first are. The project is a git repository.
  static Result<BoxRuns> Make(const std::string& programs);

  /// Point into this.
  std::vector<Candidate> Candidates() const;

 private:
  explicit BoxRuns(TempDir place) : place_(std::move(place)) {}
  std::string home() const { return place_.path() + "/home"; }
  std::string project() const { return home() + "/code/project"; }
  Command Igloo(Words words) const;
  Command Claudebox(const std::string& bwrap) const;
  Command ClaudeSandbox(const std::string& bwrap) const;

  TempDir place_;
  std::string igloo_ = {}, agent_ = {};
};

/// Microseconds between two lines that the program printed, or from its start to the only one.
Result<double> BetweenLines(const ProcessRun& run);

}  // namespace igloo::bench
