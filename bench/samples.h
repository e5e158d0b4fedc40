#pragma once

#include <cstddef>
#include <vector>

namespace igloo::bench {

/// Times of one candidate, in microseconds.
class Samples {
 public:
  void Add(double micros) { values_.push_back(micros); }
  /// `share` is 0.5 for the median; 0 when nothing was measured.
  double Quantile(double share) const;
  double median() const { return Quantile(0.5); }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_ = {};
};

/// Waits until nothing else wants a processor, at most 1.5 s. False when that never came: the
/// sample that follows is noisy.
bool WaitUntilQuiet();

}  // namespace igloo::bench
