#include "clients/toml_scan.h"

#include <gmock/gmock.h>

namespace igloo::clients {
namespace {

using ::testing::ElementsAre;

std::string Wrong(std::string_view text) {
  const auto scanned = ScanToml(text);
  return scanned ? "fine" : ToError("f", text, scanned.error()).what;
}

TEST(ScanTomlTest, KnowsWhereThingsStand) {
  constexpr std::string_view kText =
      "# first\r\na.\"b c\" . 'd' = 1 # one\r\n\r\n[ t . u ] # header\nx = [ 'a', # c\n \"b\" ]\n"
      "[[l]]\ny = { z = \"}\" }";
  const auto scanned = ScanToml(kText);
  ASSERT_TRUE(scanned) << Wrong(kText);
  ASSERT_EQ(scanned->size(), 5U);
  const TomlStatement &a = scanned->at(0), &t = scanned->at(1), &x = scanned->at(2),
                      &l = scanned->at(3), &y = scanned->at(4);
  EXPECT_THAT(a.path, ElementsAre("a", "b c", "d"));
  EXPECT_EQ(kText.substr(a.begin, a.content_end - a.begin), "a.\"b c\" . 'd' = 1");
  EXPECT_EQ(kText.substr(a.begin, a.end - a.begin), "a.\"b c\" . 'd' = 1 # one\r\n");
  EXPECT_EQ(t.kind, TomlStatement::Kind::kTable);
  EXPECT_THAT(x.path, ElementsAre("t", "u", "x"));
  ASSERT_EQ(x.value.items.size(), 2U);
  EXPECT_EQ(x.value.items[1].text, "b");
  EXPECT_EQ(l.kind, TomlStatement::Kind::kTableArray);
  EXPECT_THAT(y.path, ElementsAre("l", "y"));
  EXPECT_EQ(y.end, kText.size());
}

TEST(ScanTomlTest, ReadsAllKindsOfTexts) {
  const auto text = [](std::string_view value) {
    const auto scanned = ScanToml("k = " + std::string(value));
    return scanned ? scanned->front().value.text : "refused";
  };
  EXPECT_EQ(text(R"("a\t\"\\\u00e9\U0001F600")"), "a\t\"\\\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(text(R"('a\t"')"), "a\\t\"");
  EXPECT_EQ(text("\"\"\"\n[no.table]\nx = 1\"\"\""), "[no.table]\nx = 1");
  EXPECT_EQ(text("'''\r\n''a'' '''''"), "''a'' ''");
  EXPECT_EQ(text("\"\"\"a \\  \n\n   b\"\"\""), "a b");
  EXPECT_EQ(text("\"\""), "");
}

TEST(ScanTomlTest, TakesEveryValue) {
  for (const char* value : {"1_000", "-0x1F", "6.26e-34", "inf", "-nan", "true",
                            "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5-07:00", "07:32:00", "[]",
                            "[[1,2],['a'],]", "{}", "{a.b = 1, c = []}"}) {
    EXPECT_EQ(Wrong("k = " + std::string(value) + " # c\n"), "fine") << value;
  }
  for (const char* text : {"", "\n", "#", "# x\n\n#y",
                           "\xef\xbb\xbf"
                           "a = 1",
                           "[a]\n[a.b]"}) {
    EXPECT_EQ(Wrong(text), "fine") << text;
  }
}

TEST(ScanTomlTest, RefusesWithThePlace) {
  EXPECT_EQ(Wrong("a = 1\nb = \n"), "f:2:5: a value should stand here");
  EXPECT_EQ(Wrong("[a\nb = 1"), "f:1:3: ']' should stand here");
  EXPECT_EQ(Wrong("a = 1 b = 2"), "f:1:7: the line should end here");
  EXPECT_EQ(Wrong("a = \"x\ny\""), "f:1:5: this text in quotes has no end");
  for (const char* text :
       {"a", "= 1", "a = [1", "a = {b = 1", "a = {b}", "a = \"\\q\"", "[]", "[[a]", "a. = 1",
        "a = '''x''", "a = \"\\uD800\"", "\xff = 1", "a = [1 2]", "\"\"\"a\"\"\" = 1"}) {
    EXPECT_NE(Wrong(text), "fine") << text;
  }
  EXPECT_NE(Wrong("a = " + std::string(1000000, '[')), "fine");
}

TEST(ScanTomlTest, RefusesControlCharactersWhereverTheyStand) {
  using namespace std::string_literals;  // NOLINT(google-build-using-namespace)
  EXPECT_EQ(Wrong("a = 1\n# x\ry = 2\n"), "f:2:4: TOML allows no such control character");
  for (const std::string& text :
       {"model = \"a\" # c\rnotify = [\"x\"]\n"s, "#\rnotify = [\"x\"]\n"s,
        "[tui]\nx=\"a\x0b\"\nnotify = [\"x\"]\n"s, "a = 1 #\0\n"s, "a = '\x1f'"s, "a = '''\r'''"s,
        "a = \"\"\"\x7f\"\"\""s, "a = 1\r"s, "a = '\b'"s}) {
    EXPECT_NE(Wrong(text), "fine") << text;
  }
  EXPECT_EQ(Wrong("a\t= '\t' #\t\r\n\r\nb = '''\r\n\t'''\r\n"), "fine");
}

}  // namespace
}  // namespace igloo::clients
