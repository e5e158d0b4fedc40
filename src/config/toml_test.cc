#include "config/toml.h"

#include <gtest/gtest.h>

#include "config/toml_depth.h"

namespace igloo::config {
namespace {

Problem ProblemOf(std::string_view text) {
  const auto parsed = ParseToml(text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? Problem{} : parsed.error();
}

constexpr const char* kHalf =
    "the file ends in the middle of something; was it written completely?";

TEST(ParseTomlTest, EveryValueKnowsItsPlace) {
  const auto parsed =
      ParseToml("a = 1\n[s]\nflag = true\n  text = 'é'\nlist = [1.5, 1979-05-27]\n");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->members.size(), 2U);
  EXPECT_EQ(parsed->members[0].key, "a");
  EXPECT_EQ(parsed->members[0].where, (Position{1, 1}));
  EXPECT_EQ(std::get<std::int64_t>(parsed->members[0].value.data), 1);
  EXPECT_EQ(parsed->members[0].value.where, (Position{1, 5}));
  EXPECT_EQ(parsed->members[1].where, (Position{2, 2}));
  const auto& section = std::get<Table>(parsed->members[1].value.data);
  ASSERT_EQ(section.members.size(), 3U);
  EXPECT_EQ(std::get<bool>(section.members[0].value.data), true);
  const auto& list = std::get<Array>(section.members[1].value.data);
  EXPECT_EQ(std::get<double>(list.items.at(0).data), 1.5);
  EXPECT_TRUE(std::holds_alternative<DateOrTime>(list.items.at(1).data));
  EXPECT_EQ(list.items.at(1).where, (Position{5, 14}));
  EXPECT_EQ(std::get<std::string>(section.members[2].value.data), "é");
  EXPECT_EQ(section.members[2].where, (Position{4, 3}));
}

TEST(ParseTomlTest, NothingIsAnEmptyFile) {
  EXPECT_TRUE(ParseToml("")->members.empty());
  EXPECT_TRUE(ParseToml("\n# only words\n")->members.empty());
}

TEST(ParseTomlTest, AHalfWrittenFileSaysSo) {
  EXPECT_EQ(ProblemOf("[environments.x]\npreset = \"py"),
            (Problem{{2, 13}, "error while parsing string: encountered end-of-file", kHalf}));
  EXPECT_EQ(ProblemOf("[environments.x"),
            (Problem{{1, 16}, "error while parsing table header: encountered end-of-file", kHalf}));
  EXPECT_EQ(ProblemOf("a = [1,\n"),
            (Problem{{1, 9}, "error while parsing array: encountered end-of-file", kHalf}));
}

TEST(ParseTomlTest, EveryPrefixOfAFileIsReadOrRefused) {
  const std::string_view text =
      "# é\n[environments.data]\npreset = \"python\"\nenv = { A = '''x''' }\nlist = [1, 2.5e3]\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto parsed = ParseToml(text.substr(0, size));
    if (!parsed) {
      EXPECT_GT(parsed.error().where.line, 0U) << size;
    }
  }
}

TEST(ParseTomlTest, AHeaderThatBeginsNoNameIsRefused) {
  for (const char each : std::string_view("!$%&()*+,./:;<=>?@\\^`{|}~#")) {
    const std::string name(1, each);
    EXPECT_EQ(ProblemOf("[" + name + "a]\n").where.line, 1U);
    EXPECT_EQ(ProblemOf("x = 1\n[[ " + name + "]]\n").where.line, 2U);
  }
}

TEST(ParseTomlTest, NothingIsSaidTwice) {
  const char* hint = "it stands above already: keep one, or give this one another name";
  EXPECT_EQ(ProblemOf("[environments.x]\n[environments.x]\n"),
            (Problem{{2, 1},
                     "error while parsing table header: cannot redefine existing table "
                     "'environments.x'",
                     hint}));
  EXPECT_EQ(ProblemOf("a = 1\na = 2\n").hint, hint);
}

TEST(ParseTomlTest, BytesThatAreNotTextAreRefused) {
  EXPECT_EQ(ProblemOf("a = '\xff'").where.line, 1U);
  EXPECT_EQ(ProblemOf(std::string_view("a = 1\n\0", 7)).where, (Position{2, 1}));
}

TEST(ParseTomlTest, DeepNestingIsRefusedAndDoesNotEatTheStack) {
  const std::string many(300'000, '[');
  EXPECT_EQ(ProblemOf("a = " + many).where.line, 1U);
  std::string tables = "a = ";
  for (int i = 0; i < 1000; ++i) tables += "{ a = ";
  EXPECT_EQ(ProblemOf(tables).where.line, 1U);
  std::string dotted = "a";
  for (int i = 0; i < 300'000; ++i) dotted += ".a";
  const Problem deep = {
      {1, 32}, "a key of more than 16 parts", "no key of igloo's has more than four"};
  EXPECT_EQ(ProblemOf(dotted + " = 1"), deep);
  EXPECT_EQ(ProblemOf("\n[" + dotted + "]").where, (Position{2, 33}));
  EXPECT_FALSE(ParseToml("x = { " + dotted + " = 1 }"));
}

TEST(ParseTomlTest, CharactersWhereABlankCouldBeAreRefused) {
  for (const char* text :
       {"\xEF\xBB\xBB&", "a = 1 \uFEFB\n", "\uFB26 = 1\n", "[\uFEA0]\n", "a = 5'\uFEBF'"}) {
    EXPECT_FALSE(ParseToml(text)) << text;
  }
  EXPECT_TRUE(ParseToml("\xEF\xBB\xBF\"\uFEFB\" = '\uFEFB' # \uFEFB\n"));
}

TEST(FindDeepKeyTest, DotsInTextAndCommentsAreNoKeys) {
  const std::string dots(100, '.');
  for (const std::string& text :
       {"a = \"" + dots + "\"", "a = '" + dots + "'", "a = \"\"\"\n" + dots + "\n\"\"\"",
        "a = '''\n" + dots + "'''''", "# " + dots, "a = \"\\\"" + dots + "\"",
        "a = \"\"\"x\"\"\"\"\"\nb = '" + dots + "'"}) {
    EXPECT_EQ(FindDeepKey(text), std::nullopt) << text;
    EXPECT_TRUE(ParseToml(text)) << text;
  }
}

TEST(FindDeepKeyTest, TextDoesNotHideTheKeyBehindIt) {
  const std::string dots(20, '.');
  for (const std::string& text :
       {"a = \"\\\\\"\n" + dots, "a = '\\'\n" + dots, "a = \"\"\"x\"\"\"\n" + dots,
        "a = ''\n" + dots, "'a'.\"b\"" + dots, "# '\n" + dots}) {
    EXPECT_TRUE(FindDeepKey(text)) << text;
  }
}

}  // namespace
}  // namespace igloo::config
