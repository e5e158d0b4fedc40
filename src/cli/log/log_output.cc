#include "cli/log/log_output.h"

#include <fmt/format.h>

#include <ctime>

#include "base/text.h"

namespace igloo::cli {
namespace {

std::string LocalTime(audit::Time time) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return audit::Iso8601(time);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string Duration(std::uint64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  return fmt::format("{} m {} s", ms / 60'000, ms / 1000 % 60);
}

std::string Size(std::optional<std::uint64_t> bytes) {
  if (!bytes) return "-";
  const auto size = static_cast<double>(*bytes);
  constexpr double kKilobyte = 1024, kMegabyte = 1024 * kKilobyte;
  if (size < kKilobyte) return fmt::format("{} B", *bytes);
  if (size < kMegabyte) return fmt::format("{:.0f} KB", size / kKilobyte);
  return fmt::format("{:.0f} MB", size / kMegabyte);
}

std::string Shown(const std::string& text) { return text.empty() ? "-" : Printable(text); }

std::string Ending(const audit::Record& record) {
  if (record.verdict != "exit" || !record.exit_code) return Shown(record.verdict);
  return fmt::format("exit {}", *record.exit_code);
}

}  // namespace

std::string LogLine(const audit::Record& record, const Console& console) {
  using enum Console::Tone;
  constexpr std::size_t kDigits = 12;
  const std::string digest = Shown(record.code_sha256.substr(0, kDigits));
  std::string line =
      console.Paint(kDim, LocalTime(record.time)) + "  " +
      console.Paint(record.verdict == "ok" ? kGood : kBad, fmt::format("{:<11}", Ending(record))) +
      fmt::format("  {:<14}  {:>9}  {:>7}  ", Shown(record.environment),
                  Duration(record.duration_ms), Size(record.peak_memory_bytes)) +
      console.Paint(kDim, fmt::format("{:<12}", digest)) +
      fmt::format("  {:<8}  {}", Shown(record.tool), Shown(record.client));
  if (!record.session.empty()) line += fmt::format("  session {}", Printable(record.session));
  if (!record.error.empty()) line += "  " + console.Paint(kWarn, Printable(record.error));
  return line + "\n";
}

std::string GrantLine(const audit::GrantUse& use, const Console& console) {
  using enum Console::Tone;
  return console.Paint(kDim, LocalTime(use.time)) + "  " +
         console.Paint(use.event == "signed" ? kGood : kBad,
                       fmt::format("{:<8}", Shown(use.event))) +
         fmt::format("  {:<14}  {:<11}  {}\n", Shown(use.box), Shown(use.grant), Shown(use.what));
}

std::string DecisionLine(const network::Record& record, const Console& console) {
  using enum Console::Tone;
  using Event = network::Record::Event;
  const bool refused = record.event == Event::kRefused;
  const bool suspect = record.event == Event::kReturned || record.event == Event::kUnsearched;
  std::string what = record.method.empty() ? "" : Printable(record.method) + " ";
  const bool device = record.protocol == network::Record::Protocol::kDevice;
  what += Shown(record.host);
  if (!device && !record.host.empty())
    what += fmt::format(":{}", record.port) + Printable(record.path);
  std::string line =
      console.Paint(kDim, LocalTime(audit::Time(std::chrono::milliseconds(record.time_ms)))) +
      "  " +
      console.Paint(refused || suspect ? kBad : kGood, fmt::format("{:<7}", ToText(record.event))) +
      fmt::format("  {:<14}  {:<7}  {}", Shown(record.sandbox), ToText(record.protocol), what);
  if (!record.address.empty() && record.address != record.host) {
    line += " at " + Printable(record.address);
  }
  if (refused) {
    line += "  " + console.Paint(kWarn, Printable(record.refusal));
    if (!record.remedy.empty()) line += "; allowed by: " + Printable(record.remedy);
  } else if (!record.rule.empty()) {
    line += console.Paint(kDim, "  by " + Printable(record.rule));
  }
  for (const std::string& each : record.secrets) line += "  secret " + Printable(each);
  if (record.event == Event::kEnded && !device) {
    line += fmt::format("  {} out, {} in", Size(record.bytes_out), Size(record.bytes_in));
  }
  if (record.lost != 0) line += fmt::format("  ({} before it were lost)", record.lost);
  return line + "\n";
}

}  // namespace igloo::cli
