#pragma once

#include <sched.h>
#include <sys/types.h>

#include <utility>
#include <vector>

namespace igloo::bench {

/// Where threads run, for as long as this lives. Left to itself, the kernel leaves those that wake
/// each other on one core or on two as it happens, and that decides more than what they do.
class Layout {
 public:
  /// All threads of this process on one core, and those of `others` on another.
  enum class Cores { kOne, kTwo };
  Layout(Cores cores, const std::vector<pid_t>& others);
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout();

  /// Whether this machine has as many.
  static bool Has(Cores cores);

 private:
  void Move(pid_t thread, int core);
  std::vector<std::pair<pid_t, cpu_set_t>> before_ = {};
};

}  // namespace igloo::bench
