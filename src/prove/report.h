#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wall/walls.h"

namespace igloo::prove {

/// What an attack came to.
enum class Ending {
  kWon,
  kHeld,    ///< it ran, and did not get what it wanted
  kNotRun,  ///< so it proves nothing
};

struct Attempt {
  Ending ending = Ending::kNotRun;
  std::string said = {};  ///< by the attack, or by whoever could not start it; one line
};

/// One attack on one wall, and its control without a wall.
struct Row {
  std::string name = {}, promise = {}, text = {};
  Attempt control = {}, behind = {};
  /// The wall does not promise this, or it cannot be seen from here; `behind.said` tells why.
  bool promised = true;

  /// The wall held something that could have been had: this machine's kernel let the control win.
  bool Counts() const;
  bool Leaked() const { return promised && behind.ending == Ending::kWon; }
  /// The attack or its control did not run.
  bool NotRun() const;
};

struct WallReport {
  std::string name = {}, description = {}, caveat = {};
  bool own_kernel = false;
  bool wanted = false;                ///< named by the user, or the one that counts by default
  std::optional<Error> missing = {};  ///< it cannot be built here: no attack was tried
  std::vector<Row> rows = {};

  std::size_t Count(bool (Row::*is)() const) const;
  /// Ids of promises of which no row counts.
  std::vector<std::string> Unproven() const;
  /// Nothing leaked, everything ran, and each promise has an attack that counts.
  bool Stands() const;
};

/// Where and when.
struct Machine {
  std::string host = {}, kernel = {}, architecture = {};
  std::uint32_t user = 0;
  std::string igloo = {};  ///< its version
  std::string time = {};   ///< of the begin, in UTC: "2026-01-31T12:00:00Z"
};
Machine LookAtMachine();

struct Report {
  Machine machine = {};
  std::vector<WallReport> walls = {};

  /// Every wall that was tried stands, and every one that was wanted could be tried.
  bool Good() const;
  /// The strongest that stands: first one with a kernel of its own, then the one with the most
  /// attacks that count, then the one that igloo lists first. Null: none stands.
  const WallReport* Strongest() const;
  /// What stands in the way of Good(), a sentence each.
  std::vector<std::string> Complaints() const;
};

/// The report as one JSON document, with a line feed.
std::string ToJson(const Report& report);

std::string_view Name(Ending ending);

}  // namespace igloo::prove
