// P4: no network, no loopback of the host, no socket of the host, unless granted.
#include "attack_case.h"

namespace igloo::testing {
namespace {

void GrantNetwork(sandbox::Policy& policy) {
  policy.network = sandbox::HostNetwork("a test of what the grant does not give");
}

INSTANTIATE_TEST_SUITE_P(Network, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::NetworkCases()),
                                            EveryWall()),
                         CaseName);

class ProjectSocket : public ::testing::TestWithParam<Wall> {};

/// A read-only mount lets connect() through; the jail shows a view of the project, in which a
/// socket is only a name. Bubblewrap has no views: there the attack is the control, and igloo says
/// so when bubblewrap is chosen (Run.SaysWhatBubblewrapCannotDo).
TEST_P(ProjectSocket, IsOnlyAName) {
  const Scene scene;
  const std::vector<std::string> words = {"connect-path", "{project}/socket"};
  EXPECT_EQ(AttackOnHost(scene, words).status, kLeaked) << "control: somebody listens there";
  EXPECT_EQ(AttackBehind(GetParam(), scene, words).status,
            GetParam() == Wall::kBubblewrap ? kLeaked : kHeld);
}

INSTANTIATE_TEST_SUITE_P(Walls, ProjectSocket, EveryWall(), WallName);

class Grant : public ::testing::TestWithParam<Wall> {};

/// Landlock's scope holds what a network namespace no longer does.
TEST_P(Grant, OfTheNetworkDoesNotGiveAbstractSockets) {
  const Scene scene;
  EXPECT_EQ(AttackBehind(GetParam(), scene, {"connect-tcp", "{port}"}, GrantNetwork).status,
            kLeaked)
      << "control: the grant must be in force";
  const Outcome behind =
      AttackBehind(GetParam(), scene, {"connect-abstract", "{id}"}, GrantNetwork);
  EXPECT_EQ(behind.status, kHeld) << behind.err;
  EXPECT_EQ(AttackOnHost(scene, {"connect-abstract", "{id}"}).status, kLeaked);
}

TEST_P(Grant, OfTheNetworkDoesNotGiveOtherFamilies) {
  const Scene scene;
  const std::vector<std::string> vsock = {"open-socket", "40", "1", "0"};
  const Outcome behind = AttackBehind(GetParam(), scene, vsock, GrantNetwork);
  EXPECT_EQ(behind.status, kHeld) << behind.err;
  EXPECT_EQ(AttackOnHost(scene, vsock).status, kLeaked);
}

INSTANTIATE_TEST_SUITE_P(Walls, Grant, EveryWall(), WallName);

}  // namespace
}  // namespace igloo::testing
