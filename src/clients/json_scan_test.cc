#include "clients/json_scan.h"

#include <gmock/gmock.h>

namespace igloo::clients {
namespace {

std::string Wrong(std::string_view text, Dialect dialect = Dialect::kJson) {
  const auto scanned = ScanJson(text, dialect);
  return scanned ? "fine" : ToError("f", text, scanned.error()).what;
}

TEST(ScanJsonTest, KnowsWhereThingsStand) {
  constexpr std::string_view kText = "{ \"a\" : [1, \"x\\u00e9\\n\"] , \"b\":{} }";
  const auto scanned = ScanJson(kText, Dialect::kJson);
  ASSERT_TRUE(scanned);
  const Node& root = scanned->root;
  ASSERT_EQ(root.members.size(), 2U);
  const Member& a = root.members[0];
  EXPECT_EQ(kText.substr(a.key_begin, a.key_end - a.key_begin), "\"a\"");
  EXPECT_EQ(kText.substr(a.value.begin, a.value.end - a.value.begin), "[1, \"x\\u00e9\\n\"]");
  EXPECT_EQ(a.value.items[1].text, "x\xc3\xa9\n");
  EXPECT_EQ(kText[a.comma], ',');
  EXPECT_EQ(root.members[1].comma, kNowhere);
  EXPECT_EQ(root.end, kText.size());
}

TEST(ScanJsonTest, TakesEverythingThatIsJson) {
  for (const char* text :
       {"{}", "[]", "0", "-0.5e+10", "\"\"", "null", " true\t\r\n", "[[[]],{\"\":[]}]",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\uD83D\\uDE00\"", "\xef\xbb\xbf{}"}) {
    EXPECT_EQ(Wrong(text), "fine") << text;
  }
  EXPECT_TRUE(ScanJson("", Dialect::kJson)->empty);
  EXPECT_TRUE(ScanJson("\xef\xbb\xbf \r\n", Dialect::kJson)->empty);
  EXPECT_EQ(ScanJson("\"\\uD83D\\uDE00\"", Dialect::kJson)->root.text, "\xf0\x9f\x98\x80");
}

TEST(ScanJsonTest, RefusesEverythingElseWithItsPlace) {
  EXPECT_EQ(Wrong("{\n  \"a\": 1\n  \"b\": 2\n}"), "f:3:3: ',' or '}' should stand here");
  EXPECT_EQ(Wrong("{\"\xc3\xa9\": tru}"), "f:1:7: no JSON value begins like this");
  EXPECT_EQ(Wrong("{\"a\": 1"), "f:1:8: the file ends here, in the middle of something");
  EXPECT_EQ(Wrong("{\"a\": 1,}"), "f:1:8: JSON has no comma behind the last one");
  EXPECT_EQ(Wrong("{} // x"), "f:1:4: this file is JSON, which has no comments");
  EXPECT_EQ(Wrong("{}\n{}"), "f:2:1: something stands behind the end of the document");
  EXPECT_EQ(Wrong("{\"a\nb\": 1}"), "f:1:2: this text in quotes has no end on its line");
  EXPECT_EQ(Wrong("\xef\xbb\xbf{x}"), "f:1:2: a name in double quotes should stand here");
  for (const char* text :
       {"{",   "[",        "[1,", "[,]", "{,}",  "{\"a\"}", "{\"a\":}",    "01", "1.",
        "-",   "1e",       "+1",  ".5",  "'a'",  "\"\\x\"", "\"\\u12g4\"", "\"", "\"\\",
        "nul", "\"\x01\"", "{}}", "/",   "\xff", "[1 2]",   "NaN"}) {
    EXPECT_NE(Wrong(text), "fine") << text;
  }
  EXPECT_NE(Wrong(std::string(2, '\0')), "fine");
}

TEST(ScanJsonTest, CommentsAndLastCommasAreJsonc) {
  for (const char* text :
       {"// a\n{}", "{/**/}", "{\"a\":1,}", "[1,/*x*/]", "{} //", "//", "{\"a\"/* */:// \r\n1}"}) {
    EXPECT_EQ(Wrong(text, Dialect::kJsonc), "fine") << text;
    EXPECT_NE(Wrong(text), "fine") << text;
  }
  EXPECT_EQ(Wrong("{} /* x", Dialect::kJsonc), "f:1:4: this comment has no end");
  EXPECT_NE(Wrong("{,}", Dialect::kJsonc), "fine");
  EXPECT_NE(Wrong("[1,,]", Dialect::kJsonc), "fine");
}

TEST(ScanJsonTest, DepthIsBounded) {
  EXPECT_EQ(Wrong(std::string(100, '[') + std::string(100, ']')), "fine");
  EXPECT_NE(Wrong(std::string(1000000, '[')), "fine");
}

TEST(EndOfLineCommentsTest, StaysOnTheLine) {
  EXPECT_EQ(EndOfLineComments("1 // a\n// b", 1), 6U);
  EXPECT_EQ(EndOfLineComments("1 // a\r\n", 1), 6U);
  EXPECT_EQ(EndOfLineComments("1 /* a */ /* b */ }", 1), 17U);
  EXPECT_EQ(EndOfLineComments("1 /* a\n */", 1), 1U);
  EXPECT_EQ(EndOfLineComments("1  ", 1), 1U);
}

}  // namespace
}  // namespace igloo::clients
