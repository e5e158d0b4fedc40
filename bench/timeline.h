#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bench/process.h"
#include "bench/samples.h"

namespace igloo::bench {

/// Where runs of one kind spend their time.
class Timeline {
 public:
  struct Stage {
    std::string name = {};
    Samples at = {};    ///< since igloo was spawned
    Samples took = {};  ///< since the stage before
  };

  /// One run: the stages it reached, in order, and when, in microseconds since its begin.
  using Marks = std::vector<std::pair<std::string, double>>;
  void Add(const Marks& marks);
  /// The lines that `igloo run --timing` wrote; fails when they are not what igloo writes.
  /// The value is when igloo-init's report had come, in microseconds since the spawn.
  Result<double> Add(const ProcessRun& run);
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  std::vector<Stage> stages_ = {};  // in the order in which they happen
};

}  // namespace igloo::bench
