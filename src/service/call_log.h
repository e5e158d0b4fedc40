#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "audit/journal.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "service/trace.h"

namespace igloo::service {

/// Writes a server's calls down, as its configuration wants it. What keeps it from that is said
/// once, and again when it had worked in between.
class CallLog {
 public:
  explicit CallLog(Log::Line say) : say_(std::move(say)) {}

  /// From now on.
  void Set(const config::AuditConfig& config);
  void Add(const Trace& trace);

 private:
  Log::Line say_;
  std::optional<audit::Journal> journal_ = {};
  std::optional<Error> nowhere_ = {};  ///< why there is no place for one, although it is asked for
  bool complained_ = false;
};

}  // namespace igloo::service
