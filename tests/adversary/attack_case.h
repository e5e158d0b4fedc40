#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "prove/case.h"
#include "sandbox/policy.h"
#include "walls.h"

namespace igloo::prove {

inline void PrintTo(const Case& attack_case, std::ostream* out) { *out << attack_case.name; }

}  // namespace igloo::prove

namespace igloo::testing {

using prove::Case;
using prove::Control;
using prove::kHeld;
using prove::kLeaked;

/// Instantiated by each family with the cases of `igloo doctor --prove` and more of its own; the
/// one test is in attack_test.cc.
class Attack : public ::testing::TestWithParam<std::tuple<Case, Wall>> {};

inline std::string CaseName(const ::testing::TestParamInfo<std::tuple<Case, Wall>>& info) {
  return std::get<0>(info.param).name + "_" + Name(std::get<1>(info.param));
}

inline std::string WallName(const ::testing::TestParamInfo<Wall>& info) { return Name(info.param); }

inline auto EveryWall() {
  return ::testing::ValuesIn(WithContainer(
      {Wall::kJail, Wall::kPrepared, Wall::kRestored, Wall::kWatched, Wall::kBubblewrap}));
}
/// Those that the program `igloo` offers by name.
inline auto EveryBackend() {
  return ::testing::ValuesIn(WithContainer({Wall::kJail, Wall::kBubblewrap}));
}

}  // namespace igloo::testing
