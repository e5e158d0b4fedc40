#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/log.h"
#include "cli/args.h"

namespace igloo::cli {

/// How a call can have ended: a run's verdicts, and 'error' for a call that led to no run.
inline constexpr std::string_view kLoggedVerdicts =
    "ok exit signal timeout memory processes disk output interrupted killed refused failed "
    "cancelled";

/// Which records 'igloo log' shows.
struct LogQuery {
  std::size_t limit = 20;
  audit::Time since = audit::Time::min();
  std::optional<std::string> environment = {};
  std::optional<std::string> client = {};  ///< with its version or without
  std::optional<std::string> verdict = {};

  bool Wants(const audit::Record& record) const;
};

/// "90s", "15m", "2h", "3d", "1w" before `now`, or a day, or a time of a day: "2026-01-31",
/// "2026-01-31 12:00", "2026-01-31T12:00:00Z". Without the Z it is local time.
Result<audit::Time> ParseSince(const std::string& text, audit::Time now);

Result<LogQuery> ReadLogQuery(const ParsedArgs& args, audit::Time now);

}  // namespace igloo::cli
