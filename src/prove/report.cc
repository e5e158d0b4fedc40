#include "prove/report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "prove/case.h"

namespace igloo::prove {

bool Row::Counts() const {
  return promised && behind.ending == Ending::kHeld && control.ending == Ending::kWon;
}

bool Row::NotRun() const {
  return promised && (behind.ending == Ending::kNotRun || control.ending == Ending::kNotRun);
}

std::size_t WallReport::Count(bool (Row::*is)() const) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [is](const Row& row) { return (row.*is)(); }));
}

std::vector<std::string> WallReport::Unproven() const {
  std::vector<std::string> unproven;
  for (const Promise& promise : Promises()) {
    const bool proven = std::ranges::any_of(
        rows, [&](const Row& row) { return row.promise == promise.id && row.Counts(); });
    if (!proven) unproven.emplace_back(promise.id);
  }
  return unproven;
}

bool WallReport::Stands() const {
  return !missing && Count(&Row::Leaked) == 0 && Count(&Row::NotRun) == 0 && Unproven().empty();
}

Machine LookAtMachine() {
  utsname names{};
  ::uname(&names);
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char time[32];
  const std::size_t size = std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {.host = names.nodename,
          .kernel = std::string(names.sysname) + " " + names.release + " " + names.version,
          .architecture = names.machine,
          .user = ::geteuid(),
          .igloo = IGLOO_VERSION,
          .time = std::string(time, size)};
}

bool Report::Good() const { return Strongest() != nullptr && Complaints().empty(); }

const WallReport* Report::Strongest() const {
  const WallReport* strongest = nullptr;
  const auto strength = [](const WallReport& wall) {
    return std::pair(wall.own_kernel, wall.Count(&Row::Counts));
  };
  for (const WallReport& wall : walls) {
    if (!wall.Stands()) continue;
    if (strongest == nullptr || strength(wall) > strength(*strongest)) strongest = &wall;
  }
  return strongest;
}

std::vector<std::string> Report::Complaints() const {
  std::vector<std::string> complaints;
  for (const WallReport& wall : walls) {
    if (wall.missing) {
      if (wall.wanted) complaints.push_back(wall.name + " cannot be built: " + wall.missing->what);
      continue;
    }
    for (const Row& row : wall.rows) {
      if (row.Leaked()) {
        complaints.push_back(wall.name + " leaked: " + row.text + " (" + row.name + ")");
      } else if (row.NotRun()) {
        const bool behind = row.behind.ending == Ending::kNotRun;
        complaints.push_back((behind ? wall.name + ": an attack" : "a control") +
                             " did not run: " + row.text + " (" + row.name +
                             "): " + (behind ? row.behind.said : row.control.said));
      }
    }
    for (const std::string& promise : wall.Unproven()) {
      complaints.push_back(wall.name + ": no attack on " + promise +
                           " counts as a proof on this machine");
    }
  }
  return complaints;
}

std::string_view Name(Ending ending) {
  switch (ending) {
    case Ending::kWon:
      return "won";
    case Ending::kHeld:
      return "held";
    case Ending::kNotRun:
      return "did not run";
  }
  return "?";
}

}  // namespace igloo::prove
