#include "attack_case.h"

namespace igloo::testing {
namespace {

Outcome RunControl(const Case& attack_case, const Scene& scene) {
  const auto& words =
      attack_case.control_attack.empty() ? attack_case.attack : attack_case.control_attack;
  switch (attack_case.control) {
    case Control::kHost:
      return AttackOnHost(scene, words);
    case Control::kHostAsUser:
      return AttackOnHostAsUser(scene, words);
    case Control::kOwnNamespaces:
      return AttackInOwnNamespaces(scene, words);
    case Control::kWeakened:
      return AttackBehind(Wall::kJail, scene, words, [&](sandbox::Policy& policy) {
        if (attack_case.shape != nullptr) attack_case.shape(policy);
        attack_case.weaken(policy);
      });
  }
  return {.status = -1, .err = "no such control"};
}

}  // namespace

TEST_P(Attack, IsHeld) {
  const auto& [attack_case, wall] = GetParam();
  const Scene scene;
  const Outcome behind = AttackBehind(wall, scene, attack_case.attack, attack_case.shape);
  EXPECT_EQ(behind.status, kHeld) << "the wall of " << Name(wall) << " did not hold (42), or the "
                                  << "attack did not run: " << behind.err << behind.out;
  EXPECT_TRUE(scene.VictimLives()) << "a process of the host died of it";
  const Outcome control = RunControl(attack_case, scene);
  EXPECT_EQ(control.status, kLeaked) << "control: this attack must be able to win: " << control.err;
}

}  // namespace igloo::testing
