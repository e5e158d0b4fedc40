#include "agent/state/json_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Text = std::optional<std::string>;

MergedJson Merge(const Text& base, const Text& host, const Text& box, int levels = kAllLevels) {
  auto merged = MergeJson({.file = "f", .base = base, .host = host, .box = box, .levels = levels});
  EXPECT_TRUE(merged) << merged.error().what;
  return merged.value_or(MergedJson{});
}

std::string Failure(const Text& text) {
  const auto merged = MergeJson({.file = "f", .base = "{}", .host = "{}", .box = text});
  EXPECT_FALSE(merged);
  return merged ? "" : merged.error().what;
}

TEST(MergeJson, TakesFromEachSideWhatItAloneChanged) {
  const auto merged = Merge(R"({"a": 1, "b": 2, "c": {"x": 1, "y": 1}})",
                            R"({"a": 5, "b": 2, "c": {"x": 7, "y": 1}})",
                            R"({"a": 1, "b": 6, "c": {"x": 1, "y": 8}, "new": [1, 2]})");
  EXPECT_EQ(merged.text, R"({"a": 5, "b": 6, "c": {"x": 7, "y": 8}, "new": [1, 2]})");
  EXPECT_THAT(merged.conflicts, IsEmpty());
}

TEST(MergeJson, KeysThatOneSideRemovedAreGone) {
  EXPECT_EQ(Merge(R"({"a": 1, "b": 2, "c": 3})", R"({"a": 1, "c": 3})", R"({"a": 1, "b": 2})").text,
            R"({"a": 1})");
  EXPECT_EQ(Merge(R"({"a": 1})", R"({"a": 1})", "{}").text, "{}");
}

TEST(MergeJson, BothTheSameIsNoConflict) {
  const auto merged =
      Merge(R"({"a": 1})", R"({"a": {"k": "\u00e9", "l": 1}})", R"({"a": {"l": 1, "k": "é"}})");
  EXPECT_EQ(merged.text, R"({"a": {"k": "\u00e9", "l": 1}})");
  EXPECT_THAT(merged.conflicts, IsEmpty());
}

TEST(MergeJson, TheHostStaysWhereBothChangedAndThePointerIsReported) {
  const auto merged = Merge(R"({"a/b": {"~": [1]}, "d": 1, "e": 1})",
                            R"({"a/b": {"~": [2]}, "e": 2})", R"({"a/b": {"~": [3]}, "d": 4})");
  EXPECT_EQ(merged.text, R"({"a/b": {"~": [2]}, "e": 2})");
  EXPECT_THAT(merged.conflicts, ElementsAre(JsonConflict{"/a~1b/~0", "[2]", "[3]"},
                                            JsonConflict{"/e", "2", std::nullopt},
                                            JsonConflict{"/d", std::nullopt, "4"}));
}

TEST(MergeJson, AddedOnBothSidesObjectsAreMergedAndOtherValuesConflict) {
  const auto merged = Merge("{}", R"({"o": {"x": 1}, "n": 1})", R"({"o": {"y": 2}, "n": 2})");
  EXPECT_EQ(merged.text, R"({"o": {"x": 1, "y": 2}, "n": 1})");
  EXPECT_THAT(merged.conflicts, ElementsAre(JsonConflict{"/n", "1", "2"}));
}

TEST(MergeJson, NumbersStayAsTheyWereWritten) {
  const auto merged =
      Merge("{}", R"({"a": 1.0, "b": 12345678901234567890123456789, "c": 1E5})",
            R"({"d": 0.10, "e": -0, "f": 98765432109876543210.123456789012345678901})");
  EXPECT_EQ(merged.text, R"({"a": 1.0, "b": 12345678901234567890123456789, "c": 1E5, "d": 0.10, )"
                         R"("e": -0, "f": 98765432109876543210.123456789012345678901})");
}

TEST(MergeJson, OnlyTheBytesOfAChangedValueChange) {
  const std::string host =
      "\n{\n\t\"list\": [1,2,\n   3],\n\t\"o\":   { \"k\" : 1 , \"l\" : 2 }\n}\n\n";
  EXPECT_EQ(Merge(host, host, R"({"list":[1,2,3],"o":{"k":5,"l":2}})").text,
            "\n{\n\t\"list\": [1,2,\n   3],\n\t\"o\": { \"k\" : 5 , \"l\" : 2 }\n}\n\n");
  EXPECT_EQ(Merge(host, host, R"({"o":{"l":2,"k":1},"list":[1,2,3]})").text, host);
}

TEST(MergeJson, WhatTheBoxAddsIsLaidOutAsTheHostsFileIs) {
  const std::string host = "{\r\n    \"a\": {\r\n        \"b\": 1\r\n    }\r\n}\r\n";
  EXPECT_EQ(
      Merge(host, host, R"({"a":{"b":1,"c":{"d":[1,{}],"e":[]}},"f":2})").text,
      "{\r\n    \"a\": {\r\n        \"b\": 1,\r\n        \"c\": {\r\n            \"d\": [\r\n"
      "                1,\r\n                {}\r\n            ],\r\n            \"e\": []\r\n"
      "        }\r\n    },\r\n    \"f\": 2\r\n}\r\n");
  EXPECT_EQ(
      Merge("{\"a\":1}", "{\"a\":1}", "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}").text,
      "{\"a\":1,\"b\":{\"c\":2}}");
}

TEST(MergeJson, AFileThatTheHostDoesNotHaveIsTheBoxs) {
  const std::string box = "{ \"odd\" :1 }\n";
  EXPECT_EQ(Merge(std::nullopt, std::nullopt, box).text, box);
  EXPECT_EQ(Merge(std::nullopt, "{}", R"({"a": 1})").text, R"({"a": 1})");
}

TEST(MergeJson, BelowTheGivenLevelsAValueIsAUnit) {
  const std::string base = R"({"t": {"access": 1, "refresh": 1}})";
  const std::string host = R"({"t": {"access": 2, "refresh": 1}})";
  const std::string box = R"({"t": {"access": 1, "refresh": 3}, "u": 1})";
  EXPECT_EQ(Merge(base, host, box, 1).text, R"({"t": {"access": 2, "refresh": 1}, "u": 1})");
  EXPECT_EQ(Merge(base, host, box, 0).text, host);
  EXPECT_EQ(Merge(base, base, box, 0).text, box);
}

TEST(MergeJson, BadTextsAreAnsweredWithTheirPlace) {
  EXPECT_THAT(Failure(R"({"a": 1, "\u0061": 2})"),
              HasSubstr("f:1:10: the key 'a' stands here twice"));
  EXPECT_THAT(Failure(R"({"o": [{"a": 1, "a": 2}]})"), HasSubstr("twice"));
  EXPECT_THAT(Failure("{\"a\": \"\xff\"}"), HasSubstr("not UTF-8"));
  EXPECT_THAT(Failure("{\"a\": 1 // x\n}"), HasSubstr("f:1:9"));
  EXPECT_THAT(Failure("[1]"), HasSubstr("not an object"));
  EXPECT_THAT(Failure(""), HasSubstr("empty"));
  EXPECT_THAT(Failure("{\"a\": 1"), HasSubstr("ends here"));
  std::string bomb = "{\"a\":";
  bomb.append(1U << 20, '[');
  EXPECT_THAT(Failure(bomb), HasSubstr("deep"));
  std::string many = "{\"a\": [0";
  for (int i = 0; i < 2'000'001; ++i) many += ",0";
  EXPECT_THAT(Failure(many + "]}"), HasSubstr("too large"));
  EXPECT_THAT(Failure("{\"a\": \"" + std::string(33U << 20, 'x') + "\"}"), HasSubstr("too large"));
}

TEST(MergeJson, ManyKeysAreMergedInLinearTime) {
  // Quadratic, this would take minutes.
  std::string host = "{\"k\": 0", box = "{\"k\": 0";
  for (int i = 0; i < 20'000; ++i) {
    host += ",\"h" + std::to_string(i) + "\":1";
    box += ",\"b" + std::to_string(i) + "\":1";
  }
  const auto merged = Merge("{\"k\": 0}", host + "}", box + "}");
  EXPECT_THAT(merged.text, HasSubstr("\"h19999\": 1"));
  EXPECT_THAT(merged.text, HasSubstr("\"b19999\": 1"));
}

}  // namespace
}  // namespace igloo::agent
