#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/box.h"
#include "agent/obeyed/check.h"
#include "base/unique_fd.h"
#include "cli/console.h"

namespace igloo::cli {

/// The look at what the host's programs obey in a project, around one box. The look before it is
/// kept in a file while the box runs, so that the next box finishes it if igloo is killed.
class ObeyedReport {
 public:
  /// Before the box starts, whose name is `name`. Nothing for one that works on a copy.
  static Result<std::unique_ptr<ObeyedReport>> Begin(const agent::Box& box, const std::string& name,
                                                     Console& console);

  /// When it has ended: takes away what the host's git would run, and says that and what else
  /// programs of the host would obey.
  void Finish(Console& console);

 private:
  ObeyedReport(agent::ObeyedCheck check, std::string place, UniqueFd lock)
      : check_(std::move(check)), place_(std::move(place)), lock_(std::move(lock)) {}

  agent::ObeyedCheck check_;
  std::string place_;
  UniqueFd lock_;
};

}  // namespace igloo::cli
