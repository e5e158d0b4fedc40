#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"
#include "wall/walls.h"

namespace igloo::prove {

/// Exit codes of igloo-attack; any other one: the attack did not run.
inline constexpr int kLeaked = 42, kHeld = 7;

/// Where the same attack must win, so that a wall which held is known to have held something.
enum class Control {
  kHost,           ///< on the host, in the scene
  kHostAsUser,     ///< there, without root's rights
  kOwnNamespaces,  ///< as root of fresh namespaces: for what needs rights over a namespace
  kWeakened,       ///< behind the usual wall, with the one thing granted that `weaken` adds
};

/// How it is seen who won.
enum class Sign {
  kExitCode,    ///< igloo-attack says so
  kMemory,      ///< a wall that holds ends the sandbox for its memory
  kTime,        ///< likewise at its time limit; without the wall the attack goes on
  kLeftBehind,  ///< a process with the scene's marker is there when everything has ended
  kWatch,       ///< igloo-attack says so, when the host has used a file of the project meanwhile
};

using Change = void (*)(sandbox::Policy&);

/// One attack and its control.
struct Case {
  std::string name = {};  ///< "SecretByPath": of the test, and in reports
  std::string text = {};  ///< "read a secret file by its path": for people
  std::vector<std::string> attack = {};
  Control control = Control::kHost;
  /// The control's words where they differ: another path, or what an ordinary user may do at all.
  std::vector<std::string> control_attack = {};
  Change weaken = nullptr;
  /// Of attack and control: smaller limits, so that nothing large is needed to reach them; or the
  /// right whose bounds are attacked.
  Change shape = nullptr;
  Sign sign = Sign::kExitCode;
  /// Would disturb others in the same sandbox.
  bool alone = false;
  /// Promised only by walls that can do this; null: by all.
  bool wall::Capabilities::* needs = nullptr;
  /// Writes to a project as its owner.
  bool owns_project = false;
  std::string_view promise = {};  ///< the id of its row in Promises()
};

/// What SECURITY.md promises, as far as attacks of one sandbox can try it.
struct Promise {
  std::string_view id;    ///< "P1"
  std::string_view text;  ///< in plain words
};
std::span<const Promise> Promises();

// The tables, by what is attacked. Tests try each case behind every wall; `igloo doctor --prove`
// tries all of them on the machine on which it runs.
std::vector<Case> ReadingCases();
std::vector<Case> RootOnlyFileCases();
std::vector<Case> WritingCases();
std::vector<Case> PlantingCases();
std::vector<Case> ProcessCases();
std::vector<Case> WatchCases();
std::vector<Case> NetworkCases();
std::vector<Case> ProjectSocketCases();
std::vector<Case> InheritedCases();
std::vector<Case> CallerCases();
std::vector<Case> MountCases();
std::vector<Case> RightsCases();
std::vector<Case> KernelCases();
std::vector<Case> ResourceCases();
std::vector<Case> PlaceCases();
std::vector<Case> FileCountCases();
std::vector<Case> FloodCases();
std::vector<Case> CounterCases();
std::vector<Case> EndingCases();

/// All of them.
std::vector<Case> AllCases();

/// Each way to make a file set-uid.
std::vector<std::string> PlantingWays();

}  // namespace igloo::prove
