#include "agent/state/write_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/state/testing.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class WriteBackTest : public StateTest {
 protected:
  BoxState Begin(const std::string& agent = "claude", const std::string& box = "one") {
    auto state =
        BoxState::Begin(store_, {.box = box, .agent = agent, .home = home_, .started = 17});
    EXPECT_TRUE(state) << state.error().what;
    return *std::move(state);
  }
  static void InBox(const BoxState& state, const std::string& path, const std::string& text) {
    // As agents write: a new file takes the old one's place.
    const std::string place = state.home() + "/" + path;
    fs::create_directories(fs::path(place).parent_path());
    std::ofstream(place + ".tmp") << text;
    fs::rename(place + ".tmp", place);
  }
  static WriteBack Finish(BoxState state) {
    auto done = state.Finish();
    EXPECT_TRUE(done) << done.error().what;
    for (const FileProblem& one : done->problems) ADD_FAILURE() << one.file << one.error.what;
    return *std::move(done);
  }
  std::size_t BoxesLeft() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(store_.Boxes()), {}));
  }
};

TEST_F(WriteBackTest, ABoxGetsCopiesOfTheAgentsFilesAndOfNoOthers) {
  for (const char* path :
       {".claude.json", ".claude/settings.json", ".claude/.credentials.json", ".claude/CLAUDE.md",
        ".claude/plugins/x", ".codex/auth.json", ".bashrc"}) {
    Write(path, path);
  }
  Write(".codex/AGENTS.md", "a");
  Write(".codex/AGENTS.override.md", "b");
  const BoxState claude = Begin();
  EXPECT_THAT(claude.problems(), IsEmpty());
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(claude.home())) {
    if (entry.is_regular_file()) found.push_back(fs::relative(entry, claude.home()).string());
  }
  EXPECT_THAT(found, UnorderedElementsAre(".claude.json", ".claude/settings.json",
                                          ".claude/.credentials.json", ".claude/CLAUDE.md"));
  EXPECT_EQ(ReadFile(claude.home() + "/.claude.json", 100), ".claude.json");
  const BoxState codex = Begin("codex");
  EXPECT_TRUE(fs::exists(codex.home() + "/.codex/AGENTS.override.md"));
  EXPECT_FALSE(BoxState::Begin(store_, {.box = "x", .agent = "none", .home = home_}));
}

TEST_F(WriteBackTest, HarmlessChangesAreMergedWithWhatTheHostDidMeanwhile) {
  Write(".claude.json", R"({"numStartups": 1, "theme": "dark", "big": 12345678901234567890})");
  BoxState state = Begin();
  InBox(state, ".claude.json",
        R"({"numStartups": 2, "theme": "dark", "big": 12345678901234567890})");
  Write(".claude.json", R"({"numStartups": 1, "theme": "light", "big": 12345678901234567890})");
  const WriteBack done = Finish(std::move(state));
  EXPECT_THAT(done.written, ElementsAre(".claude.json"));
  EXPECT_EQ(Read(".claude.json"),
            R"({"numStartups": 2, "theme": "light", "big": 12345678901234567890})");
  EXPECT_EQ(BoxesLeft(), 0U);
}

TEST_F(WriteBackTest, ABoxThatChangedNothingWritesNothing) {
  Write(".claude.json", "not { JSON");
  BoxState state = Begin();
  const auto before = fs::last_write_time(home_ + "/.claude.json");
  EXPECT_THAT(Finish(std::move(state)).written, IsEmpty());
  EXPECT_EQ(fs::last_write_time(home_ + "/.claude.json"), before);
  EXPECT_FALSE(fs::exists(home_ + "/.claude")) << "nothing is made on the host";
}

TEST_F(WriteBackTest, WhatTheHostWouldRunIsProposedAndNotWritten) {
  Write(".claude/settings.json", R"({"model": "a"})");
  BoxState state = Begin();
  InBox(state, ".claude/settings.json", R"({"model": "b", "hooks": {"Stop": []}})");
  InBox(state, ".claude/skills/x/SKILL.md", "do evil");
  const WriteBack done = Finish(std::move(state));
  EXPECT_EQ(Read(".claude/settings.json"), R"({"model": "b"})");
  EXPECT_FALSE(fs::exists(home_ + "/.claude/skills"));
  ASSERT_THAT(done.proposals, SizeIs(2));
  EXPECT_EQ(done.proposals[0].change.pointer, "/hooks");
  EXPECT_EQ(done.proposals[0].box, "one");
  EXPECT_EQ(done.proposals[0].started, 17);
  EXPECT_EQ(done.proposals[1].file, ".claude/skills/x/SKILL.md");
  EXPECT_EQ(ListProposals(store_).value(), done.proposals);
  ASSERT_TRUE(ConfirmProposal(store_, done.proposals[0].id));
  EXPECT_EQ(Read(".claude/settings.json"), R"({"model": "b", "hooks": {"Stop": []}})");
}

TEST_F(WriteBackTest, AFileSeenFromTheHostIsComparedWithTheHosts) {
  Write(".claude/commands/x.md", "mine");
  BoxState state = Begin();
  InBox(state, ".claude/commands/x.md", "changed");
  const WriteBack done = Finish(std::move(state));
  ASSERT_THAT(done.proposals, SizeIs(1));
  EXPECT_EQ(done.proposals[0].change.before, "mine");
  ASSERT_TRUE(ConfirmProposal(store_, done.proposals[0].id));
  EXPECT_EQ(Read(".claude/commands/x.md"), "changed");
}

TEST_F(WriteBackTest, WhereBothChangedTheHostStaysAndTheBoxsVersionIsProposed) {
  Write(".claude.json", R"({"theme": "a"})");
  BoxState state = Begin();
  InBox(state, ".claude.json", R"({"theme": "box"})");
  Write(".claude.json", R"({"theme": "host"})");
  const WriteBack done = Finish(std::move(state));
  EXPECT_EQ(Read(".claude.json"), R"({"theme": "host"})");
  ASSERT_THAT(done.proposals, SizeIs(1));
  EXPECT_EQ(done.proposals[0].change.after, "\"box\"");
}

TEST_F(WriteBackTest, ATextThatIsNoJsonIsKeptAsAProposalAndTheHostsFileStays) {
  Write(".claude.json", R"({"theme": "a"})");
  BoxState state = Begin();
  InBox(state, ".claude.json", R"({"theme": )");
  const WriteBack done = Finish(std::move(state));
  EXPECT_EQ(Read(".claude.json"), R"({"theme": "a"})");
  ASSERT_THAT(done.proposals, SizeIs(1));
  EXPECT_EQ(done.proposals[0].change.after, R"({"theme": )");
  EXPECT_THAT(done.proposals[0].change.why, HasSubstr("ends here"));
}

TEST_F(WriteBackTest, LinesThatBoxesAddAreAllKept) {
  Write(".claude/history.jsonl", "1\n");
  BoxState one = Begin(), two = Begin();
  InBox(one, ".claude/history.jsonl", "1\none\n");
  InBox(two, ".claude/history.jsonl", "1\ntwo\n");
  Write(".claude/history.jsonl", "1\nhost\n");
  Finish(std::move(one));
  Finish(std::move(two));
  EXPECT_EQ(Read(".claude/history.jsonl"), "1\nhost\none\ntwo\n");
}

TEST_F(WriteBackTest, WhatABoxRemovedOrEmptiedStaysOnTheHost) {
  Write(".claude.json", "{}");
  Write(".claude/CLAUDE.md", "text");
  BoxState state = Begin();
  fs::remove(state.home() + "/.claude.json");
  InBox(state, ".claude/CLAUDE.md", "");
  EXPECT_THAT(Finish(std::move(state)).written, IsEmpty());
  EXPECT_EQ(Read(".claude.json"), "{}");
}

TEST_F(WriteBackTest, WhatTheHostRemovedIsNotMadeAgain) {
  Write(".claude.json", R"({"theme": "a"})");
  BoxState state = Begin();
  InBox(state, ".claude.json", R"({"theme": "b"})");
  fs::remove(home_ + "/.claude.json");
  EXPECT_THAT(Finish(std::move(state)).proposals, SizeIs(1));
  EXPECT_FALSE(fs::exists(home_ + "/.claude.json"));
}

TEST_F(WriteBackTest, ARefreshedTokenReachesTheHostWhileTheBoxRuns) {
  Write(".claude/.credentials.json", R"({"claudeAiOauth": {"a": 1, "r": 1}})");
  BoxState state = Begin();
  InBox(state, ".claude/.credentials.json", R"({"claudeAiOauth": {"a": 2, "r": 2}})");
  ASSERT_TRUE(state.Sync());
  EXPECT_EQ(Read(".claude/.credentials.json"), R"({"claudeAiOauth": {"a": 2, "r": 2}})");
  // The other direction, and again this one: each time from what both had.
  Write(".claude/.credentials.json", R"({"claudeAiOauth": {"a": 3, "r": 3}})");
  ASSERT_TRUE(state.Sync());
  EXPECT_EQ(ReadFile(state.home() + "/.claude/.credentials.json", 100),
            R"({"claudeAiOauth": {"a": 3, "r": 3}})");
  InBox(state, ".claude/.credentials.json", R"({"claudeAiOauth": {"a": 4, "r": 4}})");
  EXPECT_THAT(Finish(std::move(state)).host_kept, IsEmpty());
  EXPECT_EQ(Read(".claude/.credentials.json"), R"({"claudeAiOauth": {"a": 4, "r": 4}})");
}

TEST_F(WriteBackTest, TokensOfTwoRefreshesAreNeverMixedAndNeverProposed) {
  Write(".claude/.credentials.json", R"({"claudeAiOauth": {"a": 1, "r": 1}})");
  BoxState state = Begin();
  InBox(state, ".claude/.credentials.json",
        R"({"claudeAiOauth": {"a": 2, "r": 1}, "mcpOAuth": {}})");
  Write(".claude/.credentials.json", R"({"claudeAiOauth": {"a": 1, "r": 3}})");
  const WriteBack done = Finish(std::move(state));
  EXPECT_THAT(done.host_kept, ElementsAre(".claude/.credentials.json"));
  EXPECT_EQ(Read(".claude/.credentials.json"),
            R"({"claudeAiOauth": {"a": 1, "r": 3}, "mcpOAuth": {}})");
  EXPECT_THAT(done.proposals, IsEmpty());
}

TEST_F(WriteBackTest, ASignInThatIsBeingWrittenIsNeitherTakenNorReplaced) {
  const std::string path = ".claude/.credentials.json";
  Write(path, R"({"claudeAiOauth": {"a": 1}})");
  BoxState state = Begin();
  for (const char* half : {"", "{", R"({"claudeAiOauth": {"a": )"}) {
    std::ofstream(state.home() + "/" + path) << half;
    ASSERT_TRUE(state.Sync());
    EXPECT_EQ(Read(path), R"({"claudeAiOauth": {"a": 1}})");
    EXPECT_EQ(ReadFile(state.home() + "/" + path, 100), half);
  }
  std::ofstream(state.home() + "/" + path) << R"({"claudeAiOauth": {"a": 2}})";
  ASSERT_TRUE(state.Sync());
  EXPECT_EQ(Read(path), R"({"claudeAiOauth": {"a": 2}})");
}

TEST_F(WriteBackTest, AFirstSignInInABoxReachesTheHost) {
  BoxState state = Begin("codex");
  InBox(state, ".codex/auth.json", R"({"tokens": {}})");
  ASSERT_TRUE(state.Sync());
  EXPECT_EQ(Read(".codex/auth.json"), R"({"tokens": {}})");
  EXPECT_EQ(fs::status(home_ + "/.codex/auth.json").permissions(), fs::perms(0600));
}

TEST_F(WriteBackTest, ASignInOnTheHostReachesARunningBox) {
  BoxState state = Begin("codex");
  Write(".codex/auth.json", R"({"tokens": {}})");
  ASSERT_TRUE(state.Sync());
  EXPECT_EQ(ReadFile(state.home() + "/.codex/auth.json", 100), R"({"tokens": {}})");
}

TEST_F(WriteBackTest, TheFileBehindTheUsersLinkIsReplaced) {
  Write("dotfiles/claude.json", "{}");
  fs::create_symlink("dotfiles/claude.json", home_ + "/.claude.json");
  BoxState state = Begin();
  InBox(state, ".claude.json", R"({"numStartups": 1})");
  Finish(std::move(state));
  EXPECT_TRUE(fs::is_symlink(home_ + "/.claude.json"));
  EXPECT_EQ(Read("dotfiles/claude.json"), R"({"numStartups": 1})");
}

TEST_F(WriteBackTest, FilesThatTheUserKeepsElsewhereGoBackThere) {
  const std::string other = temp_->path() + "/other";
  fs::create_directories(other + "/config");
  std::ofstream(other + "/token") << R"({"claudeAiOauth": 1})";
  std::ofstream(other + "/config/settings.json") << "{}";
  auto state = BoxState::Begin(store_, {.box = "one",
                                        .agent = "claude",
                                        .home = home_,
                                        .places = {{".claude/.credentials.json", other + "/token"},
                                                   {".claude/", other + "/config/"}}});
  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(ReadFile(state->home() + "/.claude/settings.json", 100), "{}");
  InBox(*state, ".claude/.credentials.json", R"({"claudeAiOauth": 2})");
  InBox(*state, ".claude/settings.json", R"({"model": "m", "hooks": {}})");
  // Killed here, the next start has to know the places, too.
  {
    const BoxState lost = *std::move(state);
  }
  const auto all = FinishInterrupted(store_);
  ASSERT_TRUE(all);
  ASSERT_THAT(*all, SizeIs(1));
  EXPECT_THAT((*all)[0].problems, IsEmpty());
  EXPECT_EQ(ReadFile(other + "/token", 100), R"({"claudeAiOauth": 2})");
  EXPECT_EQ(ReadFile(other + "/config/settings.json", 100), R"({"model": "m"})");
  ASSERT_THAT((*all)[0].proposals, SizeIs(1));
  ASSERT_TRUE(ConfirmProposal(store_, (*all)[0].proposals[0].id));
  EXPECT_EQ(ReadFile(other + "/config/settings.json", 100), R"({"model": "m", "hooks": {}})");
  EXPECT_TRUE(fs::is_empty(home_));
}

TEST_F(WriteBackTest, ALinkOfABoxTakesNothingOfTheUsersAlong) {
  Write("secret", R"({"theme": "secret"})");
  Write(".claude.json", "{}");
  BoxState state = Begin();
  fs::remove(state.home() + "/.claude.json");
  fs::create_symlink(home_ + "/secret", state.home() + "/.claude.json");
  const WriteBack done = Finish(std::move(state));
  EXPECT_EQ(Read(".claude.json"), "{}");
  EXPECT_THAT(done.proposals, IsEmpty());
}

TEST_F(WriteBackTest, AFileThatCannotBeReadIsSaidAndTheBoxGoesWithoutIt) {
  fs::create_symlink("nothing", home_ + "/.claude.json");
  const BoxState state = Begin();
  ASSERT_THAT(state.problems(), SizeIs(1));
  EXPECT_EQ(state.problems()[0].file, ".claude.json");
  EXPECT_FALSE(fs::exists(state.home() + "/.claude.json"));
}

TEST_F(WriteBackTest, WhatIsTooMuchToProposeIsKeptAsideOnceAndTheBoxIsFinished) {
  Write(".claude/.credentials.json", "{}");
  BoxState state = Begin();
  for (int i = 0; i < 250; ++i) InBox(state, ".claude/skills/s" + std::to_string(i), "x");
  const auto done = state.Finish();
  ASSERT_TRUE(done);
  EXPECT_THAT(done->proposals, SizeIs(200));
  ASSERT_THAT(done->problems, SizeIs(1));
  EXPECT_THAT(done->problems[0].error.what, HasSubstr("50 of its files"));
  EXPECT_THAT(done->problems[0].error.hint, HasSubstr(store_.Kept()));
  EXPECT_EQ(BoxesLeft(), 0U);
  ASSERT_EQ(std::distance(fs::directory_iterator(store_.Kept()), {}), 1);
  const std::string kept = fs::directory_iterator(store_.Kept())->path().string();
  EXPECT_TRUE(fs::exists(kept + "/home/.claude/skills/s249"));
  EXPECT_FALSE(fs::exists(kept + "/home/.claude/.credentials.json")) << "no sign-in stays";
  EXPECT_FALSE(fs::exists(kept + "/base"));
  EXPECT_THAT(FinishInterrupted(store_).value(), IsEmpty()) << "it is not tried again";
}

TEST_F(WriteBackTest, DirectoriesThatABoxClosedAreRemovedToo) {
  BoxState state = Begin();
  fs::create_directories(state.home() + "/go/pkg/module@v1");
  fs::permissions(state.home() + "/go/pkg/module@v1",
                  fs::perms::owner_read | fs::perms::owner_exec);
  std::ofstream(state.home() + "/go/pkg/file") << "x";
  fs::permissions(state.home() + "/go/pkg", fs::perms::none);
  Finish(std::move(state));
  EXPECT_EQ(BoxesLeft(), 0U);
  EXPECT_TRUE(fs::is_empty(store_.Making()));
}

TEST_F(WriteBackTest, OnlyBoxesThatDoNotRunAreFinishedByOthers) {
  Write(".claude.json", "{}");
  BoxState running = Begin("claude", "running");
  InBox(running, ".claude.json", R"({"numStartups": 1})");
  {
    const BoxState lost = Begin("claude", "lost");  // its lock goes, its files stay
    InBox(lost, ".claude.json", R"({"firstStartTime": 2})");
  }
  const auto all = FinishInterrupted(store_);
  ASSERT_TRUE(all) << all.error().what;
  ASSERT_THAT(*all, SizeIs(1));
  EXPECT_EQ((*all)[0].box, "lost");
  EXPECT_EQ(Read(".claude.json"), R"({"firstStartTime": 2})");
  Finish(std::move(running));
  EXPECT_EQ(Read(".claude.json"), R"({"firstStartTime": 2, "numStartups": 1})");
}

TEST_F(WriteBackTest, ADamagedBoxIsSaid) {
  {
    const BoxState lost = Begin();
  }
  const fs::path box = fs::directory_iterator(store_.Boxes())->path();
  std::ofstream(box / "order") << "{}";
  const auto all = FinishInterrupted(store_);
  ASSERT_TRUE(all);
  ASSERT_THAT(*all, SizeIs(1));
  EXPECT_THAT((*all)[0].problems, SizeIs(1));
}

}  // namespace
}  // namespace igloo::agent
