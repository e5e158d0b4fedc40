#include "bench/timeline.h"

#include <algorithm>
#include <sstream>

namespace igloo::bench {

void Timeline::Add(const Marks& marks) {
  double before = 0;
  for (const auto& [name, at] : marks) {
    auto stage = std::ranges::find(stages_, name, &Stage::name);
    if (stage == stages_.end()) stage = stages_.insert(stages_.end(), Stage{.name = name});
    stage->at.Add(at);
    stage->took.Add(at - before);
    before = at;
  }
}

Result<double> Timeline::Add(const ProcessRun& run) {
  std::istringstream lines(run.errors);
  std::string line;
  double first = -1;
  Marks marks;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string timing;
    std::string name;
    double micros = 0;
    if (!(words >> timing >> name >> micros) || timing != "timing") continue;
    // The first line is a time of the machine's clock, the others count from it.
    if (first < 0) {
      first = micros - static_cast<double>(run.begin);
      micros = 0;
    }
    marks.emplace_back(name, first + micros);
  }
  if (marks.empty()) return Fail(Errc::kProtocol, "'igloo run --timing' did not say when it began");
  const double report = marks.back().second;
  marks.emplace_back("exit", run.micros());
  Add(marks);
  return report;
}

}  // namespace igloo::bench
