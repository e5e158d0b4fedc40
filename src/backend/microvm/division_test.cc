#include "backend/microvm/division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

namespace igloo::backend::microvm {
namespace {

namespace step = sandbox::step;
using sandbox::Access;
using sandbox::HostTree;
using sandbox::PathFact;
using sandbox::Plan;
using sandbox::Step;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr PathFact kDirectory{.device = 1, .inode = 2, .type = S_IFDIR, .uid = 7};
constexpr PathFact kFile{.device = 1, .inode = 3, .type = S_IFREG};

Plan PlanOf(std::vector<Step> environment, std::vector<Step> run = {}) {
  Plan plan;
  plan.environment = std::move(environment);
  plan.run = std::move(run);
  return plan;
}

Division DivisionOf(const Plan& plan) {
  auto division = Divide(plan);
  EXPECT_TRUE(division) << division.error().what;
  return division ? *std::move(division) : Division{};
}

const HostTree& Outside(const Division& division, std::size_t index) {
  return std::get<HostTree>(division.outside.at(index));
}

TEST(Divide, TreesOfTheEnvironmentAreOneShareByTheirOwnPaths) {
  const Division division = DivisionOf(PlanOf(
      {step::Overlay{
           .source = "/usr", .target = "/usr", .fact = kDirectory, .access = Access::kReadOnly},
       step::Bind{.source = "/etc/ssl", .target = "/etc/ssl", .fact = kDirectory},
       step::Copy{"/etc/localtime", "/etc/localtime", kFile}}));
  ASSERT_EQ(division.outside.size(), 3U);
  EXPECT_EQ(Outside(division, 0).source, "/usr");
  EXPECT_EQ(Outside(division, 0).target, "/host/usr");
  EXPECT_EQ(Outside(division, 0).access, Access::kReadOnly);
  EXPECT_EQ(Outside(division, 2).target, "/host/etc/localtime");
  EXPECT_THAT(division.shares, ElementsAre(Share{"host", "/host", false}));
  EXPECT_EQ(division.facts.at("/usr"), kDirectory) << "what the planner saw is what counts";
  const std::vector<Step> inside = {
      step::Bind{.source = "/host/usr", .target = "/usr", .fact = kDirectory},
      step::Bind{.source = "/host/etc/ssl", .target = "/etc/ssl", .fact = kDirectory},
      step::Copy{"/host/etc/localtime", "/etc/localtime", kFile}};
  EXPECT_EQ(division.inside.environment, inside);
}

TEST(Divide, PathsOfAStoreAreShownOneByOne) {
  const Division division = DivisionOf(PlanOf(
      {step::Base{"/nix/store", kDirectory}, step::FromBase{"aaa", "/nix/store/aaa", kDirectory},
       step::FromBase{"bbb", "/nix/store/bbb", kDirectory}}));
  ASSERT_EQ(division.outside.size(), 2U) << "never the whole store";
  EXPECT_EQ(Outside(division, 1).source, "/nix/store/bbb");
  EXPECT_EQ(Outside(division, 1).target, "/host/nix/store/bbb");
}

TEST(Divide, AProjectIsAShareOfItsOwnWithThePlansMode) {
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    const Division division = DivisionOf(PlanOf({}, {step::Bind{.source = "/home/ada/x",
                                                                .target = "/project",
                                                                .access = access,
                                                                .fact = kDirectory,
                                                                .map_owner = true}}));
    EXPECT_EQ(Outside(division, 0).access, access) << "on the host's side";
    EXPECT_TRUE(Outside(division, 0).map_owner);
    EXPECT_THAT(division.shares,
                ElementsAre(Share{"share0", "/shares/0", access == Access::kReadWrite}));
    const std::vector<Step> inside = {step::Bind{
        .source = "/shares/0", .target = "/project", .access = access, .fact = kDirectory}};
    EXPECT_EQ(division.inside.run, inside);
  }
}

TEST(Divide, ACopyOnWriteProjectIsReadOnlyOutside) {
  const Division division = DivisionOf(PlanOf({}, {step::Overlay{.source = "/home/ada/x",
                                                                 .target = "/project",
                                                                 .capacity = {.bytes = 4096},
                                                                 .fact = kDirectory}}));
  EXPECT_EQ(Outside(division, 0).access, Access::kReadOnly);
  const auto& inside = std::get<step::Overlay>(division.inside.run.at(0));
  EXPECT_EQ(inside.source, "/shares/0");
  EXPECT_EQ(inside.access, Access::kReadWrite);
}

TEST(Divide, WhatIsHiddenIsHiddenOutsideAndTheMachineNeverGetsIt) {
  const PathFact secret{.device = 1, .inode = 9, .type = S_IFREG};
  const Division division = DivisionOf(PlanOf(
      {}, {step::Bind{.source = "/home/ada/x", .target = "/project", .fact = kDirectory},
           step::File{"/.igloo/hidden", "", 0}, step::File{"/.igloo/copies/0", "clean", 0444},
           step::Hide{.tree = "/project",
                      .target = "/project/sub/.env",
                      .cover = "/.igloo/hidden",
                      .fact = secret,
                      .why = "a secret"},
           step::Hide{.tree = "/project",
                      .target = "/project/.git/config",
                      .cover = "/.igloo/copies/0",
                      .fact = secret}}));
  const auto& hidden = Outside(division, 0).hidden;
  ASSERT_EQ(hidden.size(), 2U);
  EXPECT_EQ(hidden[0].path, "sub/.env");
  EXPECT_EQ(hidden[0].fact, secret);
  EXPECT_EQ(hidden[0].why, "a secret");
  EXPECT_FALSE(hidden[0].instead);
  EXPECT_EQ(hidden[1].instead, "clean");
  const auto hides = std::ranges::count_if(division.inside.run, [](const Step& each) {
    return std::holds_alternative<step::Hide>(each);
  });
  EXPECT_EQ(hides, 0) << "there is nothing to hide there";
}

TEST(Divide, DevicesAreTheMachinesOwn) {
  const Step null = step::Bind{.source = "/dev/null",
                               .target = "/dev/null",
                               .access = Access::kReadWrite,
                               .fact = {.type = S_IFCHR},
                               .device = true};
  const Division division = DivisionOf(PlanOf({null}));
  EXPECT_THAT(division.outside, IsEmpty());
  EXPECT_THAT(division.inside.environment, ElementsAre(null));
}

TEST(Divide, TheMachineIsAsLargeAsThePlanAndItsFiles) {
  Plan plan = PlanOf({}, {step::Tmpfs{"/tmp", {.bytes = 64U << 20}}});
  plan.payload.memory_bytes = 512U << 20;
  plan.payload.millicpus = 1500;
  EXPECT_EQ(DivisionOf(plan).memory_bytes, (512ULL + 256 + 64) << 20);
  EXPECT_EQ(DivisionOf(plan).processors, 2U);
  plan.payload = {};
  EXPECT_EQ(DivisionOf(plan).memory_bytes, (4096ULL + 256 + 64) << 20) << "nobody chose";
  EXPECT_EQ(DivisionOf(plan).processors, 4U);
}

TEST(Divide, WhatAMachineCannotHaveIsRefusedAndNamed) {
  const PathFact socket{.type = S_IFSOCK};
  const struct {
    Step step;
    const char* what;
  } rows[] = {
      {step::Bind{.source = "/run/s", .target = "/s", .fact = socket, .granted = "asked"},
       "reach '/run/s' of the host"},
      {step::Bind{.source = "/run/s", .target = "/s", .fact = socket}, "show '/run/s'"},
      {step::Bind{.source = "/home/f", .target = "/f", .access = Access::kReadWrite, .fact = kFile},
       "write to the file '/home/f'"},
      {step::Bind{.source = "/c", .target = sandbox::kChangesPlace, .fact = kDirectory},
       "keep changes to '/c'"},
      {step::Hide{.tree = "/none", .target = "/none/x", .cover = "/c"}, "hide '/none/x'"},
      {step::Listen{80}, "hand out a listening socket"},
      {step::Sockets{1}, "hand out sockets"},
      {step::HandOut{"/code"}, "hand '/code' out"},
      {step::Edge{"192.0.2.2", "192.0.2.1"}, "have a network device"},
  };
  for (const auto& row : rows) {
    const auto division = Divide(PlanOf({}, {row.step}));
    ASSERT_FALSE(division) << row.what;
    EXPECT_EQ(division.error().code, Errc::kFailedPrecondition);
    EXPECT_THAT(division.error().what, AllOf(HasSubstr("virtual machine"), HasSubstr(row.what)));
  }
  Plan plan;
  plan.network = sandbox::HostNetwork("asked");
  EXPECT_THAT(Divide(plan).error().what, HasSubstr("have a network"));
  plan.network = sandbox::ConnectedNetwork{};
  EXPECT_THAT(Divide(plan).error().what, HasSubstr("have a network"));
  plan.network = sandbox::NoNetwork{};
  plan.payload.terminal = sandbox::Terminal::kOwn;
  EXPECT_THAT(Divide(plan).error().what, HasSubstr("have a terminal"));
}

}  // namespace
}  // namespace igloo::backend::microvm
