#pragma once

#include <sys/types.h>

#include <cstddef>
#include <set>
#include <string>

namespace igloo::testing {

/// What stands behind a name in /proc/PID/status; "?" when nothing does.
std::string StatusOf(pid_t pid, const std::string& name);

/// Looks at all processes below one, and sorts them: programs of igloo's own, those behind a
/// finished wall, and those that should not be.
class WallLook {
 public:
  /// `programs`: where igloo's own are.
  explicit WallLook(std::string programs) : programs_(std::move(programs)) {}

  void At(pid_t above);

  std::size_t own() const { return own_; }
  std::size_t walled() const { return walled_; }
  const std::set<std::string>& trespassers() const { return trespassers_; }

 private:
  std::string programs_;
  std::size_t own_ = 0, walled_ = 0;
  std::set<std::string> trespassers_ = {};
};

}  // namespace igloo::testing
