#include "config/sandbox_mcp_scan.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"

namespace igloo::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class SandboxMcpScan : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return home_.path() + "/" + name; }
  void Write(const std::string& name, std::string_view text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    ASSERT_TRUE(ReplaceFile(Path(name), text));
  }
  void WriteSandbox(const std::string& directory, const std::string& id) const {
    Write(directory + "/config.json",
          R"({"id": ")" + id + R"(", "entrypoint": "main.sh", "command": ["sh", "main.sh"]})");
  }
  Variables Caller() const { return {.home = home_.path()}; }
  std::vector<std::string> Ids(const SandboxScan& scan) const {
    std::vector<std::string> ids;
    for (const FoundSandbox& each : scan.found) ids.push_back(each.spec.id);
    return ids;
  }

 private:
  TempDir home_ = TempDir::Make("/tmp").value();
};

TEST_F(SandboxMcpScan, WithoutAFileAllIsDefaultAndNothingIsMade) {
  const auto config = LoadSandboxMcpConfig(Caller());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->file, Path(".config/sandbox-mcp/config.json"));
  EXPECT_EQ(config->sandboxes_path, Path(".config/sandbox-mcp/sandboxes"));
  EXPECT_THAT(ScanSandboxes(config->sandboxes_path).found, IsEmpty());
  EXPECT_TRUE(fs::is_empty(Path("")));
}

TEST_F(SandboxMcpScan, WithoutAHomeThereIsNoPlace) {
  const auto config = LoadSandboxMcpConfig({});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->sandboxes_path, "");
  EXPECT_THAT(ScanSandboxes("").problems, IsEmpty());
}

TEST_F(SandboxMcpScan, TheFileSaysWhereSandboxesAre) {
  const auto with = [&](const std::string& path) {
    Write("xdg/sandbox-mcp/config.json", R"({"sandboxesPath": ")" + path + R"(", "extra": 1})");
    return LoadSandboxMcpConfig({.xdg_config_home = Path("xdg"), .home = "/home/ada"}).value();
  };
  EXPECT_EQ(with("/srv/sandboxes").sandboxes_path, "/srv/sandboxes");
  EXPECT_EQ(with("~/mine").sandboxes_path, "/home/ada/mine");
  EXPECT_EQ(with("../other").sandboxes_path, Path("xdg/other"));
  EXPECT_EQ(with("").sandboxes_path, Path("xdg/sandbox-mcp/sandboxes"));
  EXPECT_THAT(with("").notes, ElementsAre(HasSubstr("config.json:1:23: 'extra' is not a key")));
}

TEST_F(SandboxMcpScan, AFileThatIsWrongIsAnError) {
  Write(".config/sandbox-mcp/config.json", "{\"sandboxesPath\":\n 7}");
  const auto wrong = LoadSandboxMcpConfig(Caller());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("config.json:1:2: 'sandboxesPath' is not a text"));
  Write(".config/sandbox-mcp/config.json", "sandboxesPath: x");
  EXPECT_FALSE(LoadSandboxMcpConfig(Caller()));
}

TEST_F(SandboxMcpScan, EverySubDirectoryWithAConfigurationIsASandbox) {
  WriteSandbox("s/beta", "two");
  WriteSandbox("s/alpha", "one");
  Write("s/config.json", "{}");
  fs::create_directory_symlink(Path("s/alpha"), Path("linked"));
  EXPECT_THAT(Ids(ScanSandboxes(Path("s"))), ElementsAre("one", "two"));
}

// BUG-B4: one directory without a config.json made the whole server fail.
TEST_F(SandboxMcpScan, WhatIsWrongWithOneIsNobodyElsesProblem) {
  WriteSandbox("s/good", "good");
  fs::create_directories(Path("s/.git"));
  Write("s/broken/config.json", "{");
  Write("s/escape/config.json", R"({"id": "escape", "entrypoint": "../../x", "command": ["sh"]})");
  fs::create_directories(Path("s/odd/config.json"));
  WriteSandbox("s/twin", "good");
  const SandboxScan scan = ScanSandboxes(Path("s"));
  EXPECT_THAT(Ids(scan), ElementsAre("good"));
  std::vector<std::string> problems;
  for (const SandboxProblem& each : scan.problems) problems.push_back(each.error.what);
  EXPECT_THAT(problems,
              ElementsAre(HasSubstr("broken/config.json:1:2: this is not JSON"),
                          HasSubstr("escape/config.json:1:18: 'entrypoint' is '../../x'"),
                          HasSubstr("is a directory"), HasSubstr("'good' is already the id of")));
  EXPECT_THAT(scan.notes, ElementsAre(HasSubstr(".git' has no config.json")));
}

TEST_F(SandboxMcpScan, APlaceThatIsNoDirectoryIsAProblem) {
  Write("file", "x");
  const SandboxScan scan = ScanSandboxes(Path("file"));
  ASSERT_EQ(scan.problems.size(), 1U);
  EXPECT_THAT(scan.problems[0].error.what, HasSubstr("cannot list"));
}

}  // namespace
}  // namespace igloo::config
