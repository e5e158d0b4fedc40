#include "prove/report.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "prove/case.h"

namespace igloo::prove {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Attempt Won() { return {.ending = Ending::kWon}; }
constexpr Attempt Held() { return {.ending = Ending::kHeld}; }

/// One attack on each promise, which was held and counts.
WallReport Standing(std::string name) {
  WallReport wall{.name = std::move(name), .wanted = true};
  for (const Promise& promise : Promises()) {
    wall.rows.push_back({.name = "On" + std::string(promise.id),
                         .promise = std::string(promise.id),
                         .text = "attack it",
                         .control = Won(),
                         .behind = Held()});
  }
  return wall;
}

TEST(ReportTest, AWallThatHeldEverythingStands) {
  const Report report{.walls = {Standing("one")}};
  EXPECT_TRUE(report.Good());
  EXPECT_THAT(report.Complaints(), IsEmpty());
  ASSERT_NE(report.Strongest(), nullptr);
  EXPECT_EQ(report.Strongest()->name, "one");
}

TEST(ReportTest, ALeakIsNamed) {
  Report report{.walls = {Standing("one")}};
  report.walls[0].rows[2].behind = {.ending = Ending::kWon, .said = "won: saw it"};
  EXPECT_FALSE(report.Good());
  EXPECT_EQ(report.Strongest(), nullptr);
  EXPECT_THAT(report.Complaints(), Contains(HasSubstr("one leaked: attack it (OnP3)")));
}

TEST(ReportTest, ALeakCountsWhateverItsControlCameTo) {
  Report report{.walls = {Standing("one")}};
  report.walls[0].rows[2].behind = Won();
  report.walls[0].rows[2].control = Held();
  EXPECT_FALSE(report.Good());
}

TEST(ReportTest, WhatDidNotRunProvesNothing) {
  for (const bool behind : {true, false}) {
    Report report{.walls = {Standing("one")}};
    // Another one of the same promise counts: it is the missing one that is complained of.
    report.walls[0].rows.push_back(Row(report.walls[0].rows[0]));
    Row& row = report.walls[0].rows[0];
    (behind ? row.behind : row.control) = {.ending = Ending::kNotRun, .said = "no such word"};
    EXPECT_FALSE(report.Good());
    EXPECT_THAT(report.Complaints(),
                ElementsAre(HasSubstr("did not run: attack it (OnP1): no such")));
  }
}

TEST(ReportTest, AControlThatCannotWinHereTakesTheRowOutOfTheProof) {
  Report report{.walls = {Standing("one")}};
  Row more = report.walls[0].rows[0];
  more.control = Held();
  report.walls[0].rows.push_back(more);
  EXPECT_FALSE(report.walls[0].rows.back().Counts());
  EXPECT_TRUE(report.Good()) << "another attack on the promise counts";
  report.walls[0].rows[0].control = Held();
  EXPECT_FALSE(report.Good());
  EXPECT_THAT(report.Complaints(), ElementsAre(HasSubstr("no attack on P1 counts")));
}

TEST(ReportTest, WhatAWallDoesNotPromiseIsNoLeak) {
  Report report{.walls = {Standing("one")}};
  Row row{.name = "More", .promise = "P1", .behind = Won(), .promised = false};
  report.walls[0].rows.push_back(row);
  EXPECT_TRUE(report.Good());
  EXPECT_FALSE(report.walls[0].rows.back().Counts());
}

TEST(ReportTest, AWallThatCannotBeBuiltCountsWhereItWasWanted) {
  WallReport missing{.name = "two", .missing = Error{.what = "no such program"}};
  Report report{.walls = {Standing("one"), missing}};
  EXPECT_TRUE(report.Good());
  report.walls[1].wanted = true;
  EXPECT_FALSE(report.Good());
  EXPECT_THAT(report.Complaints(), ElementsAre("two cannot be built: no such program"));
  EXPECT_FALSE((Report{.walls = {missing}}).Good()) << "nothing was proven";
  EXPECT_FALSE(Report{}.Good());
}

TEST(ReportTest, TheStrongestHasAKernelOfItsOwnOrElseHeldMost) {
  Report report{.walls = {Standing("one"), Standing("more"), Standing("kernel")}};
  EXPECT_EQ(report.Strongest()->name, "one") << "the first of equals";
  report.walls[1].rows.push_back(report.walls[1].rows[0]);
  EXPECT_EQ(report.Strongest()->name, "more");
  report.walls[2].own_kernel = true;
  EXPECT_EQ(report.Strongest()->name, "kernel");
  report.walls[2].rows[0].behind = Won();
  EXPECT_EQ(report.Strongest()->name, "more") << "one that leaks is never recommended";
}

TEST(ReportTest, JsonHoldsEveryRow) {
  Report report{.machine = {.host = "h\xff", .igloo = "1.2"}, .walls = {Standing("one")}};
  report.walls[0].rows[0].behind = Won();
  const auto document = boost::json::parse(ToJson(report));
  EXPECT_EQ(document.at("good"), false);
  EXPECT_EQ(document.at("igloo"), "1.2");
  EXPECT_TRUE(document.at("recommended").is_null());
  const auto& wall = document.at("walls").as_array()[0];
  EXPECT_EQ(wall.at("leaks"), 1);
  EXPECT_EQ(wall.at("rows").as_array().size(), Promises().size());
  EXPECT_EQ(wall.at("rows").as_array()[0].at("behind").at("ending"), "won");
  EXPECT_EQ(document.at("complaints").as_array().size(), 2U);
}

TEST(ReportTest, TheMachineIsThisOne) {
  const Machine machine = LookAtMachine();
  EXPECT_THAT(machine.kernel, HasSubstr("Linux "));
  EXPECT_THAT(machine.time, ::testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
}

}  // namespace
}  // namespace igloo::prove
