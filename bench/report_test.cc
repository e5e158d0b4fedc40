#include "bench/report.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace igloo::bench {
namespace {

using ::testing::HasSubstr;

Results Some() {
  Results results;
  Candidate unit{.key = "T", .name = "the unit"};
  unit.samples.Add(100);
  Candidate absent{.key = "crun", .name = "crun", .failure = "not installed; get it with: a spoon"};
  absent.group = Group::kPeer;
  Candidate broken{.key = "runc", .name = "runc", .once = [] { return Result<double>(1); }};
  broken.failure = "cannot do it";
  results.candidates = {unit, absent, broken};
  results.walls = {{.key = "crun", .name = "crun", .failure = "not installed", .absent = true}};
  results.idle = {{.key = "bwrap", .name = "bwrap", .processes = 2, .pss = 300, .kernel = 250}};
  results.mcp = {.all = {{"m", "memory, MiB", 7.5, 8}}, .failure = "it ended"};
  results.sustained = {{.key = "bwrap", .name = "bwrap", .rates = {10, 20}}};
  return results;
}

TEST(ReportText, AnAbsentPeerSaysHowToGetItAndABrokenOneWhy) {
  const std::string text = ReportText(Some());
  EXPECT_THAT(text, HasSubstr("not installed; get it with: a spoon"));
  EXPECT_THAT(text, HasSubstr("failed: cannot do it"));
  EXPECT_THAT(text, HasSubstr("failed: it ended"));
}

TEST(ReportJson, HasEveryPart) {
  const auto document = boost::json::parse(ReportJson(Some()));
  EXPECT_EQ(document.at("candidates").at(0).at("of_T").to_number<double>(), 1);
  EXPECT_EQ(document.at("candidates").at(1).at("group").as_string(), "peer");
  EXPECT_EQ(document.at("candidates").at(2).at("failure").as_string(), "cannot do it");
  EXPECT_EQ(document.at("idle").at(0).at("pss_kib").to_number<double>(), 300);
  EXPECT_EQ(document.at("sustained").at(0).at("windows").as_array().size(), 2U);
  EXPECT_EQ(document.at("walls").at(0).at("failure").as_string(), "not installed");
  EXPECT_EQ(document.at("mcp").at("figures").at(0).at("value").to_number<double>(), 7.5);
  EXPECT_FALSE(document.at("goals").as_array().empty());
}

}  // namespace
}  // namespace igloo::bench
