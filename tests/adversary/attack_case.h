#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "sandbox/policy.h"
#include "walls.h"

namespace igloo::testing {

/// Exit codes of igloo-attack; any other one: the attack did not run.
inline constexpr int kLeaked = 42, kHeld = 7;

/// Where the same attack must win, so that a wall which held is known to have held something.
enum class Control {
  kHost,           ///< on the host, in the scene
  kHostAsUser,     ///< there, without root's rights
  kOwnNamespaces,  ///< as root of fresh namespaces: for what needs rights over a namespace
  kWeakened,       ///< behind the jail, with the one thing granted that `weaken` adds
};

/// One attack and its control.
struct Case {
  std::string name = {};  ///< of the test
  std::vector<std::string> attack = {};
  Control control = Control::kHost;
  /// The control's words where they differ: another path, or what an ordinary user may do at all.
  std::vector<std::string> control_attack = {};
  void (*weaken)(sandbox::Policy&) = nullptr;
};

inline void PrintTo(const Case& attack_case, std::ostream* out) { *out << attack_case.name; }

/// Instantiated by each family with its cases; the one test is in attack_test.cc.
class Attack : public ::testing::TestWithParam<std::tuple<Case, Wall>> {};

inline std::string CaseName(const ::testing::TestParamInfo<std::tuple<Case, Wall>>& info) {
  return std::get<0>(info.param).name + "_" + Name(std::get<1>(info.param));
}

inline std::string WallName(const ::testing::TestParamInfo<Wall>& info) { return Name(info.param); }

inline auto EveryWall() {
  return ::testing::Values(Wall::kJail, Wall::kPrepared, Wall::kRestored, Wall::kWatched,
                           Wall::kBubblewrap);
}
/// Those that the program `igloo` offers by name.
inline auto EveryBackend() { return ::testing::Values(Wall::kJail, Wall::kBubblewrap); }

}  // namespace igloo::testing
