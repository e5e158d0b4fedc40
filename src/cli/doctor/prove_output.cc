#include "cli/doctor/prove_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "prove/case.h"
#include "wall/walls.h"

namespace igloo::cli {
namespace {

using prove::Attempt;
using prove::Ending;
using prove::Row;
using prove::WallReport;
using Tone = Console::Tone;

/// Padded before it is painted: colours have a width, too.
std::string Cell(const Console& console, Tone tone, std::string_view text, std::size_t width) {
  return console.Paint(tone, fmt::format("{:<{}}", text, width));
}

std::string ControlCell(const Console& console, const Row& row) {
  constexpr std::size_t kWidth = 16;
  switch (row.control.ending) {
    case Ending::kWon:
      return Cell(console, Tone::kDim, "won", kWidth);
    case Ending::kHeld:
      return Cell(console, Tone::kWarn, "cannot win here", kWidth);
    case Ending::kNotRun:
      break;
  }
  return Cell(console, Tone::kBad, "DID NOT RUN", kWidth);
}

/// `last`: nothing stands behind it.
std::string BehindCell(const Console& console, const Row& row, bool last) {
  const std::size_t width = last ? 0 : 11;
  if (!row.promised) return Cell(console, Tone::kWarn, "no promise", width);
  switch (row.behind.ending) {
    case Ending::kWon:
      return Cell(console, Tone::kBad, "LEAKED", width);
    case Ending::kHeld:
      return Cell(console, Tone::kGood, "held", width);
    case Ending::kNotRun:
      break;
  }
  return Cell(console, Tone::kBad, "DID NOT RUN", width);
}

void PrintLine(std::string_view text, std::string_view control, std::string_view behind,
               std::string_view why, Console& console) {
  console.Out(
      fmt::format("  {:<70} {} {}{}{}\n", text, control, behind, why.empty() ? "" : "  ", why));
}

/// Said of a row that is no proof.
std::string WhyNoProof(const Row& row) {
  if (row.Counts()) return {};
  const bool of_the_wall = !row.promised || row.behind.ending != Ending::kHeld;
  return Printable(of_the_wall ? row.behind.said : row.control.said);
}

void PrintRows(const WallReport& wall, Console& console) {
  for (const prove::Promise& promise : prove::Promises()) {
    console.Out(fmt::format("\n{} code {}\n", promise.id, promise.text));
    PrintLine("attack", Cell(console, Tone::kBold, "without a wall", 16),
              console.Paint(Tone::kBold, "behind it"), "", console);
    for (const Row& row : wall.rows) {
      if (row.promise != promise.id) continue;
      const std::string why = WhyNoProof(row);
      PrintLine(row.text, ControlCell(console, row), BehindCell(console, row, why.empty()), why,
                console);
    }
  }
}

void PrintWall(const WallReport& wall, Console& console) {
  console.Out(fmt::format("\n{}: {}\n", console.Paint(Tone::kBold, wall.name), wall.description));
  if (!wall.caveat.empty()) console.Out("weaker: " + wall.caveat + "\n");
  if (wall.missing) {
    console.Out(fmt::format("{} {}\n", console.Paint(Tone::kWarn, "cannot be built here:"),
                            Printable(wall.missing->what)));
    if (!wall.missing->hint.empty()) console.Out("  fix: " + wall.missing->hint + "\n");
    return;
  }
  PrintRows(wall, console);
  const std::size_t counts = wall.Count(&Row::Counts);
  console.Out(fmt::format(
      "\n{}: {} attacks, {} of them prove something here, {} leaked, {} did "
      "not run. {}\n",
      wall.name, wall.rows.size(), counts, wall.Count(&Row::Leaked), wall.Count(&Row::NotRun),
      wall.Stands() ? console.Paint(Tone::kGood, "It stands.")
                    : console.Paint(Tone::kBad, "It is not proven.")));
}

void PrintRecommendation(const prove::Report& report, bool one, Console& console) {
  const WallReport* const strongest = report.Strongest();
  if (strongest == nullptr) {
    console.Out("No wall is proven on this machine. igloo does not replace one by a weaker one.\n");
    return;
  }
  const std::string& name = strongest->name;
  if (one) {
    console.Out(
        fmt::format("{} stands. Without --backend, all walls are tried and compared.\n", name));
    return;
  }
  console.Out(fmt::format("The strongest wall that works here: {}. ", name));
  if (name == wall::kDefault.name) {
    console.Out("igloo uses it unless you name another one.\n");
    return;
  }
  console.Out(
      fmt::format("To use it: --backend {}, or backend = \"{}\" in [defaults] of the "
                  "configuration.\nUnless you name it, igloo uses {}: it never changes the "
                  "wall by itself.\n",
                  name, name, wall::kDefault.name));
}

}  // namespace

void PrintReport(const prove::Report& report, bool one, Console& console) {
  const prove::Machine& machine = report.machine;
  console.Out(fmt::format("igloo {} on {}, {}, {}, started by {} at {}\n", machine.igloo,
                          Printable(machine.host), Printable(machine.kernel), machine.architecture,
                          machine.user == 0 ? "root" : fmt::format("user {}", machine.user),
                          machine.time));
  for (const WallReport& each : report.walls) PrintWall(each, console);
  const std::vector<std::string> complaints = report.Complaints();
  console.Out("\n");
  for (const std::string& each : complaints) {
    console.Out(fmt::format("{} {}\n", console.Paint(Tone::kBad, "problem:"), Printable(each)));
  }
  PrintRecommendation(report, one, console);
}

}  // namespace igloo::cli
