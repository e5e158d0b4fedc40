#include "clients/toml_edit.h"

#include <gmock/gmock.h>

namespace igloo::clients {
namespace {

const Client& Codex() { return *FindClient("codex").value(); }
const Server kServer{.name = "igloo", .command = "/igloo", .args = {"mcp"}};
const std::string kBlock =
    "[mcp_servers.igloo]\ncommand = \"/igloo\"\nargs = [\"mcp\"]\nenv_vars = [\"XDG_RUNTIME_DIR\", "
    "\"XDG_CONFIG_HOME\", \"XDG_STATE_HOME\"]\ntool_timeout_sec = 600\n";

Edit Put(std::string_view text, const Server& server = kServer, Foreign foreign = Foreign::kKeep) {
  auto edit = Install(Codex(), server, "f", text, foreign);
  EXPECT_TRUE(edit) << edit.error().what;
  return edit.value_or(Edit{});
}

std::string Taken(std::string_view text, const std::optional<Undo>& undo = {}) {
  auto edit = Remove(Codex(), "igloo", "f", text, undo, Foreign::kKeep);
  EXPECT_TRUE(edit) << edit.error().what;
  return edit ? edit->text : "";
}

std::string Refused(std::string_view text) {
  const auto edit = Install(Codex(), kServer, "f", text, Foreign::kReplace);
  return edit ? "" : edit.error().what;
}

TEST(InstallTomlTest, AppendsATable) {
  EXPECT_EQ(Put("").text, kBlock);
  EXPECT_EQ(Put("a = 1\n").text, "a = 1\n\n" + kBlock);
  EXPECT_EQ(Put("a = 1").text, "a = 1\n\n" + kBlock);
  const std::string windows = Put("a = 1\r\n").text;
  EXPECT_TRUE(windows.starts_with("a = 1\r\n\r\n[mcp_servers.igloo]\r\ncommand = \"/igloo\"\r\n"));
  EXPECT_TRUE(windows.ends_with("tool_timeout_sec = 600\r\n"));
}

TEST(InstallTomlTest, FindsItsOwnInEverySpelling) {
  for (const char* text :
       {"[mcp_servers.igloo]\ncommand = '/igloo'\nargs = [ 'mcp', ] # yes\n",
        "[ mcp_servers . \"igloo\" ]\n\"args\" = [\n  'mcp'\n]\ncommand = \"\\u002figloo\"",
        "a = 1\n[mcp_servers]\n[mcp_servers.igloo.env]\nA = 'b'\n['mcp_servers'.igloo]\n"
        "command = \"/igloo\"\nargs = ['mcp']\n[z]\n"}) {
    EXPECT_EQ(Put(text).change, Change::kNone) << text;
  }
}

TEST(InstallTomlTest, AnUpdateChangesTwoValues) {
  const Edit edit =
      Put("[mcp_servers.igloo] # mine\nargs = ['mcp', '--old']\nx = 1 # kept\n"
          "command = '/old/igloo' # moved\n[b]\n");
  EXPECT_EQ(edit.change, Change::kUpdated);
  EXPECT_EQ(edit.text,
            "[mcp_servers.igloo] # mine\nargs = [\"mcp\"]\nx = 1 # kept\ncommand = "
            "\"/igloo\" # moved\n[b]\n");
}

TEST(InstallTomlTest, WhatIsNotIgloosIsShownAndStays) {
  const std::string text =
      "[mcp_servers.igloo]\nurl = 'http://x'\n[b]\n[mcp_servers.igloo.env]\nA = 1\n";
  const Edit edit = Put(text);
  EXPECT_EQ(edit.change, Change::kForeign);
  EXPECT_EQ(edit.text, text);
  EXPECT_EQ(edit.block, "[mcp_servers.igloo]\nurl = 'http://x'\n[mcp_servers.igloo.env]\nA = 1\n");
  EXPECT_EQ(Put(text, kServer, Foreign::kReplace).text, kBlock + "[b]\n");
  EXPECT_EQ(Remove(Codex(), "igloo", "f", text, {}, Foreign::kKeep)->change, Change::kForeign);
  EXPECT_EQ(Remove(Codex(), "igloo", "f", text, {}, Foreign::kReplace)->text, "[b]\n");
}

TEST(InstallTomlTest, RefusesFormsThatATableCannotJoin) {
  EXPECT_EQ(Refused("\nmcp_servers = {}\n"),
            "f:2:1: 'mcp_servers' is not a table that others can join");
  EXPECT_EQ(Refused("[[mcp_servers]]\n"),
            "f:1:1: 'mcp_servers' is not a table that others can join");
  EXPECT_EQ(Refused("[mcp_servers]\nigloo = { command = 'x' }\n"),
            "f:2:1: 'mcp_servers.igloo' is written inside another table");
  EXPECT_EQ(Refused("mcp_servers.igloo.command = 'x'\n"),
            "f:1:1: 'mcp_servers.igloo' is written inside another table");
  EXPECT_EQ(Refused("[[mcp_servers.igloo]]\n"), "f:1:1: 'mcp_servers.igloo' is a list of tables");
  EXPECT_EQ(Refused("a = \n"), "f:1:5: a value should stand here");
  EXPECT_EQ(Refused("[a]\nmcp_servers = 1\n[mcp_servers]\nother.command = 'x'\n"), "");
}

TEST(RemoveTomlTest, LeavesOthersAndTheirComments) {
  EXPECT_EQ(Taken("a = 1\n\n" + kBlock), "a = 1\n");
  EXPECT_EQ(Taken("a = 1\n\n" + kBlock + "\n# about b\n[b]\n"), "a = 1\n\n# about b\n[b]\n");
  EXPECT_EQ(Taken("# mine\n" + kBlock + "[b]\n"), "# mine\n[b]\n");
  EXPECT_EQ(Taken(kBlock + "[b]\n\n[mcp_servers.igloo.tools.run]\nx = 1\n"), "[b]\n");
  EXPECT_EQ(Taken("a = 1\n"), "a = 1\n");
}

TEST(RemoveTomlTest, WhatFollowsNowIsNotJoinedToWhatStoodBefore) {
  const Edit edit = Put("a = 1");
  EXPECT_EQ(Taken(edit.text, edit.undo), "a = 1");
  EXPECT_EQ(Taken(edit.text + "[b]\n", edit.undo), "a = 1\n\n[b]\n");
}

}  // namespace
}  // namespace igloo::clients
