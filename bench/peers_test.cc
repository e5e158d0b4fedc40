#include "bench/peers.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace igloo::bench {
namespace {

using ::testing::IsSupersetOf;

TEST(Peers, EachSaysHowToGetItAndRunsTheProgramItIsGiven) {
  auto ground = Ground::Make("/programs", "");
  ASSERT_TRUE(ground) << ground.error().what;
  std::set<std::string_view> keys;
  for (const Peer& peer : Peers()) {
    EXPECT_TRUE(keys.insert(peer.key).second) << peer.key << " stands twice";
    EXPECT_FALSE(peer.install.empty()) << peer.key;
    EXPECT_FALSE(peer.note.empty()) << peer.key;
    if (peer.key == "codex") continue;  // asks the program which form it has
    const auto command = peer.command("/the/peer", *ground, {"/bin/true"});
    ASSERT_TRUE(command) << command.error().what;
    EXPECT_EQ(command->argv.front(), "/the/peer");
    const bool bundle = std::ranges::count(command->argv, "--bundle") != 0;
    EXPECT_TRUE(bundle || command->argv.back() == "/bin/true") << peer.key;
  }
  EXPECT_THAT(keys, IsSupersetOf({"one_shot", "bwrap", "crun", "runc", "srt", "codex"}));
}

TEST(Peers, TwoSandboxesOfOnePeerHaveDifferentNames) {
  auto ground = Ground::Make("/programs", "");
  ASSERT_TRUE(ground) << ground.error().what;
  const Peer& crun = *std::ranges::find(Peers(), "crun", &Peer::key);
  EXPECT_NE(crun.command("crun", *ground, {"/bin/true"})->argv,
            crun.command("crun", *ground, {"/bin/true"})->argv);
}

TEST(FindProgram, FindsWhatNpmInstalledWhateverTheArchitecture) {
  auto cache = TempDir::Make("/tmp");
  ASSERT_TRUE(cache) << cache.error().what;
  auto ground = Ground::Make("/programs", cache->path());
  ASSERT_TRUE(ground) << ground.error().what;
  const Peer& codex = *std::ranges::find(Peers(), "codex", &Peer::key);
  EXPECT_EQ(FindProgram(codex, *ground), "");
  const std::string place =
      cache->path() + "/node_modules/@openai/codex-linux-z80/vendor/z80-musl/bin";
  std::filesystem::create_directories(place);
  std::ofstream(place + "/codex") << "#!/bin/sh\n";
  ::chmod((place + "/codex").c_str(), 0755);
  EXPECT_EQ(FindProgram(codex, *ground), place + "/codex");
}

}  // namespace
}  // namespace igloo::bench
