#include "cli/args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Flag kFlags[] = {{"--timeout", "SECONDS", "how long it may run"},
                           {"--dry-run", "", "print the plan and stop"},
                           {"--learn", "[FILE]", "write down what it uses", Values::kFile},
                           {.name = "--allow",
                            .value = "RULE",
                            .description = "what it may reach",
                            .times = Times::kOften}};

const Command& Example() {
  static const Command command{.name = "run",
                               .summary = "run code",
                               .usage = "[OPTIONS] [CODE]",
                               .flags = kFlags,
                               .words = {},
                               .details = "More words.\n",
                               .run = nullptr};
  return command;
}

Result<ParsedArgs> Parse(std::vector<std::string> words) { return ParseArgs(Example(), words); }

TEST(ParseArgsTest, NothingIsFine) {
  const auto parsed = Parse({});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->flags, IsEmpty());
  EXPECT_THAT(parsed->words, IsEmpty());
  EXPECT_EQ(parsed->rest, std::nullopt);
}

TEST(ParseArgsTest, ValuesComeBehindASpaceOrAnEqualsSign) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--timeout", "5"}, {"--timeout=5"}}) {
    const auto parsed = Parse(words);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->Get("--timeout"), "5");
    EXPECT_TRUE(parsed->Has("--timeout"));
    EXPECT_FALSE(parsed->Has("--dry-run"));
    EXPECT_EQ(parsed->Get("--dry-run"), std::nullopt);
  }
  EXPECT_EQ(Parse({"--timeout="})->Get("--timeout"), "");
  EXPECT_EQ(Parse({"--timeout=a=b"})->Get("--timeout"), "a=b");
}

TEST(ParseArgsTest, AValueThatCanBeLeftOutComesBehindAnEqualsSignAlone) {
  const auto alone = Parse({"--learn", "word"});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->Get("--learn"), "");
  EXPECT_THAT(alone->words, ElementsAre("word"));
  EXPECT_EQ(Parse({"--learn=l.toml"})->Get("--learn"), "l.toml");
  EXPECT_EQ(Parse({"--learn"})->Get("--learn"), "");
  EXPECT_FALSE(Parse({"--learn", "--learn=x"}));
}

TEST(ParseArgsTest, SomeOptionsAreGivenOften) {
  const auto parsed = Parse({"--allow", "a", "word", "--allow=b", "--allow", "a"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->All("--allow"), ElementsAre("a", "b", "a"));
  EXPECT_THAT(parsed->words, ElementsAre("word"));
  EXPECT_THAT(Parse({})->All("--allow"), IsEmpty());
  EXPECT_FALSE(Parse({"--timeout", "1", "--timeout", "1"}));
}

TEST(ParseArgsTest, OptionsAndWordsMix) {
  const auto parsed = Parse({"one", "--dry-run", "two", "-", ""});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->flags, ElementsAre(Pair("--dry-run", "")));
  EXPECT_THAT(parsed->words, ElementsAre("one", "two", "-", ""));
}

TEST(ParseArgsTest, BehindTwoDashesNothingIsInterpreted) {
  const auto parsed = Parse({"a", "--", "--dry-run", "--nonsense", "--", "-h"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->flags, IsEmpty());
  EXPECT_THAT(parsed->words, ElementsAre("a"));
  ASSERT_TRUE(parsed->rest);
  EXPECT_THAT(*parsed->rest, ElementsAre("--dry-run", "--nonsense", "--", "-h"));
  EXPECT_THAT(*Parse({"--"})->rest, IsEmpty()) << "an empty rest is not no rest";
}

TEST(ParseArgsTest, HelpIsAlwaysUnderstood) {
  EXPECT_TRUE(Parse({"-h"})->Has("--help"));
  EXPECT_TRUE(Parse({"--help", "--help"})->Has("--help"));
}

TEST(ParseArgsTest, UnknownOptionsSayWhatWasMeant) {
  EXPECT_EQ(Parse({"--timout=5"}).error(), (Error{.code = Errc::kInvalidArgument,
                                                  .what = "'igloo run' has no option '--timout'",
                                                  .hint = "did you mean '--timeout'?"}));
  EXPECT_EQ(Parse({"--wholly-different\x1b"}).error(),
            (Error{.code = Errc::kInvalidArgument,
                   .what = "'igloo run' has no option '--wholly-different\\x1b'",
                   .hint = "see 'igloo run --help'"}));
  EXPECT_EQ(Parse({"-x"}).error().code, Errc::kInvalidArgument);
}

TEST(ParseArgsTest, AMissingValueIsAskedFor) {
  EXPECT_EQ(Parse({"--timeout"}).error(), (Error{.code = Errc::kInvalidArgument,
                                                 .what = "'--timeout' needs a value",
                                                 .hint = "write --timeout SECONDS"}));
}

TEST(ParseArgsTest, TwoDashesAreNoValue) {
  EXPECT_EQ(Parse({"--timeout", "--", "cmd"}).error().what, "'--timeout' needs a value");
  EXPECT_EQ(Parse({"--timeout=--", "--", "cmd"})->Get("--timeout"), "--")
      << "whoever means it writes an equals sign";
}

TEST(ParseArgsTest, SwitchesTakeNoValue) {
  EXPECT_EQ(Parse({"--dry-run=yes"}).error().what, "'--dry-run' takes no value");
}

TEST(ParseArgsTest, NothingIsGivenTwice) {
  EXPECT_EQ(Parse({"--timeout=1", "--timeout", "2"}).error().what, "'--timeout' is given twice");
  EXPECT_FALSE(Parse({"--dry-run", "--dry-run"}));
}

TEST(HelpTest, ComesFromTheSameTable) {
  EXPECT_EQ(HelpFor(Example()),
            "igloo run - run code\n"
            "\n"
            "Usage: igloo run [OPTIONS] [CODE]\n"
            "\n"
            "Options:\n"
            "  --timeout SECONDS        how long it may run\n"
            "  --dry-run                print the plan and stop\n"
            "  --learn[=FILE]           write down what it uses\n"
            "  --allow RULE             what it may reach\n"
            "  --help                   show this\n"
            "\n"
            "More words.\n");
}

TEST(HelpTest, TheOverviewListsEveryCommand) {
  const Command* commands[] = {&Example()};
  EXPECT_THAT(Overview(commands), HasSubstr("  run        run code\n"));
}

TEST(WordsOf, AreReadAsTheyWere) {
  const std::vector<std::string> words = {"word", "--timeout", "5",         "--allow",
                                          "a=b",  "--allow",   "--dry-run", "--learn",
                                          "--",   "--timeout"};
  const auto first = ParseArgs(Example(), words);
  ASSERT_TRUE(first) << first.error().what;
  const auto again = ParseArgs(Example(), WordsOf(Example(), *first));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->words, first->words);
  EXPECT_EQ(again->flags, first->flags);
  EXPECT_EQ(again->lists, first->lists);
  EXPECT_EQ(again->rest, first->rest);
  EXPECT_TRUE(again->Has("--learn"));
}

}  // namespace
}  // namespace igloo::cli
