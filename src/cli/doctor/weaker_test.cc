#include "cli/doctor/weaker.h"

#include <gmock/gmock.h>

namespace igloo::cli {
namespace {

using backend::HostIds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

HostSupport Everything() {
  return {.cgroups = cgroup::Kind::kV2, .ids = {.kind = HostIds::Kind::kOwn}, .landlock_abi = 6};
}

TEST(Weaker, NothingIsWhereEverythingIsThere) {
  EXPECT_THAT(FindWeaknesses(Everything()), IsEmpty());
}

TEST(Weaker, LimitsComeFirstAndSayWhatEachMeans) {
  HostSupport support = Everything();
  support.cgroups = cgroup::Kind::kV1;
  EXPECT_THAT(FindWeaknesses(support),
              ElementsAre(AllOf(Field(&Weakness::name, "limits"),
                                Field(&Weakness::missing, HasSubstr("version 1")),
                                Field(&Weakness::weaker, HasSubstr("counted for each user")))));
  support.why_no_cpus = "have them handed down";
  EXPECT_THAT(FindWeaknesses(support),
              ElementsAre(Field(&Weakness::name, "limits"),
                          AllOf(Field(&Weakness::name, "cpus"),
                                Field(&Weakness::weaker, HasSubstr("CPU time")),
                                Field(&Weakness::fix, "have them handed down"))));
  support = {.cgroups = cgroup::Kind::kNone, .why_no_cgroups = "do this"};
  const auto all = FindWeaknesses(support);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "limits");
  EXPECT_THAT(all[0].weaker, AllOf(HasSubstr("ten times a second"), HasSubstr("processes are"),
                                   HasSubstr("CPU time")));
  EXPECT_EQ(all[0].fix, "do this");
  EXPECT_THAT(all[1].weaker,
              AllOf(HasSubstr("pipes"), HasSubstr("inotify"), HasSubstr("keyrings")));
  EXPECT_THAT(all[2].missing, "Landlock");
  for (const Weakness& each : all) EXPECT_NE(each.fix, "") << each.name;
}

TEST(Weaker, WithoutSubordinateIdsItSaysWhyThereAreNone) {
  HostSupport support = Everything();
  support.ids = {.why = {Errc::kFailedPrecondition, "newuidmap is missing", "install it", 0}};
  EXPECT_THAT(FindWeaknesses(support),
              ElementsAre(AllOf(Field(&Weakness::name, "user id"),
                                Field(&Weakness::weaker, StartsWith("outside, a sandbox has the")),
                                Field(&Weakness::fix, AllOf(HasSubstr("newuidmap is missing"),
                                                            HasSubstr("install it"))))));
}

TEST(Weaker, WithSubordinateIdsItSaysWhoHasNone) {
  HostSupport support = Everything();
  support.ids = {.kind = HostIds::Kind::kSubordinate, .users = {100000, 65536}};
  EXPECT_THAT(FindWeaknesses(support),
              ElementsAre(AllOf(
                  Field(&Weakness::name, "user id"),
                  Field(&Weakness::weaker, AllOf(HasSubstr("100000-165535"), HasSubstr("a project"),
                                                 HasSubstr("'igloo run'"), HasSubstr("pipes"))))));
}

TEST(Weaker, AServerSaysALineForEach) {
  HostSupport support = Everything();
  support.cgroups = cgroup::Kind::kV1;
  support.ids = {};
  EXPECT_THAT(WeaknessLines(support),
              ElementsAre(StartsWith("weaker limits, without cgroup version 2"),
                          StartsWith("weaker user id, without an id of its own")));
}

}  // namespace
}  // namespace igloo::cli
