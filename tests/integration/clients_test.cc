// 'igloo mcp install' and 'igloo mcp print-config' as people type them, in a home of their own.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "clients/client.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;
namespace json = boost::json;

class ClientsCli : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Make(fs::canonical(TempParent()).string());
    ASSERT_TRUE(made) << made.error().what;
    dir_.emplace(*std::move(made));
  }
  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  std::string Write(const std::string& name, std::string_view text, mode_t mode = 0600) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    EXPECT_TRUE(ReplaceFile(Path(name), text, {.mode = mode}));
    return Path(name);
  }
  std::string Read(const std::string& name) const {
    return ReadFile(Path(name), 1U << 20).value_or("(none)");
  }
  Outcome Mcp(std::vector<std::string> args, std::vector<std::string> env = {}) const {
    args.insert(args.begin(), "mcp");
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + dir_->path()});
    return RunProgram(
        {.program = BinDirectory() + "/igloo", .args = std::move(args), .env = std::move(env)});
  }
  /// From inside a directory: what a project is.
  Outcome McpIn(const std::string& directory, const std::string& words) const {
    return RunProgram({.program = "/bin/sh",
                       .args = {"-c", "cd \"$1\" && exec \"$2\" mcp " + words, "sh",
                                Path(directory), BinDirectory() + "/igloo"},
                       .env = {"PATH=/usr/bin:/bin", "HOME=" + dir_->path()}});
  }
  std::vector<std::string> Backups(const std::string& name) const {
    std::vector<std::string> out;
    for (const auto& each : fs::directory_iterator(fs::path(Path(name)).parent_path())) {
      if (each.path().string().starts_with(Path(name) + ".igloo-backup-")) {
        out.push_back(each.path().string());
      }
    }
    return out;
  }
  std::string FileOf(const clients::Client& client) const {
    const bool config = client.base == clients::Base::kConfigHome;
    return (config ? ".config/" : "") + std::string(client.user_file);
  }

 private:
  std::optional<TempDir> dir_;
};

/// igloo as Nix has it: in a store, with a profile whose link leads there.
class ClientsOfAStore : public ClientsCli {
 protected:
  void SetUp() override {
    ClientsCli::SetUp();
    fs::create_directories(Path(kBin));
    for (const std::string name : {"igloo", "igloo-core"}) {
      fs::copy_file(BinDirectory() + "/" + name, Path(kBin) + "/" + name);
    }
    fs::create_directories(Path("profiles"));
    fs::create_directory_symlink("../" + std::string(kBin), Path("profiles/bin"));
  }
  Outcome By(const std::string& program, const std::string& path) const {
    return RunProgram({.program = program,
                       .args = {"mcp", "print-config", "claude-code"},
                       .env = {"PATH=" + path, "HOME=" + Path("home")}});
  }
  static constexpr const char* kBin = "nix/store/0123456789abcdfghijklmnpqrsvwxyz-igloo-1/bin";
};

TEST_F(ClientsOfAStore, TheLinkThatWasCalledIsWrittenDown) {
  const Outcome called = By(Path("profiles/bin/igloo"), "/usr/bin:/bin");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_THAT(called.out, AllOf(HasSubstr("\"" + Path("profiles/bin/igloo") + "\""),
                                Not(HasSubstr("nix/store"))));
  // As a shell finds it, with another igloo before it in PATH.
  const Outcome found = RunProgram(
      {.program = "/bin/sh",
       .args = {"-c", "exec igloo mcp print-config claude-code"},
       .env = {"PATH=" + Path("profiles/bin") + ":" + BinDirectory(), "HOME=" + Path("home")}});
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("\"" + Path("profiles/bin/igloo") + "\""));
}

TEST_F(ClientsOfAStore, AStorePathIsNeverWrittenDown) {
  const std::string inside = Path(kBin) + "/igloo";
  const Outcome refused = By(inside, Path(kBin) + ":/usr/bin");
  EXPECT_EQ(refused.status, 125);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("garbage collection"), HasSubstr("nix profile install")));
  // The profile's link leads to the same program, so it is that one's other name.
  const Outcome found = By(inside, Path(kBin) + ":" + Path("profiles/bin"));
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("\"" + Path("profiles/bin/igloo") + "\""));
  fs::create_directories(Path("home"));
  fs::create_directory_symlink("../profiles", Path("home/.nix-profile"));
  const Outcome usual = By(inside, "/usr/bin");
  EXPECT_THAT(usual.out, HasSubstr("\"" + Path("home/.nix-profile/bin/igloo") + "\""));
}

TEST_F(ClientsCli, ClientsAreToldToUseStandardInputWhereTheServerByHandDoesNot) {
  EXPECT_THAT(Mcp({"print-config", "claude-code"}).out, Not(HasSubstr("--stdio"))) << "control";
  Write(".config/igloo/config.toml", "[daemon]\ntransport = 'http'\n");
  EXPECT_THAT(Mcp({"print-config", "claude-code"}).out, HasSubstr("--stdio"));
}

TEST_F(ClientsCli, EveryClientIsSetUpOnceAndTakenBack) {
  for (const clients::Client& client : clients::kClients) {
    SCOPED_TRACE(std::string(client.name));
    const std::string name(client.name), file = FileOf(client);
    const Outcome first = Mcp({"install", name});
    ASSERT_EQ(first.status, 0) << first.err;
    EXPECT_THAT(first.out, AllOf(StartsWith("added 'igloo' to "), HasSubstr(Path(file)),
                                 HasSubstr("the file is new"), HasSubstr("  next: ")));
    EXPECT_EQ(Read(file), Mcp({"print-config", name}).out);
    EXPECT_THAT(Read(file), HasSubstr("\"" + BinDirectory() + "/igloo\""));
    struct stat info{};
    ASSERT_EQ(::stat(Path(file).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    const std::string text = Read(file);
    const Outcome second = Mcp({"install", name});
    EXPECT_EQ(second.status, 0);
    EXPECT_THAT(second.out, HasSubstr("is there already, nothing to change"));
    EXPECT_EQ(Read(file), text);
    const Outcome removed = Mcp({"install", name, "--remove"});
    EXPECT_EQ(removed.status, 0) << removed.err;
    EXPECT_THAT(removed.out, HasSubstr("the file is gone: igloo had made it"));
    EXPECT_FALSE(fs::exists(Path(file)));
    EXPECT_THAT(Mcp({"install", name, "--remove"}).out,
                StartsWith("there is no 'igloo' to remove"));
  }
  EXPECT_EQ(fs::exists(Path(".config")), false) << "directories that igloo made go, too";
}

TEST_F(ClientsCli, OtherBytesStayAndComeBack) {
  const std::string settings =
      "\xef\xbb\xbf{\r\n\t// mine\r\n\t\"theme\": \"x\", /* dark */\r\n\t\"servers\": "
      "{\r\n\t\t\"a\": "
      "{ \"url\": \"http://x\" }, // a\r\n\t},\r\n}";
  Write(".config/Code/User/mcp.json", settings, 0644);
  const std::string toml = "model = 'x' # mine\n\n[mcp_servers.a]\ncommand = \"a\"";
  Write(".codex/config.toml", toml, 0640);
  for (const auto& [client, file, text, mode] :
       {std::tuple{"vscode", ".config/Code/User/mcp.json", settings, 0644U},
        {"codex", ".codex/config.toml", toml, 0640U}}) {
    const Outcome added = Mcp({"install", client});
    ASSERT_EQ(added.status, 0) << added.err;
    ASSERT_EQ(Backups(file).size(), 1U);
    EXPECT_THAT(added.out, HasSubstr("backup: " + Backups(file)[0]));
    EXPECT_EQ(ReadFile(Backups(file)[0], 1U << 20), text);
    EXPECT_NE(Read(file), text);
    EXPECT_EQ(Mcp({"install", client}).status, 0);
    EXPECT_EQ(Backups(file).size(), 1U) << "no change, no backup";
    struct stat info{};
    ASSERT_EQ(::stat(Path(file).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, mode);
    ASSERT_EQ(Mcp({"install", client, "--remove"}).status, 0);
    EXPECT_EQ(Read(file), text);
    EXPECT_EQ(Backups(file).size(), 2U);
  }
}

TEST_F(ClientsCli, BrokenFilesAreNamedWithTheirLineAndStay) {
  struct Case {
    const char *client, *file, *text, *what;
  };
  for (const Case& each :
       {Case{"cursor", ".cursor/mcp.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n",
             ":3:3: ',' or '}' should stand here"},
        {"claude-code", ".claude.json", "{} // c\n",
         ":1:4: this file is JSON, which has no comments"},
        {"gemini", ".gemini/settings.json", "[]", ":1:1: the file should hold an object"},
        {"codex", ".codex/config.toml", "a = 1\nb = [1\n", ":2:8: "},
        {"codex", ".codex/config.toml", "a = 1\na = 2\n", ":2:"},
        {"codex", ".codex/config.toml", "a = 2026-99-99\n", ":1:"},
        {"codex", ".codex/config.toml", "mcp_servers = {}\n",
         ":1:1: 'mcp_servers' is not a table"}}) {
    Write(each.file, each.text);
    for (const bool remove : {false, true}) {
      const Outcome outcome =
          Mcp(remove ? std::vector<std::string>{"install", each.client, "--remove"}
                     : std::vector<std::string>{"install", each.client});
      EXPECT_EQ(outcome.status, 125) << each.text;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr(Path(each.file) + each.what), HasSubstr("hint: ")));
      EXPECT_EQ(Read(each.file), each.text);
      EXPECT_TRUE(Backups(each.file).empty());
    }
  }
}

TEST_F(ClientsCli, OnlyPlainFilesAreChanged) {
  const std::string target = Write("dotfiles/mcp.json", "{}\n");
  fs::create_directory(Path(".cursor"));
  fs::create_symlink(target, Path(".cursor/mcp.json"));
  const Outcome link = Mcp({"install", "cursor"});
  EXPECT_EQ(link.status, 125);
  EXPECT_THAT(link.err, AllOf(HasSubstr("is a symbolic link"), HasSubstr("--file " + target)));
  EXPECT_EQ(Read("dotfiles/mcp.json"), "{}\n");
  EXPECT_EQ(Mcp({"install", "cursor", "--file", target}).status, 0);
  EXPECT_THAT(Read("dotfiles/mcp.json"), HasSubstr("mcpServers"));
  EXPECT_TRUE(fs::is_symlink(Path(".cursor/mcp.json")));
  fs::create_directories(Path(".claude.json"));
  EXPECT_THAT(Mcp({"install", "claude"}).err, HasSubstr("is a directory"));
  if (!RunningAsRoot()) {
    Write(".gemini/settings.json", "{}", 0000);
    EXPECT_THAT(Mcp({"install", "gemini"}).err, HasSubstr("Permission denied"));
    Write(".codex/config.toml", "");
    fs::permissions(Path(".codex"), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(Mcp({"install", "codex"}).status, 125);
    fs::permissions(Path(".codex"), fs::perms::owner_all);
    EXPECT_EQ(Read(".codex/config.toml"), "");
  }
}

TEST_F(ClientsCli, AServerOfThatNameThatIsNotIgloosIsShownAndStays) {
  const std::string text = "{\"mcpServers\": {\"igloo\": {\"command\": \"other\", \"args\": []}}}";
  Write(".claude.json", text);
  const Outcome refused = Mcp({"install", "claude"});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("\"igloo\": {\"command\": \"other\""),
                    HasSubstr("not igloo's; nothing was changed"), HasSubstr("--force")));
  EXPECT_EQ(Read(".claude.json"), text);
  EXPECT_EQ(Mcp({"install", "claude", "--remove"}).status, 125);
  EXPECT_EQ(Mcp({"install", "claude", "--name", "second"}).status, 0);
  EXPECT_EQ(Mcp({"install", "claude", "--name", "second", "--remove"}).status, 0);
  EXPECT_EQ(Read(".claude.json"), text);
  EXPECT_THAT(Mcp({"install", "claude", "--force"}).out, StartsWith("replaced 'igloo'"));
  EXPECT_THAT(Read(".claude.json"), HasSubstr(BinDirectory()));
}

TEST_F(ClientsCli, TheServersConfigurationIsPassedOn) {
  const std::string config = Write("c.toml", "");
  EXPECT_EQ(Mcp({"install", "opencode"}).status, 0);
  const Outcome updated = McpIn(".", "install opencode --config ./c.toml --json");
  EXPECT_EQ(updated.status, 0) << updated.err;
  const json::value document = json::parse(updated.out);
  EXPECT_EQ(document.at("result"), "updated");
  EXPECT_EQ(document.at("changed"), true);
  const json::value file = json::parse(Read(".config/opencode/opencode.json"));
  const json::value expected{BinDirectory() + "/igloo", "mcp", "--config", config};
  EXPECT_EQ(file.at("mcp").at("igloo").at("command"), expected);
  EXPECT_EQ(Mcp({"install", "opencode", "--remove"}).status, 0);
  EXPECT_FALSE(fs::exists(Path(".config/opencode/opencode.json")));
  EXPECT_THAT(Mcp({"install", "opencode", "--config", Path("none.toml")}).err,
              HasSubstr("No such file"));
}

TEST_F(ClientsCli, AProjectHasAFileOfItsOwn) {
  fs::create_directory(Path("p"));
  EXPECT_EQ(McpIn("p", "install claude --scope project").status, 0);
  EXPECT_THAT(Read("p/.mcp.json"), HasSubstr("\"igloo\""));
  EXPECT_EQ(McpIn("p", "install vscode --scope=project").status, 0);
  EXPECT_EQ(McpIn("p", "install vscode --scope=project --remove").status, 0);
  EXPECT_FALSE(fs::exists(Path("p/.vscode")));
  fs::create_directory(Path("elsewhere"));
  fs::create_directory_symlink(Path("elsewhere"), Path("p/.cursor"));
  EXPECT_THAT(McpIn("p", "install cursor --scope project").err, HasSubstr("is a symbolic link"));
  EXPECT_TRUE(fs::is_empty(Path("elsewhere")));
  EXPECT_THAT(McpIn("p", "install claude-desktop --scope project").err,
              HasSubstr("has no configuration of projects"));
}

TEST_F(ClientsCli, ADryRunShowsTheLinesAndChangesNothing) {
  Write(".gemini/settings.json", "{\n  \"secret\": \"hunter2\",\n  \"a\": 1\n}\n");
  const Outcome shown = Mcp({"install", "gemini", "--dry-run"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.out,
              AllOf(StartsWith("not done, only shown: added 'igloo'"),
                    HasSubstr("  -   \"a\": 1\n  +   \"a\": 1,\n  +   \"mcpServers\": {\n"),
                    Not(HasSubstr("hunter2"))));
  EXPECT_EQ(Read(".gemini/settings.json"), "{\n  \"secret\": \"hunter2\",\n  \"a\": 1\n}\n");
  EXPECT_TRUE(Backups(".gemini/settings.json").empty());
  EXPECT_FALSE(fs::exists(Path(".local")));
  EXPECT_EQ(json::parse(Mcp({"install", "gemini", "--dry-run", "--json"}).out).at("changed"),
            false);
}

TEST_F(ClientsCli, PlacesFollowTheVariables) {
  EXPECT_EQ(Mcp({"install", "codex"}, {"CODEX_HOME=" + Path("c")}).status, 0);
  EXPECT_THAT(Read("c/config.toml"), HasSubstr("[mcp_servers.igloo]"));
  EXPECT_EQ(Mcp({"install", "vscode"}, {"XDG_CONFIG_HOME=" + Path("x")}).status, 0);
  EXPECT_THAT(Read("x/Code/User/mcp.json"), HasSubstr("\"servers\""));
  const Outcome printed = Mcp({"print-config", "codex", "--json"});
  EXPECT_EQ(json::parse(printed.out).at("file").as_string(), Path(".codex/config.toml"));
  EXPECT_EQ(json::parse(printed.out).at("format"), "toml");
  const Outcome homeless = RunProgram(
      {.program = BinDirectory() + "/igloo", .args = {"mcp", "install", "codex"}, .env = {}});
  EXPECT_THAT(homeless.err, AllOf(HasSubstr("HOME is not set"), HasSubstr("--file")));
}

TEST_F(ClientsCli, WrongWordsGetAnAnswer) {
  EXPECT_THAT(Mcp({"install", "codex", "--http", "127.0.0.1:1"}).err,
              HasSubstr("--http is for the server"));
  EXPECT_THAT(Mcp({"instal"}).err, HasSubstr("did you mean 'install'?"));
  EXPECT_THAT(Mcp({"install"}).err, HasSubstr("needs one client"));
  EXPECT_THAT(Mcp({"install", "codx"}).err, HasSubstr("did you mean 'codex'?"));
  EXPECT_THAT(Mcp({"install", "codex", "--name", "a b"}).err,
              HasSubstr("cannot be a server's name"));
  EXPECT_THAT(Mcp({"install", "codex", "--scope", "all"}).err, HasSubstr("--scope user"));
  EXPECT_THAT(Mcp({"print-config", "codex", "--remove"}).err, HasSubstr("changes nothing"));
  EXPECT_EQ(json::parse(Mcp({"install", "x", "--json"}).out).is_object(), true);
  const std::string help = Mcp({"--help"}).out;
  for (const clients::Client& client : clients::kClients) {
    EXPECT_THAT(help, HasSubstr(std::string(client.name)));
  }
}

}  // namespace
}  // namespace igloo::testing
