#include "cli/agent/grant_options.h"

#include <gmock/gmock.h>

#include "cli/commands.h"

namespace igloo::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ParsedArgs Parsed(std::vector<std::string> words) {
  return ParseArgs(kAgentCommand, words).value();
}

TEST(GrantOptions, EveryGrantHasItsOption) {
  for (const agent::GrantRow& row : agent::AllGrants()) {
    if (!row.option.starts_with("--")) continue;  // claude-sandbox alone gives it
    const auto flag = std::ranges::find(kAgentCommand.flags, row.option, &Flag::name);
    ASSERT_NE(flag, kAgentCommand.flags.end()) << row.option;
    EXPECT_FALSE(row.risk.empty());
    std::vector<std::string> words = {std::string(row.option)};
    if (!flag->value.empty()) words.emplace_back("x");
    EXPECT_THAT(ReadGrants(Parsed(words)).asked, ElementsAre(row.grant)) << row.option;
  }
}

TEST(GrantOptions, NobodyGetsWhatNobodyAskedFor) {
  EXPECT_THAT(ReadGrants(Parsed({"claude", "--yes"})).asked, IsEmpty());
}

TEST(GrantOptions, ListsKeepTheirOrder) {
  const agent::GrantRequest request =
      ReadGrants(Parsed({"--mount", "/a:rw", "--mount=/b", "--ssh-key-filter", "work"}));
  EXPECT_THAT(request.mounts, ElementsAre("/a:rw", "/b"));
  EXPECT_THAT(request.ssh_key_filters, ElementsAre("work"));
}

}  // namespace
}  // namespace igloo::cli
