#pragma once

#include <chrono>

namespace igloo::bench {

/// Microseconds since it was made, and parts of them: a call of a session takes some twenty, where
/// whole ones are a step of five percent.
class Stopwatch {
 public:
  double micros() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace igloo::bench
