#pragma once

#include <string>
#include <vector>

#include "bench/candidates.h"
#include "bench/mcp.h"
#include "bench/memory.h"
#include "bench/walls.h"

namespace igloo::bench {

/// How the measuring itself went.
struct Conditions {
  unsigned rounds = 0;
  unsigned samples = 0, noisy = 0;  ///< noisy: taken while something else wanted a processor
};

/// All that was measured.
struct Results {
  Conditions conditions = {};
  std::vector<Candidate> candidates = {};
  std::vector<Inspected> walls = {};
  std::vector<Sustained> sustained = {};
  std::vector<Idle> idle = {};
  Figures mcp = {}, ready = {};
  Samples output_peak = {};  ///< KiB
  Timeline one_shot = {}, prepared = {};
};

/// Those of all parts.
std::vector<Figure> FiguresOf(const Results& results);

/// For people.
std::string ReportText(const Results& results);
/// For programs, the chart among them.
std::string ReportJson(const Results& results);

}  // namespace igloo::bench
