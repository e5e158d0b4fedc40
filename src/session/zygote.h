#pragma once

#include <string>
#include <vector>

#include "backend/jail/jail.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "cgroup/groups.h"

namespace igloo::session {

/// An interpreter that is loaded once and forked for every sandbox that stands on its template: a
/// fork costs a tenth of a start, and what all of them have loaded is in memory once. It runs
/// nobody's code. Dropping it ends it; its forks go on.
class Zygote {
 public:
  /// `plan`: of the sandboxes that its forks are for. `program` is the zygote's text, `preload` the
  /// modules that it loads ahead. Does not wait until they are.
  static Result<Zygote> Start(backend::jail::JailBackend& backend, const sandbox::Plan& plan,
                              std::string_view program, const std::vector<std::string>& preload);

  /// Sends a fork into the sandbox whose igloo-init waits at the other end of `adoption`.
  Result<void> Fork(UniqueFd adoption, const cgroup::Lease* group);

  bool alive() const;

  /// Whether everything is loaded that it should load ahead. Before that, a fork waits for it.
  bool ready();
  /// What it could not load, in its words; each is told once.
  std::vector<std::string> TakeComplaints();

 private:
  Zygote() = default;

  void Listen();

  UniqueFd orders_ = {};
  bool ready_ = false;
  std::vector<std::string> complaints_ = {};
  backend::jail::JailBackend::TemplateHold hold_ = {};
};

}  // namespace igloo::session
