#include "bench/sustained.h"

#include <array>
#include <thread>

#include "base/clock.h"

namespace igloo::bench {
namespace {

struct Worker {
  std::vector<double> ends = {}, micros = {};
  std::string failure = {};
};

void Work(Worker& worker, const std::function<Once()>& make, double end) {
  const Once once = make();
  for (double now = 0; now < end;) {
    const Result<double> micros = once();
    if (!micros) {
      worker.failure = micros.error().what;
      return;
    }
    now = static_cast<double>(MonotonicMicros());
    worker.ends.push_back(now);
    worker.micros.push_back(*micros);
  }
}

}  // namespace

double Sustained::rate() const {
  Samples all;
  for (const double each : rates) all.Add(each);
  return all.median();
}

double Sustained::last_of_first() const {
  return rates.empty() || rates.front() == 0 ? 0 : rates.back() / rates.front();
}

std::vector<double> RatesOf(const std::vector<double>& ends, double begin, Windows windows) {
  std::vector<double> rates(windows.count, 0);
  const double seconds = windows.millis / 1000.0;
  for (const double end : ends) {
    const double at = (end - begin) / (seconds * 1e6);
    if (at >= 0 && at < windows.count) rates[static_cast<std::size_t>(at)] += 1 / seconds;
  }
  return rates;
}

Sustained Sustain(std::string key, std::string name, const std::function<Once()>& make,
                  Windows windows) {
  Sustained result{.key = std::move(key), .name = std::move(name)};
  // The beginning is not counted: there launchers start and templates are built.
  const double begin = static_cast<double>(MonotonicMicros()) + 300'000;
  const double end = begin + windows.count * windows.millis * 1000.0;
  std::array<Worker, 2> workers;
  {
    std::array<std::jthread, 2> threads;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      threads[i] = std::jthread([&, i] { Work(workers[i], make, end); });
    }
  }
  std::vector<double> ends;
  for (const Worker& worker : workers) {
    if (!worker.failure.empty()) result.failure = worker.failure;
    ends.insert(ends.end(), worker.ends.begin(), worker.ends.end());
    for (const double micros : worker.micros) result.runs.Add(micros);
  }
  if (result.failure.empty()) result.rates = RatesOf(ends, begin, windows);
  return result;
}

}  // namespace igloo::bench
