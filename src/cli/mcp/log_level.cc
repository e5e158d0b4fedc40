#include "cli/mcp/log_level.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace igloo::cli {
namespace {

struct Name {
  std::string_view word;
  LogLevel level;
};
constexpr Name kNames[] = {{"off", LogLevel::kOff},     {"error", LogLevel::kError},
                           {"warn", LogLevel::kWarn},   {"info", LogLevel::kInfo},
                           {"debug", LogLevel::kDebug}, {"trace", LogLevel::kTrace}};

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<LogLevel> FindLogLevel(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto found = std::ranges::find(kNames, lower, &Name::word);
  if (found == std::end(kNames)) return std::nullopt;
  return found->level;
}

std::optional<LogLevel> FilterLevel(std::string_view filter, std::string_view program) {
  std::optional<LogLevel> everybody, its_own;
  while (!filter.empty()) {
    const std::string_view directive = Trimmed(filter.substr(0, filter.find(',')));
    filter.remove_prefix(std::min(filter.size(), filter.find(',')));
    if (!filter.empty()) filter.remove_prefix(1);
    const std::size_t equals = directive.find('=');
    if (equals == std::string_view::npos) {
      if (const auto level = FindLogLevel(directive)) {
        everybody = level;
      } else if (directive == program) {
        its_own = LogLevel::kTrace;  // a name alone: all that it says
      }
      continue;
    }
    const std::string_view target = Trimmed(directive.substr(0, equals));
    const auto level = FindLogLevel(Trimmed(directive.substr(equals + 1)));
    if (level && target == program) its_own = level;
  }
  return its_own ? its_own : everybody;
}

LogLevel WantedLevel(const config::DaemonConfig& daemon) {
  return FindLogLevel(daemon.log_level).value_or(LogLevel::kInfo);
}

}  // namespace igloo::cli
