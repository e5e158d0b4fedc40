#pragma once

#include <functional>
#include <string_view>

#include "base/error.h"
#include "nix/record.h"
#include "nix/wanted.h"

namespace igloo::nix {

/// Whether what is pinned stays, or is looked up again.
enum class Pins { kKeep, kRenew };

struct BuildOptions {
  Pins pins = Pins::kKeep;
  /// Told every line that Nix says.
  std::function<void(std::string_view line)> progress = {};
};

/// Makes an environment, unless it is there already as it is wanted: then no process is started.
/// Waits for somebody else who makes the same one. What was there stays until the new one is whole,
/// also when Nix fails or is interrupted; a failure is written down for whoever lists environments.
Result<Built> Build(const Settings& settings, const Wanted& wanted, const BuildOptions& options);

}  // namespace igloo::nix
