// P6: no capability, no way to one, no new namespace, native calls only.
#include "attack_case.h"

namespace igloo::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Mounts, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::MountCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Rights, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::RightsCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Kernel, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::KernelCases()), EveryWall()),
                         CaseName);

}  // namespace
}  // namespace igloo::testing
