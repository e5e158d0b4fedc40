#pragma once

#include <memory>

#include "backend/jail/jail.h"
#include "cli/console.h"
#include "config/config.h"

namespace igloo::cli {

/// The backend of one command. Which one it is stands in the configuration, and the launcher of the
/// usual one starts before that is read.
class Wall {
 public:
  explicit Wall(backend::jail::Programs programs)
      : programs_(programs), jail_(std::move(programs), backend::jail::Mode::kCold) {}

  /// Starts the jail's launcher, which gets ready while the caller reads and plans.
  Result<void> Warm(bool timing) {
    jail_.set_timeline(timing);
    return jail_.Warm();
  }

  /// The backend itself; says so when it is one that can do less.
  Result<backend::Backend*> Choose(config::Backend kind, Console& console);

 private:
  backend::jail::Programs programs_;
  backend::jail::JailBackend jail_;
  std::unique_ptr<backend::Backend> other_ = {};
};

}  // namespace igloo::cli
