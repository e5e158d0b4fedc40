#include "agent/state/proposals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/state/testing.h"

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Proposals : public StateTest {
 protected:
  Proposal Add(const std::string& file, const Change& change, const std::string& agent = "claude") {
    const auto lock = LockStore(store_);
    EXPECT_TRUE(lock) << lock.error().what;
    const Proposal proposal = MakeProposal({.box = "one",
                                            .started = 17,
                                            .agent = agent,
                                            .file = file,
                                            .host = home_ + "/" + file,
                                            .change = change});
    const auto added = AddProposal(store_, proposal);
    EXPECT_TRUE(added) << added.error().what;
    return proposal;
  }
  std::string Refusal(const std::string& id) {
    const auto confirmed = ConfirmProposal(store_, id);
    EXPECT_FALSE(confirmed);
    return confirmed ? "" : confirmed.error().what;
  }
};

TEST_F(Proposals, AreListedAsTheyWereMade) {
  const auto hooks = Add(".claude/settings.json", {"/hooks", std::nullopt, "{}", "runs"});
  const auto bytes = Add(".claude/skills/\xff/x", {"", "\xfe", std::string("\0\n", 2), "why"});
  EXPECT_EQ(Add(".claude/settings.json", {"/hooks", std::nullopt, "{}", "runs"}), hooks);
  EXPECT_THAT(ListProposals(store_).value(), ElementsAre(hooks, bytes));
  EXPECT_EQ(FindProposal(store_, hooks.id.substr(0, 6)).value(), hooks);
  EXPECT_FALSE(FindProposal(store_, ""));
  EXPECT_FALSE(FindProposal(store_, "../lock"));
}

TEST_F(Proposals, WithoutAStoreThereAreNone) {
  EXPECT_THAT(ListProposals(store_).value(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(store_.directory));
}

TEST_F(Proposals, ADroppedOneIsForgottenAndChangesNothing) {
  Write(".claude/settings.json", "{}");
  const auto hooks = Add(".claude/settings.json", {"/hooks", std::nullopt, "{}", "runs"});
  EXPECT_TRUE(DropProposal(store_, hooks.id));
  EXPECT_THAT(ListProposals(store_).value(), IsEmpty());
  EXPECT_EQ(Read(".claude/settings.json"), "{}");
  EXPECT_FALSE(DropProposal(store_, hooks.id));
}

TEST_F(Proposals, AConfirmedOneIsMergedIntoTheHostsFile) {
  Write(".claude.json",
        "{\n  \"n\": 1.0,\n  \"projects\": {\n    \"/p\": {\n      \"x\": 1\n    }\n  }\n}\n");
  const auto tools =
      Add(".claude.json", {"/projects/~1p/allowedTools", std::nullopt, "[\"Bash\"]", "rights"});
  const auto server = Add(".claude.json", {"/mcpServers", std::nullopt, "{\"a\": 1}", "starts"});
  ASSERT_TRUE(ConfirmProposal(store_, tools.id));
  ASSERT_TRUE(ConfirmProposal(store_, server.id));
  EXPECT_EQ(Read(".claude.json"),
            "{\n  \"n\": 1.0,\n  \"projects\": {\n    \"/p\": {\n      \"x\": 1,\n      "
            "\"allowedTools\": [\n        \"Bash\"\n      ]\n    }\n  },\n  \"mcpServers\": {\n    "
            "\"a\": 1\n  }\n}\n");
  EXPECT_THAT(ListProposals(store_).value(), IsEmpty());
}

TEST_F(Proposals, ConfirmingARemovalRemovesTheKey) {
  Write(".claude/settings.json", R"({"permissions": {"deny": ["x"]}, "model": "m"})");
  const auto removal =
      Add(".claude/settings.json", {"/permissions", R"({"deny": ["x"]})", std::nullopt, "rights"});
  ASSERT_TRUE(ConfirmProposal(store_, removal.id));
  EXPECT_EQ(Read(".claude/settings.json"), R"({"model": "m"})");
}

TEST_F(Proposals, WhatTheHostChangedSinceIsNotOverwritten) {
  Write(".claude/settings.json", R"({"hooks": {"mine": 1}})");
  const auto hooks = Add(".claude/settings.json", {"/hooks", std::nullopt, R"({"a": 1})", "runs"});
  const auto other = Add(".claude/settings.json", {"/env", "{}", "[]", "variables"});
  const auto whole = Add(".claude/CLAUDE.md", {"", "before", "after", "prompt"});
  Write(".claude/CLAUDE.md", "changed");
  EXPECT_THAT(Refusal(other.id), HasSubstr("was changed on the host at /env"));
  EXPECT_THAT(Refusal(whole.id), HasSubstr("was changed on the host"));
  EXPECT_EQ(Read(".claude/CLAUDE.md"), "changed");
  // An object that both added is merged by key, as everywhere.
  ASSERT_TRUE(ConfirmProposal(store_, hooks.id));
  EXPECT_EQ(Read(".claude/settings.json"), R"({"hooks": {"mine": 1, "a": 1}})");
  EXPECT_THAT(ListProposals(store_).value(), ::testing::SizeIs(2));
}

TEST_F(Proposals, AWholeFileIsWrittenAsItWasProposed) {
  const auto skill = Add(".claude/skills/a/SKILL.md", {"", std::nullopt, "text\n", "prompt"});
  ASSERT_TRUE(ConfirmProposal(store_, skill.id));
  EXPECT_EQ(Read(".claude/skills/a/SKILL.md"), "text\n");
}

TEST_F(Proposals, WhatWouldBreakAFileIsRefused) {
  Write(".claude/settings.json", "{}");
  const auto broken = Add(".claude/settings.json", {"", "{}", "{broken", "not JSON"});
  EXPECT_THAT(Refusal(broken.id), HasSubstr(".claude/settings.json:1:2"));
  const auto foreign = Add(".bashrc", {"", std::nullopt, "x", "shell"});
  EXPECT_THAT(Refusal(foreign.id), HasSubstr("no file of 'claude'"));
  EXPECT_EQ(Read(".claude/settings.json"), "{}");
}

TEST_F(Proposals, DamagedOnesAreLeftOut) {
  ASSERT_TRUE(LockStore(store_));
  std::ofstream(store_.Proposals() + "/0123456789ab") << "{\"box\": 3}";
  EXPECT_THAT(ListProposals(store_).value(), IsEmpty());
}

TEST_F(Proposals, KilledAtAnyStepAConfirmedChangeIsThereOnceAndComplete) {
  int steps = 0;
  for (bool killed = true; killed; ++steps) {
    Write(".claude/settings.json", R"({"model": "m"})");
    const auto hooks = Add(".claude/settings.json", {"/hooks", std::nullopt, "{}", "runs"});
    killed = KilledAtStep(store_, steps,
                          [&](const StateStore& store) { (void)ConfirmProposal(store, hooks.id); });
    const auto left = ListProposals(store_).value();
    if (!left.empty()) {
      EXPECT_TRUE(ConfirmProposal(store_, hooks.id));
    }
    EXPECT_EQ(Read(".claude/settings.json"), R"({"model": "m", "hooks": {}})");
  }
  EXPECT_GE(steps, 3);
}

}  // namespace
}  // namespace igloo::agent
