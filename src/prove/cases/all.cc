#include <algorithm>
#include <iterator>

#include "prove/case.h"

namespace igloo::prove {
namespace {

constexpr Promise kPromises[] = {
    {"P1", "reads no file of the host but what it is shown"},
    {"P2", "changes no file of the host"},
    {"P3", "sees, signals and traces no process of the host"},
    {"P4", "has no network, and no socket of the host, unless granted"},
    {"P5", "inherits nothing: descriptors, variables, keys, signals, shared memory"},
    {"P6", "has no privilege, no way to one, no namespace, only filtered system calls"},
    {"P7", "uses no more memory, space, processes and time than its limits"},
    {"P8", "leaves no process behind when it has ended"},
};

struct Table {
  std::string_view promise;
  std::vector<Case> (*cases)();
};
constexpr Table kTables[] = {
    {"P1", ReadingCases},   {"P1", RootOnlyFileCases},  {"P2", WritingCases},
    {"P2", PlantingCases},  {"P3", ProcessCases},       {"P3", WatchCases},
    {"P4", NetworkCases},   {"P4", ProjectSocketCases}, {"P5", InheritedCases},
    {"P5", CallerCases},    {"P6", MountCases},         {"P6", RightsCases},
    {"P6", KernelCases},    {"P7", ResourceCases},      {"P7", PlaceCases},
    {"P7", FileCountCases}, {"P7", FloodCases},         {"P7", CounterCases},
    {"P8", EndingCases},
};

}  // namespace

std::span<const Promise> Promises() { return kPromises; }

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (const Table& table : kTables) {
    std::vector<Case> cases = table.cases();
    for (Case& each : cases) each.promise = table.promise;
    std::ranges::move(cases, std::back_inserter(all));
  }
  return all;
}

}  // namespace igloo::prove
