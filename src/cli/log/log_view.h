#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "audit/log.h"
#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// Which lines of which log are shown, and how.
struct LogView {
  std::string_view file = audit::kCallsFile;
  std::size_t limit = 20;
  audit::Time since = audit::Time::min();
  /// What is shown of a line; nothing: somebody asked for others. An error says why it is no
  /// record.
  std::function<Result<std::optional<std::string>>(const std::string& line)> show = {};
  std::string_view empty = {};   ///< a note when there is no log
  std::string_view others = {};  ///< and when no line is as asked for
};

/// Shows the last lines of a log in the state directory, and with --follow those that come, until
/// nobody reads them or a signal ends igloo.
Result<void> ShowLog(const ParsedArgs& args, const LogView& view, Console& console);

}  // namespace igloo::cli
