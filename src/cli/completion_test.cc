#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Flag kFlags[] = {
    {"--env", "NAME", "what's inside [all of it]", Values::kEnvironment},
    {"--file", "FILE", "a file", Values::kFile},
    {"--project", "DIR", "a directory", Values::kDirectory},
    {"--wall", "NAME", "how strong", Values::kChoices, "thick thin"},
    {"--timeout", "SECONDS", "how long"},
    {"--json", "", "for programs"},
};
constexpr Word kWords[] = {{"list", "all"},
                           {"show", "one", Values::kEnvironment},
                           {"remove", "one", Values::kEnvironment, "remove"}};
constexpr Word kChoosing[] = {{"add", "it", Values::kChoices, "a b"},
                              {"print", "it", Values::kChoices, "a b"}};

std::vector<const Command*> Table() {
  static const Command run{.name = "run",
                           .summary = "run it",
                           .usage = "[OPTIONS]",
                           .flags = kFlags,
                           .words = {},
                           .details = ".not a request\n'nor this\\\n",
                           .run = nullptr};
  static const Command env{.name = "env",
                           .summary = "look",
                           .usage = "(list | show)",
                           .flags = {},
                           .words = kWords,
                           .details = "",
                           .run = nullptr};
  return {&run, &env};
}

TEST(CompletionTest, OffersWhatMayFollowAWord) {
  static const Command command{.name = "mcp",
                               .summary = "serve",
                               .usage = "",
                               .flags = {},
                               .words = kChoosing,
                               .details = "",
                               .run = nullptr};
  const std::vector<const Command*> table = {&command};
  EXPECT_THAT(BashCompletion(table), HasSubstr("    mcp:print) _igloo_words 'a b'; return ;;\n"));
  const std::string zsh = ZshCompletion(table);
  EXPECT_THAT(zsh, HasSubstr("'2:add:(a b)'"));
  EXPECT_THAT(zsh, Not(HasSubstr("'2:print:"))) << "zsh takes one rule for a place";
  EXPECT_THAT(FishCompletion(table), HasSubstr("__fish_seen_subcommand_from add' -x -a 'a b'\n"));
}

TEST(CompletionTest, AValueThatCanBeLeftOutIsNoWordOfItsOwn) {
  static constexpr Flag kLearn[] = {{"--learn", "[FILE]", "write it down", Values::kFile}};
  static const Command command{.name = "agent",
                               .summary = "start",
                               .usage = "",
                               .flags = kLearn,
                               .words = {},
                               .details = "",
                               .run = nullptr};
  const std::vector<const Command*> table = {&command};
  EXPECT_THAT(BashCompletion(table), Not(HasSubstr("agent:--learn)")));
  EXPECT_THAT(ZshCompletion(table), HasSubstr("'--learn=-[write it down]::FILE:_files'"));
  EXPECT_THAT(FishCompletion(table), HasSubstr("-l learn -d 'write it down'"));
}

TEST(CompletionTest, OffersChangesWhereTheirNameIsTheFirstWord) {
  static const Command command{.name = "apply",
                               .summary = "apply",
                               .usage = "NAME",
                               .flags = {},
                               .words = {},
                               .details = "",
                               .run = nullptr,
                               .first_word = Values::kChangeSet};
  const std::vector<const Command*> table = {&command};
  EXPECT_THAT(BashCompletion(table),
              HasSubstr("    apply:apply) _igloo_words \"$(\"$1\" changes list --names"));
  EXPECT_THAT(ZshCompletion(table), HasSubstr("'1:name:_igloo_change_sets'"));
  EXPECT_THAT(FishCompletion(table),
              HasSubstr("__fish_seen_subcommand_from apply' -x -a '(igloo changes list --names"));
}

TEST(BashCompletionTest, KnowsCommandsFlagsAndValues) {
  const std::string script = BashCompletion(Table());
  for (const char* part :
       {"_igloo_words 'run env --help --version'",
        "    run:--env) _igloo_words \"$(\"$1\" env list --names 2>/dev/null)\"; return ;;\n",
        "    run:--wall) _igloo_words 'thick thin'; return ;;\n", "    run:--timeout) return ;;\n",
        "    env:show) _igloo_words \"$(\"$1\" env list --names 2>/dev/null)\"; return ;;\n",
        "    run) _igloo_words '--env --file --project --wall --timeout --json --help' ;;\n",
        "    env:remove) _igloo_words \"$(\"$1\" env remove --names 2>/dev/null)\"; return ;;\n",
        "    env) _igloo_words 'list show remove --help' ;;\n", "complete -F _igloo igloo\n"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
  EXPECT_THAT(script, Not(HasSubstr("run:--json)"))) << "a switch has no value";
}

TEST(ZshCompletionTest, QuotesWhatZshWouldRead) {
  const std::string script = ZshCompletion(Table());
  for (const char* part :
       {"#compdef igloo\n", "    'run:run it'\n",
        "'--env=[what'\\''s inside \\[all of it\\]]:NAME:_igloo_environments'",
        "'--file=[a file]:FILE:_files'", "'--wall=[how strong]:NAME:(thick thin)'",
        "'--json[for programs]'", "'1:word:(list show remove)'", "'2:show:_igloo_environments'",
        "    env:remove) from=remove ;;\n"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
  EXPECT_THAT(script, Not(HasSubstr("'2:remove:"))) << "zsh takes one rule for a place";
}

TEST(FishCompletionTest, KnowsCommandsFlagsAndValues) {
  const std::string script = FishCompletion(Table());
  for (const char* part :
       {"complete -c igloo -n __fish_use_subcommand -a run -d 'run it'\n",
        "-l env -x -a '(igloo env list --names 2>/dev/null)' -d 'what\\'s inside [all of it]'\n",
        "-l file -r -F -d 'a file'\n", "-l wall -x -a 'thick thin' -d 'how strong'\n",
        "-l json -d 'for programs'\n",
        "__fish_seen_subcommand_from remove' -x -a '(igloo env remove --names 2>/dev/null)'\n"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
}

TEST(ManualTest, HasEveryCommandAndFlag) {
  const std::string page = Manual(Table(), "1.2.3");
  for (const char* part :
       {".TH IGLOO 1 \"\" \"igloo 1.2.3\"", ".SH NAME\n", ".SS igloo run\nrun it.\n",
        ".TP\n\\fB\\-\\-timeout\\fR \\fISECONDS\\fR\nhow long\n",
        ".TP\n\\fB\\-\\-json\\fR\nfor programs\n", ".SS igloo env\n", ".TP\n\\fBshow\\fR\none\n",
        ".SH EXIT STATUS\n"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(ManualTest, TextNeverBecomesARequest) {
  const std::string page = Manual(Table(), "1");
  EXPECT_THAT(page, HasSubstr(".nf\n\\&.not a request\n\\&\\(aqnor this\\e\n.fi\n"));
}

}  // namespace
}  // namespace igloo::cli
