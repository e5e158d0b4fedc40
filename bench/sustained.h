#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/samples.h"

namespace igloo::bench {

using Once = std::function<Result<double>()>;

/// Sandboxes without a pause on two workers, over windows of time: a rate that sinks from the first
/// window to the last shows something that piles up.
struct Sustained {
  std::string key = {}, name = {};
  std::string against = "bwrap";   ///< the key of bwrap's counterpart
  std::vector<double> rates = {};  ///< runs per second, a window each
  Samples runs = {};               ///< all of them, in microseconds
  std::string failure = {};

  double rate() const;
  /// The last window of the first; 0 when nothing was measured.
  double last_of_first() const;
};

struct Windows {
  unsigned count = 10;
  unsigned millis = 1000;
};

/// `make` is called in each of the two worker threads and what it made is used and destroyed there:
/// a launcher ends with the thread that started it.
Sustained Sustain(std::string key, std::string name, const std::function<Once()>& make,
                  Windows windows);

/// How many runs ended in each window. `ends` and `begin` are microseconds.
std::vector<double> RatesOf(const std::vector<double>& ends, double begin, Windows windows);

}  // namespace igloo::bench
