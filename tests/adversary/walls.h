#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"
#include "scene.h"
#include "support/igloo.h"

namespace igloo::testing {

enum class Wall {
  kJail,      ///< built anew for every run, as `igloo run` does
  kPrepared,  ///< the same launcher standing on a prepared environment, as servers do
  kRestored,  ///< there, too: a Python that was restored from a checkpoint becomes the program
  kWatched,   ///< the jail, with igloo-init hearing of refused calls and of files, as with --learn
  kBubblewrap,
};
std::string Name(Wall wall);
inline void PrintTo(Wall wall, std::ostream* out) { *out << Name(wall); }

/// Changes the policy of a run: what a control takes away, or what a test grants.
using Change = std::function<void(sandbox::Policy&)>;

/// The policy that `igloo run --env shell --project DIR -- argv` would make for the scene's
/// project.
sandbox::Policy PolicyFor(Wall wall, const Scene& scene, std::vector<std::string> argv);

/// Starts a plan as igloo does and waits for its end; a sandbox that igloo refused is status -1
/// with the reason in `err`.
Outcome RunPlan(Wall wall, const sandbox::Plan& plan);

/// igloo-attack WORDS behind the wall, in this process: this test program is igloo.
Outcome AttackBehind(Wall wall, const Scene& scene, std::vector<std::string> words,
                     const Change& change = {});

/// igloo-attack WORDS on the host, with all that the scene offers.
Outcome AttackOnHost(const Scene& scene, std::vector<std::string> words);
/// The same as a user without any rights, also when the tests run as root.
Outcome AttackOnHostAsUser(const Scene& scene, std::vector<std::string> words);
/// The same as root of fresh namespaces (attacks/control.cc).
Outcome AttackInOwnNamespaces(const Scene& scene, std::vector<std::string> words);

/// Arguments of the real `igloo` for the same attack. The program travels as text in shell code:
/// the one way that works for both walls, also for root.
std::vector<std::string> IglooArguments(Wall wall, const Scene& scene,
                                        const std::vector<std::string>& words);

/// How many processes of the host have `marker` as a word of their command line.
int CountProcesses(const std::string& marker);
/// Ends exactly those: what a control left behind.
void EndProcesses(const std::string& marker);

}  // namespace igloo::testing
