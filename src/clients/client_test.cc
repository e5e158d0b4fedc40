#include "clients/client.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "clients/edit.h"

namespace igloo::clients {
namespace {

using ::testing::HasSubstr;

Variables Given(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

std::string UserFile(std::string_view client, const Variables& variables) {
  return FileOf(*FindClient(client).value(), Scope::kUser, variables, "").value_or("none");
}

TEST(ClientTableTest, NamesAndAliasesAreAllDifferent) {
  std::set<std::string> seen;
  for (const Client& client : kClients) {
    EXPECT_TRUE(seen.insert(std::string(client.name)).second) << client.name;
    std::string aliases(client.aliases);
    for (std::size_t at = 0; at < aliases.size();) {
      const std::size_t end = std::min(aliases.find(' ', at), aliases.size());
      const std::string alias = aliases.substr(at, end - at);
      EXPECT_TRUE(seen.insert(alias).second) << alias;
      EXPECT_EQ(FindClient(alias), &client);
      at = end + 1;
    }
  }
}

TEST(ClientTableTest, EveryBlockSaysWhatToStart) {
  const Server server{.name = "igloo", .command = "/opt/igloo", .args = {"mcp", "--config", "/c"}};
  for (const Client& client : kClients) {
    const std::string text = WholeFile(client, server);
    const auto again = Install(client, server, "f", text, Foreign::kKeep);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->change, Change::kNone) << text;
  }
}

TEST(FindClientTest, SaysWhatThereIs) {
  EXPECT_EQ(FindClient("claude").value()->name, "claude-code");
  EXPECT_THAT(FindClient("curser").error().hint, HasSubstr("did you mean 'cursor'?"));
  EXPECT_THAT(FindClient("emacs").error().hint, HasSubstr("claude-desktop, codex"));
  EXPECT_FALSE(FindClient("")) << "a client without aliases has no empty one";
}

TEST(FileOfTest, FollowsHomeAndXdg) {
  const Variables home = Given({{"HOME", "/h"}});
  EXPECT_EQ(UserFile("claude-code", home), "/h/.claude.json");
  EXPECT_EQ(UserFile("claude-desktop", home), "/h/.config/Claude/claude_desktop_config.json");
  EXPECT_EQ(UserFile("codex", home), "/h/.codex/config.toml");
  EXPECT_EQ(UserFile("gemini", home), "/h/.gemini/settings.json");
  EXPECT_EQ(UserFile("opencode", home), "/h/.config/opencode/opencode.json");
  EXPECT_EQ(UserFile("cursor", home), "/h/.cursor/mcp.json");
  EXPECT_EQ(UserFile("vscode", home), "/h/.config/Code/User/mcp.json");
  const Variables xdg = Given({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}});
  EXPECT_EQ(UserFile("vscode", xdg), "/x/Code/User/mcp.json");
  EXPECT_EQ(UserFile("cursor", xdg), "/h/.cursor/mcp.json");
  EXPECT_EQ(UserFile("vscode", Given({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "x"}})),
            "/h/.config/Code/User/mcp.json");
  EXPECT_EQ(UserFile("codex", Given({{"HOME", "/h"}, {"CODEX_HOME", "/c"}})), "/c/config.toml");
  EXPECT_EQ(UserFile("claude", Given({{"CLAUDE_CONFIG_DIR", "/c"}})), "/c/.claude.json");
  EXPECT_EQ(UserFile("codex", Given({})), "none");
  EXPECT_EQ(UserFile("codex", Given({{"HOME", "relative"}})), "none");
}

TEST(FileOfTest, AProjectHasItsOwn) {
  for (const Client& client : kClients) {
    const auto file = FileOf(client, Scope::kProject, Given({}), "/p");
    EXPECT_EQ(file.has_value(), client.name != "claude-desktop");
    if (file) {
      EXPECT_EQ(*file, "/p/" + std::string(client.project_file));
    }
  }
  EXPECT_EQ(FileOf(*FindClient("claude").value(), Scope::kProject, Given({}), "/"), "/.mcp.json");
}

TEST(FileOfTest, TheOtherNameCountsWhenOnlyItExists) {
  const TempDir dir = TempDir::Make(::testing::TempDir()).value();
  const Client& opencode = *FindClient("opencode").value();
  const auto file = [&] { return *FileOf(opencode, Scope::kProject, Given({}), dir.path()); };
  EXPECT_EQ(file(), dir.path() + "/opencode.json");
  ASSERT_TRUE(ReplaceFile(dir.path() + "/opencode.jsonc", "{}"));
  EXPECT_EQ(file(), dir.path() + "/opencode.jsonc");
  ASSERT_TRUE(ReplaceFile(dir.path() + "/opencode.json", "{}"));
  EXPECT_EQ(file(), dir.path() + "/opencode.json");
}

}  // namespace
}  // namespace igloo::clients
