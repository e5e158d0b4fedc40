#include "audit/record.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <limits>

#include "audit/fields.h"
#include "base/sha256.h"
#include "base/text.h"

namespace igloo::audit {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxError = 2000;
// A control character of the code is six characters of JSON.
static_assert(6 * kMaxCode + 4 * kMaxName + kMaxError + 2048 < kMaxLine);

/// Digits at `at` of `text`, or nullopt.
std::optional<int> Digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + count, value);
  if (error != std::errc() || end != text.data() + at + count || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string_view Cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (most > 0 && continues(most)) --most;
  return text.substr(0, most);
}

std::string Shown(std::string_view text, std::size_t most) {
  // Cut before, too: what is escaped is a few bytes of the text, and the rest may be megabytes.
  return std::string(Cut(Printable(Cut(text, most)), most));
}

std::optional<Time> ParseIso8601(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return std::nullopt;
  }
  const std::chrono::year_month_day day{
      std::chrono::year(*Digits(text, 0, 4)),
      std::chrono::month(static_cast<unsigned>(*Digits(text, 5, 2))),
      std::chrono::day(static_cast<unsigned>(*Digits(text, 8, 2)))};
  const int hours = *Digits(text, 11, 2), minutes = *Digits(text, 14, 2);
  const int seconds = *Digits(text, 17, 2);
  if (!day.ok() || hours > 23 || minutes > 59 || seconds > 60) return std::nullopt;
  return std::chrono::sys_days(day) + std::chrono::hours(hours) + std::chrono::minutes(minutes) +
         std::chrono::seconds(seconds) + milliseconds(*Digits(text, 20, 3));
}

Result<json::value> ParseLine(std::string_view line) {
  boost::system::error_code error;
  json::value value = json::parse(line, error);
  if (error) return Fail(Errc::kInvalidArgument, "it is not JSON: " + error.message());
  if (!value.is_object()) return Fail(Errc::kInvalidArgument, "it is not an object");
  return value;
}

void Record::Describe(std::string_view program) {
  code_sha256 = Sha256Hex(program);
  code_bytes = program.size();
  code = std::string(Cut(program, kMaxCode));
}

std::string Iso8601(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string Encode(const Record& record) {
  json::object line;
  const auto text = [&](std::string_view name, std::string_view value, std::size_t most) {
    if (!value.empty()) line[name] = Shown(value, most);
  };
  line["time"] = Iso8601(record.time);
  text("tool", record.tool, kMaxName);
  text("client", record.client, kMaxName);
  text("environment", record.environment, kMaxName);
  text("session", record.session, kMaxName);
  text("verdict", record.verdict, kMaxName);
  if (record.exit_code) line["exit_code"] = *record.exit_code;
  line["duration_ms"] = record.duration_ms;
  line["queued_ms"] = record.queued_ms;
  if (record.cpu_ms) line["cpu_ms"] = *record.cpu_ms;
  if (record.peak_memory_bytes) line["peak_memory_bytes"] = *record.peak_memory_bytes;
  line["output_bytes"] = record.output_bytes;
  line["code_bytes"] = record.code_bytes;
  text("code_sha256", record.code_sha256, kMaxName);
  // Not shown as it is anywhere: what was run has to be read as it was.
  if (record.code) line["code"] = ToUtf8(Cut(*record.code, kMaxCode));
  text("error", record.error, kMaxError);
  return json::serialize(line) + "\n";
}

Result<Record> Decode(std::string_view line) {
  IGLOO_ASSIGN(const json::value value, ParseLine(line));
  Record record;
  Fields fields(value.get_object());
  fields.Text("tool", record.tool);
  fields.Text("client", record.client);
  fields.Text("environment", record.environment);
  fields.Text("session", record.session);
  fields.Text("verdict", record.verdict);
  fields.Optional("exit_code", record.exit_code);
  fields.Number("duration_ms", record.duration_ms);
  fields.Number("queued_ms", record.queued_ms);
  fields.Optional("cpu_ms", record.cpu_ms);
  fields.Optional("peak_memory_bytes", record.peak_memory_bytes);
  fields.Number("output_bytes", record.output_bytes);
  fields.Number("code_bytes", record.code_bytes);
  fields.Text("code_sha256", record.code_sha256);
  fields.Optional("code", record.code);
  fields.Text("error", record.error);
  record.time = fields.When();
  IGLOO_TRY(fields.Finish());
  return record;
}

}  // namespace igloo::audit
