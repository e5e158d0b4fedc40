#include "cli/log/log_query.h"

#include <charconv>
#include <ctime>

#include "base/text.h"
#include "config/schema.h"

namespace igloo::cli {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMostRecords = 1'000'000;
constexpr const char* kSinceHint =
    "write how long ago, as 90s, 15m, 2h, 3d or 1w, or a time, as 2026-01-31 or "
    "'2026-01-31 12:00'";

std::optional<seconds> ParseDuration(std::string_view text) {
  constexpr int kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  unsigned count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end + 1 != text.data() + text.size() || count > 100'000'000) {
    return std::nullopt;
  }
  switch (*end) {
    case 's':
      return seconds(count);
    case 'm':
      return seconds(count) * kMinute;
    case 'h':
      return seconds(count) * kHour;
    case 'd':
      return seconds(count) * kDay;
    case 'w':
      return seconds(count) * 7 * kDay;
    default:
      return std::nullopt;
  }
}

std::optional<audit::Time> ParseMoment(std::string text) {
  const bool utc = text.ends_with('Z');
  if (utc) text.pop_back();
  constexpr const char* kForms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
                                    "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
  for (const char* form : kForms) {
    std::tm parts{};
    const char* end = ::strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    parts.tm_isdst = -1;
    const int day = parts.tm_mday;
    const std::time_t time = utc ? ::timegm(&parts) : ::mktime(&parts);
    // The 30th of February would quietly be a day in March.
    if (parts.tm_mday != day) return std::nullopt;
    return audit::Time(seconds(time));
  }
  return std::nullopt;
}

Result<std::size_t> ParseLimit(const std::string& text) {
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit > kMostRecords) {
    return Fail(Errc::kInvalidArgument,
                "'--limit " + Printable(text) + "' is not a number of calls",
                "write a whole number up to 1000000, for example --limit 100");
  }
  return limit;
}

Result<void> CheckVerdict(const std::string& verdict) {
  const auto known = config::Words(kLoggedVerdicts);
  std::string list;
  for (const std::string_view each : known) {
    if (each == verdict) return {};
    list += (list.empty() ? "choose one of " : ", ") + std::string(each);
  }
  const std::string nearest = Nearest(verdict, known.data(), known.size());
  return Fail(Errc::kInvalidArgument, "there is no verdict '" + Printable(verdict) + "'",
              nearest.empty() ? list : "did you mean '" + nearest + "'?");
}

}  // namespace

bool LogQuery::Wants(const audit::Record& record) const {
  const auto is_client = [&](const std::string& name) {
    return record.client.starts_with(name) &&
           (record.client.size() == name.size() || record.client[name.size()] == ' ');
  };
  return record.time >= since && (!environment || record.environment == *environment) &&
         (!client || is_client(*client)) && (!verdict || record.verdict == *verdict);
}

Result<audit::Time> ParseSince(const std::string& text, audit::Time now) {
  if (const auto duration = ParseDuration(text)) return now - *duration;
  if (const auto moment = ParseMoment(text)) return *moment;
  return Fail(Errc::kInvalidArgument, "'--since " + Printable(text) + "' is not a time",
              kSinceHint);
}

Result<LogQuery> ReadLogQuery(const ParsedArgs& args, audit::Time now) {
  LogQuery query;
  if (const auto limit = args.Get("--limit")) {
    IGLOO_ASSIGN(query.limit, ParseLimit(*limit));
  }
  if (const auto since = args.Get("--since")) {
    IGLOO_ASSIGN(query.since, ParseSince(*since, now));
  }
  query.environment = args.Get("--env");
  query.client = args.Get("--client");
  query.verdict = args.Get("--verdict");
  if (query.verdict) IGLOO_TRY(CheckVerdict(*query.verdict));
  for (const std::string_view name : {"--env", "--client"}) {
    if (args.Get(name) != "") continue;
    return Fail(Errc::kInvalidArgument, "'" + std::string(name) + "' needs a name",
                "leave it out to see all");
  }
  return query;
}

}  // namespace igloo::cli
