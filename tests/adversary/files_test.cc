// P1 and P2: no host file is read or changed but what was mounted for it.
#include "attack_case.h"

namespace igloo::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Reading, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::ReadingCases()),
                                            EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(RootsFiles, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::RootOnlyFileCases()),
                                            EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Writing, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::WritingCases()),
                                            EveryWall()),
                         CaseName);

}  // namespace
}  // namespace igloo::testing
