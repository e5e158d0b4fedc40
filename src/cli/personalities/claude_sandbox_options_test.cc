#include "cli/personalities/claude_sandbox_options.h"

#include <gmock/gmock.h>

namespace igloo::cli::claude_sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options Parsed(const std::vector<std::string>& words) { return *ParseOptions(words); }

TEST(ClaudeSandboxOptions, WhatStandsBehindTheDirectoryIsForTheAgent) {
  const Options options = Parsed({"--shell", "--gh-token", "dir", "-p", "hi", "--minimal"});
  EXPECT_TRUE(options.shell && options.gh_token);
  EXPECT_FALSE(options.minimal);
  EXPECT_EQ(options.project, "dir");
  EXPECT_THAT(options.rest, ElementsAre("-p", "hi", "--minimal"));
}

TEST(ClaudeSandboxOptions, TheDirectoryIsWhereOneIsUnlessItIsNamed) {
  EXPECT_EQ(Parsed({}).project, ".");
  EXPECT_EQ(Parsed({"--minimal"}).project, ".");
  const Options options = Parsed({"--minimal", "--", "--shell", "x"});
  EXPECT_EQ(options.project, ".");
  EXPECT_THAT(options.rest, ElementsAre("--shell", "x"));
  EXPECT_FALSE(options.shell);
}

TEST(ClaudeSandboxOptions, TwoDashesBehindTheDirectoryAreNoArgument) {
  EXPECT_THAT(Parsed({"dir", "--", "-p", "--", "x"}).rest, ElementsAre("-p", "--", "x"));
  EXPECT_THAT(Parsed({"dir", "-p", "--"}).rest, ElementsAre("-p", "--"));
  EXPECT_THAT(Parsed({"dir", "--"}).rest, IsEmpty());
}

TEST(ClaudeSandboxOptions, PortsAddUp) {
  EXPECT_THAT(Parsed({"--reach", "80", "--reach=90", "d"}).reach, ElementsAre("80", "90"));
  for (const auto& words : {std::vector<std::string>{"--reach"}, {"--reach="}}) {
    EXPECT_EQ(ParseOptions(words).error().what, "--reach requires a value");
  }
}

TEST(ClaudeSandboxOptions, AnUnknownOneIsRefusedInTheWordsOfTheOriginal) {
  for (const char* word : {"--verbose", "-x", "--shell=no", "-", "--Shell", "---"}) {
    const auto options = ParseOptions(std::vector<std::string>{word, "dir"});
    ASSERT_FALSE(options) << word;
    EXPECT_EQ(options.error().what, "Unknown option: " + std::string(word));
  }
}

TEST(ClaudeSandboxLaunchers, EachHasAWallAndAWordOfItsOwn) {
  std::vector<std::string> words;
  for (const Launcher& each : Launchers()) {
    EXPECT_EQ(FindLauncher(each.link), &each);
    EXPECT_NE(wall::FindByLauncher(each.link), nullptr) << each.link;
    words.push_back(BackendWord(each));
    EXPECT_THAT(Usage(each), HasSubstr("Usage: " + std::string(each.link) + " [--shell]"));
  }
  EXPECT_THAT(words, ElementsAre("bubblewrap", "container", "vm"));
  EXPECT_EQ(FindLauncher("claude-sandbox-cloud"), nullptr);
}

constexpr wall::Wall kServed[] = {
    {.name = "plain", .description = "", .served = true, .launcher = "claude-sandbox"},
    {.name = "rooted", .description = "", .served = true, .launcher = "claude-sandbox-container"},
    {.name = "later", .description = "a machine", .launcher = "claude-sandbox-vm"},
};

TEST(ClaudeSandboxLaunchers, TheContainerNeedsRootAndSaysSoAsBefore) {
  const Launcher& container = *FindLauncher("claude-sandbox-container");
  EXPECT_EQ(WallOf(container, false, kServed).error().what,
            "systemd-nspawn requires root. Run with sudo.");
  EXPECT_EQ(*WallOf(container, true, kServed), &kServed[1]);
  EXPECT_EQ(*WallOf(*FindLauncher("claude-sandbox"), false, kServed), &kServed[0]);
}

TEST(ClaudeSandboxLaunchers, AWallThatIsNotServedIsNamed) {
  const Error error = WallOf(*FindLauncher("claude-sandbox-vm"), true, kServed).error();
  EXPECT_EQ(error.what, "claude-sandbox-vm needs a machine, and this igloo cannot make one yet");
  EXPECT_THAT(error.hint, HasSubstr("'claude-sandbox' makes a sandbox without it"));
}

}  // namespace
}  // namespace igloo::cli::claude_sandbox
