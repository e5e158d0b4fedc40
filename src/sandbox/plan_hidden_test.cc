// What is hidden in a tree of the host, as steps of a plan.

#include <gmock/gmock.h>

#include "sandbox/testing.h"

namespace igloo::sandbox {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): of the tests of plans
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Hidden kFile{.path = "a/.env", .fact = kRegular, .why = "passwords"};
const Hidden kDirectoryHidden{.path = "keys", .fact = kDirectory, .why = "keys"};
const Hidden kCopied{
    .path = ".git/config", .fact = kRegular, .why = "reads without", .instead = "[core]\n"};

step::Hide HideOf(const Hidden& hidden, std::string cover, bool view) {
  return {.tree = "/p",
          .target = "/p/" + hidden.path,
          .cover = std::move(cover),
          .fact = hidden.fact,
          .view = view,
          .why = hidden.why};
}

TEST(PlanHidden, NamesAreCoveredDirectlyBehindTheirTree) {
  const Policy policy = PolicyWith(
      {}, {HostTree{.source = "/host/dir", .target = "/p", .hidden = {kFile, kDirectoryHidden}},
           OverlayTree{.source = "/host/other", .target = "/q"}});
  const Plan plan = PlanOf(policy);
  EXPECT_THAT(
      RunMiddle(plan),
      ElementsAre(
          Step{BindOf("/host/dir", "/p")}, Step{HideOf(kFile, "/.igloo/hidden", false)},
          Step{HideOf(kDirectoryHidden, "/.igloo/closed", false)},
          Step{step::Overlay{.source = "/host/other", .target = "/q", .fact = kDirectory}}));
  // Nobody has a right to either, and both are in the root, which is read-only.
  EXPECT_THAT(plan.environment, Contains(Step{step::File{"/.igloo/hidden", "", 0}}));
  EXPECT_THAT(plan.environment, Contains(Step{step::Directory{"/.igloo/closed", 0}}));
}

TEST(PlanHidden, InAViewTheLowerHalfIsLookedAt) {
  const Plan plan = PlanOf(
      PolicyWith({}, {OverlayTree{.source = "/host/dir", .target = "/p", .hidden = {kFile}}}));
  EXPECT_THAT(RunMiddle(plan), Contains(Step{HideOf(kFile, "/.igloo/hidden", true)}));
}

TEST(PlanHidden, WhatReadsAsSomethingElseIsAFileInMemoryThatIsFrozen) {
  const Plan plan = PlanOf(PolicyWith(
      {}, {HostTree{.source = "/host/dir", .target = "/p", .hidden = {kCopied, kFile}}}));
  EXPECT_THAT(
      RunMiddle(plan),
      ElementsAre(Step{BindOf("/host/dir", "/p")},
                  Step{step::Tmpfs{.target = "/.igloo/copies",
                                   .capacity = {.bytes = 2 * 4096 + kCopied.instead->size()}}},
                  Step{step::File{"/.igloo/copies/0", "[core]\n", 0444}},
                  Step{HideOf(kCopied, "/.igloo/copies/0", false)},
                  Step{HideOf(kFile, "/.igloo/hidden", false)},
                  Step{step::ReadOnly{"/.igloo/copies"}}));
}

TEST(PlanHidden, APlanWithoutItIsAsBefore) {
  const Plan plan = PlanOf(PolicyWith({}, {HostTree{.source = "/host/dir", .target = "/p"}}));
  EXPECT_THAT(RunMiddle(plan), ElementsAre(Step{BindOf("/host/dir", "/p")}));
  EXPECT_THAT(plan.environment,
              ::testing::Not(Contains(Step{step::File{"/.igloo/hidden", "", 0}})));
}

TEST(PlanHidden, OnlyARunsTreeCanHaveIt) {
  EXPECT_THAT(
      ErrorOf(PolicyWith({HostTree{.source = "/host/dir", .target = "/p", .hidden = {kFile}}}))
          .what,
      HasSubstr("nothing can be hidden in '/p'"));
}

TEST(PlanHidden, NoPathLeadsOutOfTheTree) {
  for (const char* path : {"../x", "a/../../x", "", "/x", "a//b", "."}) {
    Hidden hidden = kFile;
    hidden.path = path;
    const auto plan = MakePlan(
        PolicyWith({}, {HostTree{.source = "/host/dir", .target = "/p", .hidden = {hidden}}}),
        Facts());
    EXPECT_FALSE(plan) << path;
  }
}

}  // namespace
}  // namespace igloo::sandbox
