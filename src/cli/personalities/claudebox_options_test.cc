#include "cli/personalities/claudebox_options.h"

#include <gmock/gmock.h>

namespace igloo::cli::claudebox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Options Parsed(const std::vector<std::string>& words) { return *ParseOptions(words); }

TEST(ClaudeboxOptions, WhatItDoesNotKnowIsForTheAgent) {
  const Options options =
      Parsed({"-p", "hello", "--yes", "--model", "opus", "--resume=x", "--check=no"});
  EXPECT_TRUE(options.yes);
  EXPECT_FALSE(options.check);
  EXPECT_THAT(options.rest,
              ElementsAre("-p", "hello", "--model", "opus", "--resume=x", "--check=no"));
}

TEST(ClaudeboxOptions, EverythingBehindTwoDashesIsForTheAgent) {
  const Options options = Parsed({"-y", "--", "--yes", "--dry-run", "--"});
  EXPECT_TRUE(options.yes);
  EXPECT_FALSE(options.dry_run);
  EXPECT_THAT(options.rest, ElementsAre("--yes", "--dry-run", "--"));
}

TEST(ClaudeboxOptions, RepeatedOnesAddUp) {
  const Options options = Parsed({"--ssh-key", "a", "--ssh-key=b", "--mount-home", ".cache",
                                  "--path-add", "/x", "--network", "none", "--network=full"});
  EXPECT_THAT(options.ssh_keys, ElementsAre("a", "b"));
  EXPECT_THAT(options.home, ElementsAre(".cache"));
  EXPECT_THAT(options.path, ElementsAre("/x"));
  EXPECT_EQ(options.network, "full");
}

TEST(ClaudeboxOptions, OneWithoutItsValueIsRefused) {
  for (const char* name : {"--cmd", "--ssh-key", "--profile", "--show-profile", "--network"}) {
    const auto options = ParseOptions(std::vector<std::string>{name});
    ASSERT_FALSE(options) << name;
    EXPECT_THAT(options.error().what, HasSubstr(name));
  }
}

}  // namespace
}  // namespace igloo::cli::claudebox
