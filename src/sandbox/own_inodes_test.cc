#include "sandbox/own_inodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/testing.h"

namespace igloo::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr PathFact kWithMounts{.device = 1, .inode = 9, .type = S_IFDIR, .mounts_below = true};
constexpr PathFact kLarge{.device = 1, .inode = 10, .type = S_IFREG, .size = 2U << 20};

HostTree Own(std::string source, std::string target, std::string within = {}) {
  return {.source = std::move(source),
          .target = std::move(target),
          .own_inodes = true,
          .within = std::move(within)};
}

Plan PlanWith(std::vector<Entry> environment) {
  const HostFacts facts = {{"/usr", kDirectory},   {"/cache", kRegular},
                           {"/large", kLarge},     {"/mounts", kWithMounts},
                           {"/store", kDirectory}, {"/store/a", kDirectory},
                           {"/store/b", kRegular}, {"/mounts/a", kDirectory}};
  auto plan = MakePlan(PolicyWith(std::move(environment)), facts);
  EXPECT_TRUE(plan) << plan.error().what;
  return plan ? *std::move(plan) : Plan{};
}

step::Overlay ViewOf(std::string source, std::string target) {
  return {.source = std::move(source),
          .target = std::move(target),
          .fact = kDirectory,
          .access = Access::kReadOnly,
          .map_owner = false};
}

TEST(OwnInodesTest, ADirectoryIsAViewAndASmallFileACopy) {
  EXPECT_THAT(
      Middle(PlanWith({Own("/usr", "/usr"), Own("/cache", "/cache")})),
      ElementsAre(step::Directory{"/usr"}, ViewOf("/usr", "/usr"), step::File{"/cache", "", 0444},
                  step::Copy{"/cache", "/cache", kRegular}, step::Directory{"/proc"}));
}

TEST(OwnInodesTest, TreesOfOneDirectoryComeFromOneBase) {
  EXPECT_THAT(Middle(PlanWith({Own("/store/a", "/a", "/store"), Own("/store/b", "/b", "/store")})),
              ElementsAre(step::Base{"/store", kDirectory}, step::Directory{"/a"},
                          step::FromBase{"a", "/a", kDirectory}, step::File{"/b", "", 0444},
                          step::FromBase{"b", "/b", kRegular}, step::Directory{"/proc"}));
}

TEST(OwnInodesTest, ABaseInWhichSomethingIsMountedIsNotUsed) {
  EXPECT_THAT(
      Middle(PlanWith({Own("/mounts/a", "/a", "/mounts")})),
      ElementsAre(step::Directory{"/a"}, ViewOf("/mounts/a", "/a"), step::Directory{"/proc"}));
}

TEST(OwnInodesTest, WhatCannotHaveThemIsShownAsItIsAndThePlanSaysSo) {
  const Plan plan = PlanWith({Own("/mounts", "/mounts"), Own("/large", "/large")});
  step::Bind mounts = BindOf("/mounts", "/mounts", kWithMounts);
  step::Bind large = BindOf("/large", "/large", kLarge);
  mounts.host_inodes = large.host_inodes = true;
  EXPECT_THAT(Middle(plan),
              ElementsAre(step::Directory{"/mounts"}, mounts, step::File{"/large", "", 0444}, large,
                          step::Directory{"/proc"}));
  EXPECT_THAT(Describe(plan), HasSubstr("/mounts <- /mounts (the host's inodes"));
}

TEST(OwnInodesTest, ACopyIsNeverWrittenIntoATreeOfTheHost) {
  const Plan plan = PlanWith({Own("/usr", "/usr"), Own("/cache", "/usr/cache")});
  EXPECT_TRUE(std::holds_alternative<step::Bind>(plan.environment[plan.environment.size() - 5]))
      << Describe(plan);
}

TEST(OwnInodesTest, AreForReadOnlyTreesOfAnEnvironment) {
  HostTree tree = Own("/host/dir", "/x");
  EXPECT_THAT(ErrorOf(PolicyWith({}, {tree})).what, HasSubstr("inodes of its own"));
  tree.access = Access::kReadWrite;
  EXPECT_THAT(ErrorOf(PolicyWith({tree})).what, HasSubstr("inodes of its own"));
}

}  // namespace
}  // namespace igloo::sandbox
