#include "agent/managed.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Managed : public ::testing::Test {
 protected:
  Managed() { owner_.settings = temp_.path(); }

  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(temp_.path() + "/" + path).parent_path());
    std::ofstream(temp_.path() + "/" + path) << text;
  }
  Result<void> Add(const char* agent) {
    return AddManagedSettings(*FindProfile(agent), owner_, box_);
  }
  std::string FileOf(const std::string& path) const {
    for (const File& each : box_.files) {
      if (each.path == path) return each.text;
    }
    return "(none)";
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  Owner owner_ = {};
  Box box_ = {};
};

TEST_F(Managed, WhereThereAreNoneNothingIsAdded) {
  for (const Profile* each : Profiles()) {
    ASSERT_TRUE(AddManagedSettings(*each, owner_, box_));
    EXPECT_THAT(box_.mounts, IsEmpty()) << each->name;
    EXPECT_THAT(box_.remarks, IsEmpty()) << each->name;
  }
}

TEST_F(Managed, TheAdministratorsDirectoryIsShownReadOnly) {
  for (const char* agent : {"claude", "codex", "opencode"}) {
    box_ = {};
    const std::string own(FindProfile(agent)->managed);
    Write(own + "/managed-settings.json", "{}");
    ASSERT_TRUE(Add(agent));
    ASSERT_EQ(box_.mounts.size(), 1U) << agent;
    const auto& tree = std::get<sandbox::HostTree>(box_.mounts[0].entry);
    EXPECT_EQ(tree.source, temp_.path() + "/" + own);
    EXPECT_EQ(tree.target, "/etc/" + own);
    EXPECT_EQ(tree.access, sandbox::Access::kReadOnly);
    EXPECT_THAT(box_.mounts[0].reason, HasSubstr("administrator"));
  }
}

TEST_F(Managed, BesideAFileOfIgloosTheyAreCopiedAndMerged) {
  Write("claude-code/managed-settings.json", R"({"permissions":{"deny":["WebFetch"]}})");
  Write("claude-code/managed-settings.d/10.json", R"({"model":"opus"})");
  Write("claude-code/managed-mcp.json", "{}");
  box_.files = {{"/etc/claude-code/managed-settings.json", R"({"apiKeyHelper":"x"})"}};
  ASSERT_TRUE(Add("claude"));
  EXPECT_THAT(box_.mounts, IsEmpty());
  EXPECT_EQ(FileOf("/etc/claude-code/managed-settings.json"),
            R"({"permissions":{"deny":["WebFetch"]},"apiKeyHelper":"x"})");
  EXPECT_EQ(FileOf("/etc/claude-code/managed-settings.d/10.json"), R"({"model":"opus"})");
  EXPECT_EQ(FileOf("/etc/claude-code/managed-mcp.json"), "{}");
  EXPECT_THAT(box_.remarks, ElementsAre(HasSubstr("hold inside")));
}

TEST_F(Managed, WhatTheAdministratorSaysOfAKeyStays) {
  Write("claude-code/managed-settings.json", R"({"apiKeyHelper":"theirs"})");
  box_.files = {{"/etc/claude-code/managed-settings.json", R"({"apiKeyHelper":"x"})"}};
  ASSERT_TRUE(Add("claude"));
  EXPECT_THAT(FileOf("/etc/claude-code/managed-settings.json"), HasSubstr("theirs"));
}

TEST_F(Managed, APolicyThatCannotBeTakenAlongIsNotLeftOut) {
  Write("claude-code/managed-settings.json", "{broken");
  box_.files = {{"/etc/claude-code/managed-settings.json", R"({"apiKeyHelper":"x"})"}};
  const auto added = Add("claude");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().what, AllOf(HasSubstr("administrator"), HasSubstr("no JSON object")));
}

TEST_F(Managed, WhatDoesNotHoldInsideIsSaid) {
  Write("gemini-cli/settings.json", "{}");
  ASSERT_TRUE(Add("gemini"));
  EXPECT_THAT(box_.mounts, IsEmpty());
  EXPECT_THAT(box_.remarks, ElementsAre(HasSubstr("do not hold inside")));
  Write("codex/config.toml", "model = 'x'\n");
  Write("codex/requirements.toml", "allowed = []\n");
  box_ = {.files = {{"/etc/codex/config.toml", "model_provider = \"igloo\"\n"}}};
  ASSERT_TRUE(Add("codex"));
  EXPECT_EQ(FileOf("/etc/codex/requirements.toml"), "allowed = []\n");
  EXPECT_EQ(FileOf("/etc/codex/config.toml"), "model_provider = \"igloo\"\n");
  EXPECT_THAT(box_.remarks,
              ElementsAre(HasSubstr("'/etc/codex/config.toml' of this machine does not count"),
                          HasSubstr("hold inside")));
}

}  // namespace
}  // namespace igloo::agent
