#include "config/json_place.h"

#include <gtest/gtest.h>

#include <vector>

namespace igloo::config {
namespace {

Position Find(std::string_view text, const std::vector<std::string>& path) {
  return FindInJson(text, path);
}

constexpr std::string_view kText = R"({
  "id": "x",
  "deep": {"a": [1, {"}": "]\"", "b": true}, "last"],
           "ä": 1, "c": null},
  "id": 7
})";

TEST(JsonPlace, NamesTheKeyOfAMember) {
  EXPECT_EQ(Find(kText, {"deep"}), (Position{3, 3}));
  EXPECT_EQ(Find(kText, {"deep", "a"}), (Position{3, 12}));
}

TEST(JsonPlace, StepsOverWhateverStandsBetween) {
  EXPECT_EQ(Find(kText, {"deep", "a", "1", "b"}), (Position{3, 34}));
  EXPECT_EQ(Find(kText, {"deep", "a", "2"}), (Position{3, 46}));
}

TEST(JsonPlace, CountsCharactersAndNotBytes) {
  EXPECT_EQ(Find(kText, {"deep", "c"}), (Position{4, 20}));
}

TEST(JsonPlace, TheLastOfTwoMembersCounts) { EXPECT_EQ(Find(kText, {"id"}), (Position{5, 3})); }

TEST(JsonPlace, WhatIsNotThereIsWhereItShouldBe) {
  EXPECT_EQ(Find(kText, {"deep", "a", "9"}), (Position{3, 12}));
  EXPECT_EQ(Find(kText, {"nothing", "below"}), (Position{1, 1}));
  EXPECT_EQ(Find(" 7", {"x"}), (Position{1, 2}));
  EXPECT_EQ(Find("", {"x"}), (Position{1, 1}));
}

TEST(JsonPlace, NoTextLeadsItAstray) {
  // It is for valid texts; on others it must end all the same.
  for (const std::string_view text :
       {"{\"a\"", "{\"a\":", "[1,", "[", "{\"a\\", "{]}", "\"", "{\"a\":\"x"}) {
    (void)Find(text, {"b", "0"});
    (void)Find(text, {"0", "b"});
  }
}

}  // namespace
}  // namespace igloo::config
