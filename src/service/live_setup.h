#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "service/setup.h"

namespace igloo::service {

/// The setup that counts, until it is read again. Calls under way keep the one that they began
/// with. One thread.
class LiveSetup {
 public:
  /// Reads the configuration and looks what this machine has; slow enough to be done only when
  /// somebody asks.
  using Load = std::function<Result<std::shared_ptr<const Setup>>()>;

  explicit LiveSetup(Load load) : load_(std::move(load)) {}

  /// Loads at the first need. An error while there has been no good one: it is not tried again
  /// before Reload.
  const Result<std::shared_ptr<const Setup>>& Current();
  /// The same; one that offers nothing in the place of an error.
  std::shared_ptr<const Setup> CurrentOrNothing();
  /// Reads it again. One that is broken changes nothing: the previous one stays.
  Result<void> Reload();

 private:
  Load load_;
  std::optional<Result<std::shared_ptr<const Setup>>> current_ = {};
};

}  // namespace igloo::service
