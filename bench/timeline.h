#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bench/process.h"
#include "bench/samples.h"

namespace igloo::bench {

/// Where one-shot runs spend their time, collected from `igloo run --timing`.
class Timeline {
 public:
  struct Stage {
    std::string name = {};
    Samples at = {};    ///< since igloo was spawned
    Samples took = {};  ///< since the stage before
  };

  /// Takes the lines that `run` wrote; fails when they are not what igloo writes.
  Result<void> Add(const ProcessRun& run);
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  void Put(const std::string& name, double at, double before);
  std::vector<Stage> stages_ = {};  // in the order in which they happen
};

}  // namespace igloo::bench
