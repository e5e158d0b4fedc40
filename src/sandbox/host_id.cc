#include <variant>

#include "base/text.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

/// The tree of the host that a step shows, and what may make it somebody's own; null: it shows
/// none. (What is copied is read by igloo-jail.)
struct Shown {
  const std::string* source = nullptr;
  const PathFact* fact = nullptr;
  bool project = false;
};

Shown ShownBy(const Step& step) {
  if (const auto* bind = std::get_if<step::Bind>(&step)) {
    if (!bind->device) return {&bind->source, &bind->fact, bind->map_owner};
  } else if (const auto* overlay = std::get_if<step::Overlay>(&step)) {
    return {&overlay->source, &overlay->fact, overlay->map_owner};
  } else if (const auto* base = std::get_if<step::Base>(&step)) {
    return {&base->source, &base->fact, false};
  } else if (const auto* part = std::get_if<step::FromBase>(&step)) {
    return {&part->path, &part->fact, false};
  }
  return {};
}

}  // namespace

std::string NeedsStartersId(const Plan& plan) {
  if (std::holds_alternative<HostNetwork>(plan.network)) return "it shares the host's network";
  if (DeviceOf(plan.network) != nullptr) return "it has a device";
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const Step& step : *steps) {
      const Shown shown = ShownBy(step);
      // Root's trees are there for everybody. What belongs to somebody may be that user's alone.
      if (shown.fact == nullptr || (!shown.project && shown.fact->uid == 0)) continue;
      return "'" + Printable(*shown.source) + "' may hold files that only their owner can read";
    }
  }
  return {};
}

}  // namespace igloo::sandbox
