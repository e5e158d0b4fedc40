#pragma once

#include <string>

#include "bench/candidates.h"

namespace igloo::bench {

/// How the measuring itself went.
struct Conditions {
  unsigned rounds = 0;
  unsigned samples = 0, noisy = 0;  ///< noisy: taken while something else wanted a processor
};

/// The candidates, the goals and the timeline, for people.
std::string ReportText(const Field& field, const Conditions& conditions);
/// The same for programs.
std::string ReportJson(const Field& field, const Conditions& conditions);

}  // namespace igloo::bench
