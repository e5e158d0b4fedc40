#include "agent/home.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "agent/state/projects.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Not;

class Home : public ::testing::Test {
 protected:
  Home() : place_(fs::canonical(temp_.path()).string()) {
    fs::create_directories(place_ + "/home");
    fs::create_directories(place_ + "/project");
  }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(place_ + "/" + path).parent_path());
    std::ofstream(place_ + "/" + path) << text;
  }
  std::string Read(const std::string& path) { return ReadFile(path, 1U << 20).value_or("(none)"); }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
};

std::vector<std::string> Targets(const std::vector<Mount>& mounts, sandbox::Access access) {
  std::vector<std::string> targets;
  for (const Mount& mount : mounts) {
    const auto& tree = std::get<sandbox::HostTree>(mount.entry);
    if (tree.access == access) targets.push_back(tree.target);
  }
  return targets;
}

TEST_F(Home, HistoryIsThatOfTheProjectAndBeginsWithTheUsersOwn) {
  const std::string project = place_ + "/project";
  const std::string name = ClaudeProjectName(project);
  Write("home/.claude/projects/" + name + "/a.jsonl", "old");
  Write("home/.claude/projects/other/b.jsonl", "of another project");
  const auto history =
      OpenHistory(*FindProfile("claude"), place_ + "/histories/claude", place_ + "/home", project);
  ASSERT_TRUE(history) << history.error().what;
  EXPECT_EQ(history->path, ".claude/projects");
  EXPECT_EQ(Read(history->source + "/" + name + "/a.jsonl"), "old");
  EXPECT_FALSE(fs::exists(history->source + "/other"));
  // Once: what the user's own gets later is not brought over again.
  Write("home/.claude/projects/" + name + "/c.jsonl", "new");
  const auto again =
      OpenHistory(*FindProfile("claude"), place_ + "/histories/claude", place_ + "/home", project);
  EXPECT_EQ(again->source, history->source);
  EXPECT_FALSE(fs::exists(history->source + "/" + name + "/c.jsonl"));
}

TEST_F(Home, MountsDirectoriesThatAreThereAndNoLinks) {
  Write("home/.claude/commands/x.md", "x");
  Write("home/.claude/todos/t.json", "{}");
  Write("elsewhere/secret", "x");
  fs::create_directory_symlink(place_ + "/elsewhere", place_ + "/home/.claude/plugins");
  const std::string home = place_ + "/home";
  const BoxOrder order{.box = "b", .agent = "claude", .home = home};
  const std::optional<History> history = History{".claude/projects", place_ + "/histories"};
  const AgentFiles& files = *FindAgentFiles("claude");
  const auto sessions = OpenSessions(files, place_ + "/sessions/claude", place_ + "/project");
  ASSERT_TRUE(sessions) << sessions.error().what;
  const auto mounts = MountsOfState(files, order, home, sessions->source, history);
  EXPECT_THAT(Targets(mounts, sandbox::Access::kReadOnly), Contains(home + "/.claude/commands"));
  EXPECT_THAT(Targets(mounts, sandbox::Access::kReadWrite), Contains(home + "/.claude/todos"));
  EXPECT_THAT(Targets(mounts, sandbox::Access::kReadWrite), Contains(home + "/.claude/projects"));
  EXPECT_THAT(Targets(mounts, sandbox::Access::kReadOnly),
              Not(Contains(home + "/.claude/plugins")));
}

TEST_F(Home, WritesToNoDirectoryOfTheUsersThatOtherProjectsHave) {
  for (const AgentFiles& files : AllAgentFiles()) {
    for (const FileRule& rule : files.files) {
      if (rule.path.ends_with('/'))
        fs::create_directories(place_ + "/home/" + std::string(rule.path));
    }
    const std::string home = place_ + "/home";
    const BoxOrder order{.box = "b", .agent = std::string(files.agent), .home = home};
    const auto place = place_ + "/sessions/" + std::string(files.agent);
    const auto one = OpenSessions(files, place, place_ + "/one");
    const auto two = OpenSessions(files, place, place_ + "/two");
    ASSERT_TRUE(one && two);
    EXPECT_NE(one->source, two->source);
    for (const Mount& mount : MountsOfState(files, order, home, one->source, std::nullopt)) {
      const auto& tree = std::get<sandbox::HostTree>(mount.entry);
      if (tree.access == sandbox::Access::kReadOnly) continue;
      EXPECT_TRUE(tree.source.starts_with(one->source + "/")) << tree.source;
    }
  }
}

TEST_F(Home, HasAPlaceForEachMountAndNothingOutside) {
  Write("home/.claude/commands/x.md", "x");
  Write("home/tool", "ELF");
  Box box{.project = place_ + "/home/project", .home = place_ + "/home"};
  const auto mount = [&](const std::string& path) {
    box.mounts.push_back({sandbox::HostTree{.source = path, .target = path}, "test"});
  };
  mount(place_ + "/home/.claude/commands");
  mount(place_ + "/home/tool");
  mount(place_ + "/project");
  box.program.links = {{place_ + "/home/bin/x", "/usr/bin/x"}, {"/opt/x", "/usr/bin/x"}};
  const std::string made = place_ + "/made";
  fs::create_directories(made);
  ASSERT_TRUE(FillHome(made, box));
  EXPECT_TRUE(fs::is_directory(made + "/.claude/commands"));
  EXPECT_TRUE(fs::is_regular_file(made + "/tool"));
  EXPECT_EQ(Read(made + "/tool"), "") << "a place for it, and no copy";
  EXPECT_TRUE(fs::is_directory(made + "/project"));
  EXPECT_EQ(fs::read_symlink(made + "/bin/x"), "/usr/bin/x");
  EXPECT_THAT(Read(made + "/.gitconfig"), ::testing::HasSubstr("[safe]"));
  EXPECT_FALSE(fs::exists(made + place_));
}

TEST_F(Home, APlaceInATreeOfTheBoxsOwnIsMadeThere) {
  fs::create_directories(place_ + "/own/share");
  Write("home/.local/share/claude/versions/1", "ELF");
  const std::string home = place_ + "/home", program = home + "/.local/share/claude/versions/1";
  Box box{.project = place_ + "/project", .home = home};
  box.own_trees = {{.source = place_ + "/own/share", .target = home + "/.local/share"}};
  box.mounts = {
      {sandbox::HostTree{.source = place_ + "/own/share", .target = home + "/.local/share"},
       "test"},
      {sandbox::HostTree{.source = program, .target = program}, "test"}};
  box.program.links = {{home + "/.local/share/link", "/usr/bin/x"}};
  const std::string made = place_ + "/made";
  fs::create_directories(made);
  ASSERT_TRUE(FillHome(made, box));
  EXPECT_TRUE(fs::is_directory(made + "/.local/share"));
  EXPECT_TRUE(fs::is_empty(made + "/.local/share"));
  EXPECT_TRUE(fs::is_regular_file(place_ + "/own/share/claude/versions/1"));
  EXPECT_EQ(fs::read_symlink(place_ + "/own/share/link"), "/usr/bin/x");
  box.program.links = {{home + "/.local/share/link", "/usr/bin/y"}};
  ASSERT_TRUE(FillHome(made, box)) << "again, with another version";
  EXPECT_EQ(fs::read_symlink(place_ + "/own/share/link"), "/usr/bin/y");
}

TEST_F(Home, NothingIsMadeThroughALinkThatABoxPutIntoItsTree) {
  fs::create_directories(place_ + "/own");
  fs::create_directories(place_ + "/victim");
  fs::create_directory_symlink(place_ + "/victim", place_ + "/own/claude");
  const std::string home = place_ + "/home";
  Box box{.project = place_ + "/project", .home = home};
  box.own_trees = {{.source = place_ + "/own", .target = home + "/.local/share"}};
  box.mounts = {
      {sandbox::HostTree{.source = "/usr", .target = home + "/.local/share/claude/x"}, ""}};
  const std::string made = place_ + "/made";
  fs::create_directories(made);
  const auto filled = FillHome(made, box);
  ASSERT_FALSE(filled);
  EXPECT_THAT(filled.error().what, ::testing::HasSubstr("cannot make a place for"));
  EXPECT_TRUE(fs::is_empty(place_ + "/victim"));
  // Nor at its end.
  box.mounts = {
      {sandbox::HostTree{.source = "/etc/passwd", .target = home + "/.local/share/file"}, ""}};
  fs::create_symlink(place_ + "/victim/file", place_ + "/own/file");
  EXPECT_FALSE(FillHome(made, box));
  EXPECT_TRUE(fs::is_empty(place_ + "/victim"));
}

}  // namespace
}  // namespace igloo::agent
