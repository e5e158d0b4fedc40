#pragma once

#include <memory>

#include "backend/registry.h"
#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// The backend of one command. Which one it is stands in the configuration, and what the likely one
/// needs may start before that is read.
class Wall {
 public:
  /// `timing`: it is to say where start-ups spend their time.
  Wall(backend::Programs programs, bool timing) : programs_(std::move(programs)), timing_(timing) {}

  /// Starts what gets ready while the caller reads and plans, if this wall has such a thing.
  Result<void> Warm(const wall::Wall& likely);

  /// The backend itself; says so when it is one that can do less.
  /// `kernel`: of virtual machines; empty: one of the host's. The console outlives the backend.
  Result<backend::Backend*> Choose(const wall::Wall& wall, const std::string& kernel,
                                   Console& console);

 private:
  Result<void> Make(const wall::Wall& wall, Log::Line note = {});

  backend::Programs programs_;
  bool timing_;
  const wall::Wall* made_ = nullptr;
  std::unique_ptr<backend::Backend> backend_ = {};
};

/// --backend, of every command that begins a sandbox.
inline constexpr Flag kBackendFlag = {"--backend", "NAME", wall::kOptionText, Values::kChoices,
                                      wall::kServedNames};

}  // namespace igloo::cli
