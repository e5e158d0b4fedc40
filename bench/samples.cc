#include "bench/samples.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include "base/file.h"

namespace igloo::bench {
namespace {

using std::chrono::milliseconds;

/// What a run leaves behind (teardown, the template's refill) ends in this time.
constexpr auto kSettle = milliseconds(6);
constexpr auto kStep = milliseconds(3);
constexpr auto kLongest = milliseconds(1500);

/// How many tasks run or want to, ourselves included: the fourth field of "0.5 0.4 0.3 2/115 77".
int Running() {
  const auto text = ReadFile("/proc/loadavg", 256);
  if (!text) return 0;
  std::size_t at = 0;
  for (int field = 0; field < 3; ++field) at = text->find(' ', at) + 1;
  int running = 0;
  std::from_chars(text->data() + at, text->data() + text->size(), running);
  return running;
}

}  // namespace

double Samples::Quantile(double share) const {
  if (values_.empty()) return 0;
  std::vector<double> values = values_;
  const auto at = std::min(static_cast<std::size_t>(share * static_cast<double>(values.size())),
                           values.size() - 1);
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

bool WaitUntilQuiet() {
  std::this_thread::sleep_for(kSettle);
  for (auto waited = milliseconds(0); waited < kLongest; waited += kStep) {
    if (Running() <= 1) return true;
    std::this_thread::sleep_for(kStep);
  }
  return false;
}

}  // namespace igloo::bench
