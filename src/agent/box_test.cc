#include "agent/box.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "agent/notice.h"
#include "base/temp_dir.h"
#include "sandbox/entry.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class Composed : public ::testing::Test {
 protected:
  Composed() : place_(fs::canonical(temp_.path()).string()) {
    for (const char* each : {"home/bin", "home/.cache/x", "p"}) {
      fs::create_directories(place_ + "/" + each);
    }
    WriteProgram("home/bin/claude");
    owner_ = {.home = place_ + "/home", .user = "ann", .path = place_ + "/home/bin"};
    request_ = {.name = "box", .profile = FindProfile("claude"), .project = place_ + "/p"};
  }

  void WriteProgram(const std::string& path) {
    std::ofstream(place_ + "/" + path) << "ELF";
    fs::permissions(place_ + "/" + path, fs::perms::owner_all);
  }

  Result<Box> Compose() {
    return ComposeBox(request_, owner_, {.name = "shell", .variables = {{"PATH", "/usr/bin"}}},
                      [&](const std::string& name) -> std::optional<std::string> {
                        const auto found = variables_.find(name);
                        return found == variables_.end() ? std::nullopt
                                                         : std::optional(found->second);
                      });
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
  Owner owner_;
  BoxRequest request_;
  std::map<std::string, std::string> variables_ = {};
};

std::string ValueOf(const Box& box, std::string_view name) {
  for (const Variable& each : box.variables) {
    if (each.name == name) return each.value;
  }
  return "(none)";
}

TEST_F(Composed, RunsTheAgentWithItsOwnArgumentsBeforeTheUsers) {
  request_.arguments = {"-p", "hello"};
  const auto box = Compose();
  ASSERT_TRUE(box) << box.error().what;
  EXPECT_EQ(box->argv.front(), place_ + "/home/bin/claude");
  EXPECT_THAT(box->argv, Contains("--dangerously-skip-permissions"));
  EXPECT_EQ(box->argv.back(), "hello");
}

TEST_F(Composed, AnotherProgramBesideTheAgentGetsNoneOfItsArgumentsAndFindsIt) {
  request_.program = "sh";
  request_.beside_agent = true;
  request_.arguments = {"-c", "true"};
  owner_.path += ":/usr/bin:/bin";
  const auto box = Compose();
  ASSERT_TRUE(box) << box.error().what;
  EXPECT_THAT(box->argv, ElementsAre(HasSubstr("sh"), "-c", "true"));
  EXPECT_THAT(box->mounts, Contains(::testing::Truly([&](const Mount& each) {
                return sandbox::TargetOf(each.entry) == place_ + "/home/bin/claude";
              })));
  EXPECT_EQ(ValueOf(*box, "IS_SANDBOX"), "1");
}

TEST_F(Composed, ItsOwnTreesTakeThePlaceOfMemory) {
  request_.own_trees = {{.source = place_ + "/home/.cache", .target = "/tmp", .reason = "kept"}};
  request_.late_directories = {"/last"};
  const auto box = Compose();
  ASSERT_TRUE(box) << box.error().what;
  EXPECT_THAT(ValueOf(*box, "PATH"), ::testing::EndsWith(":/last"));
  environment::RunRequest run{.place = {.home = owner_.home, .directory = owner_.home}};
  const auto policy = PolicyForBox(*box, {.name = "shell", .interpreter = {"sh"}}, run);
  ASSERT_TRUE(policy) << policy.error().what;
  const auto at_tmp = std::ranges::count_if(
      policy->run, [](const sandbox::Entry& entry) { return sandbox::TargetOf(entry) == "/tmp"; });
  EXPECT_EQ(at_tmp, 1);
}

TEST_F(Composed, TellsTheAgentWhereItIs) {
  const auto box = Compose();
  ASSERT_TRUE(box);
  EXPECT_THAT(box->argv,
              Contains(AllOf(HasSubstr("You run inside a sandbox"), HasSubstr(request_.project))));
}

TEST_F(Composed, WritesAnAgentsFilesIntoDirectoriesOfTheirOwn) {
  request_.profile = FindProfile("gemini");
  request_.program = "claude";
  request_.files = {{"/etc/codex/config.toml", "x"}};
  const auto box = Compose();
  ASSERT_TRUE(box) << box.error().what;
  environment::RunRequest run{.place = {.home = owner_.home, .directory = owner_.home}};
  const auto policy = PolicyForBox(*box, {.name = "shell", .interpreter = {"sh"}}, run);
  ASSERT_TRUE(policy) << policy.error().what;
  std::map<std::string, std::string> files;
  std::vector<std::string> directories;
  for (const sandbox::Entry& entry : policy->run) {
    if (const auto* file = std::get_if<sandbox::TextFile>(&entry))
      files[file->path] = file->content;
    const auto* tree = std::get_if<sandbox::MemoryTree>(&entry);
    if (tree != nullptr && tree->access == sandbox::Access::kReadOnly) {
      directories.push_back(tree->target);
    }
  }
  EXPECT_THAT(directories, UnorderedElementsAre("/etc/codex", "/run/igloo"));
  EXPECT_EQ(files["/etc/codex/config.toml"], "x");
  EXPECT_EQ(files["/run/igloo/GEMINI.md"], files["/run/igloo/SANDBOX.md"]);
}

// aider cannot be had everywhere, so this is about its plan.
TEST_F(Composed, ThePlanOfAiderReadsTheNoticeAndKeepsItsFilesOutOfTheProject) {
  request_.profile = FindProfile("aider");
  request_.program = "claude";
  const auto box = Compose();
  ASSERT_TRUE(box) << box.error().what;
  EXPECT_THAT(box->argv,
              ElementsAre(place_ + "/home/bin/claude", "--read", "/run/igloo/SANDBOX.md"));
  for (const char* name : {"AIDER_INPUT_HISTORY_FILE", "AIDER_CHAT_HISTORY_FILE"}) {
    EXPECT_THAT(ValueOf(*box, name), StartsWith(place_ + "/home/.aider/")) << name;
  }
  EXPECT_EQ(ValueOf(*box, "AIDER_GITIGNORE"), "false");
  EXPECT_EQ(ValueOf(*box, "AIDER_MAP_TOKENS"), "0") << "its map is a directory of the project's";
}

TEST_F(Composed, AddsNothingToAProgramOfTheUsers) {
  request_.profile = nullptr;
  request_.program = "claude";
  request_.arguments = {"x"};
  const auto box = Compose();
  ASSERT_TRUE(box);
  EXPECT_THAT(box->argv, ElementsAre(place_ + "/home/bin/claude", "x"));
}

TEST_F(Composed, PassesVariablesByAListAndNoOther) {
  variables_ = {{"LANG", "C"},
                {"AWS_SECRET_ACCESS_KEY", "x"},
                {"SSH_AUTH_SOCK", "/s"},
                {"MINE", "1"},
                {"PATH", "/evil"}};
  request_.extra_variables = {"MINE", "UNSET"};
  const auto box = Compose();
  ASSERT_TRUE(box);
  EXPECT_EQ(ValueOf(*box, "LANG"), "C");
  EXPECT_EQ(ValueOf(*box, "MINE"), "1");
  EXPECT_EQ(ValueOf(*box, "UNSET"), "(none)");
  EXPECT_EQ(ValueOf(*box, "AWS_SECRET_ACCESS_KEY"), "(none)");
  EXPECT_EQ(ValueOf(*box, "SSH_AUTH_SOCK"), "(none)");
  EXPECT_THAT(ValueOf(*box, "PATH"), Not(HasSubstr("/evil")));
}

TEST_F(Composed, ShowsDirectoriesOfHomeOnlyByPlainNames) {
  request_.home_directories = {".cache/x"};
  EXPECT_TRUE(Compose());
  fs::create_directory_symlink("/etc", place_ + "/home/link");
  for (const char* bad : {"link", "..", ".", "", "none", "bin/claude", "../p", "/etc"}) {
    request_.home_directories = {bad};
    EXPECT_FALSE(Compose()) << bad;
  }
}

TEST_F(Composed, ThePolicyHasTheProjectAtItsRealPath) {
  const auto box = Compose();
  ASSERT_TRUE(box);
  environment::RunRequest run{.place = {.home = owner_.home, .directory = owner_.home}};
  const auto policy = PolicyForBox(*box, {.name = "shell", .interpreter = {"sh"}}, run);
  ASSERT_TRUE(policy) << policy.error().what;
  EXPECT_EQ(policy->cwd, request_.project);
  EXPECT_EQ(policy->limits.time_ms, 0U);
  bool found = false;
  for (const sandbox::Entry& entry : policy->run) {
    const auto* tree = std::get_if<sandbox::HostTree>(&entry);
    found = found || (tree != nullptr && tree->source == request_.project &&
                      tree->target == request_.project);
  }
  EXPECT_TRUE(found);
}

TEST(NoticeText, SaysWhatWasGranted) {
  Box box{.project = "/p", .home = "/h"};
  EXPECT_THAT(NoticeText(box), Not(HasSubstr("granted you")));
  box.grants = {Grant::kSshAgent, Grant::kNix};
  EXPECT_THAT(NoticeText(box), AllOf(HasSubstr("`--with-ssh` (signatures"), HasSubstr("`--nix`")));
}

TEST(NoticeText, SaysWhatTheNetworkIs) {
  Box box{.project = "/p", .home = "/h"};
  EXPECT_THAT(NoticeText(box), HasSubstr("There is no network"));
  box.network.level = network::Level::kInternet;
  EXPECT_THAT(NoticeText(box), HasSubstr("Private and local addresses cannot"));
}

}  // namespace
}  // namespace igloo::agent
