#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "base/log.h"
#include "wall/walls.h"

namespace igloo::backend {

/// What a backend is made with.
struct Options {
  Programs programs = {};
  Mode mode = Mode::kCold;
  bool timeline = false;  ///< stamps in Sandbox::timeline, where the wall can
  /// Hears when sandboxes get weaker than was said before, a sentence each.
  Log::Line note = {};
};

/// How the backend of one wall is made.
struct Factory {
  std::string_view wall;  ///< the name of its row in wall/walls.h
  Result<std::unique_ptr<Backend>> (*make)(Options options);
  /// A plan as the command that stands for it; null: there is none.
  Result<std::string> (*show)(const sandbox::Plan& plan, const Programs& programs) = nullptr;
};

/// One for each wall that is served. Tests bring lists of their own.
std::span<const Factory> Factories();

/// Fails for a wall that is not served, or that this machine lacks the programs for. Nothing is
/// started.
Result<std::unique_ptr<Backend>> Make(const wall::Wall& wall, Options options,
                                      std::span<const Factory> factories = Factories());

/// A plan as the command of a wall that has `shown_as`.
Result<std::string> Show(const wall::Wall& wall, const sandbox::Plan& plan,
                         const Programs& programs);

}  // namespace igloo::backend
