#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/box.h"
#include "sandbox/plan.h"

namespace igloo::agent {

/// One line of the launch summary.
struct SummaryRow {
  enum class Kind { kPlain, kWritable, kMissing, kRemark, kGranted };
  std::string label = {}, text = {}, reason = {};
  Kind kind = Kind::kPlain;
};
struct SummarySection {
  std::string title = {};
  std::vector<SummaryRow> rows = {};
};

/// What a box gets, read from its plan: nothing is in the box that is not here. `exists` says
/// whether the host has a path; what is there and not shown is named, too.
std::vector<SummarySection> Summarize(const Box& box, const sandbox::Plan& plan,
                                      const std::function<bool(const std::string&)>& exists);

/// A variable's value as it is shown: what its name says is secret shows its ends at the most.
std::string ShownValue(std::string_view name, std::string_view value);

}  // namespace igloo::agent
