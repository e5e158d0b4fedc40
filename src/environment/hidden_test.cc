#include "environment/hidden.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stop_token>
#include <thread>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::environment {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kKey = "-----BEGIN PRIVATE KEY-----\n";

class FindsHidden : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& content = "x") const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << content;
  }
  std::vector<sandbox::Hidden> All(const HideRules& rules = {},
                                   const HideLimits& limits = {}) const {
    auto found = FindHidden(directory_.path(), rules, limits);
    EXPECT_TRUE(found) << found.error().what;
    return found ? *std::move(found) : std::vector<sandbox::Hidden>();
  }
  std::vector<std::string> Paths(const HideRules& rules = {}, const HideLimits& limits = {}) const {
    std::vector<std::string> paths;
    for (const sandbox::Hidden& each : All(rules, limits)) paths.push_back(each.path);
    return paths;
  }
  std::map<std::string, std::string> Reasons(const HideRules& rules = {}) const {
    std::map<std::string, std::string> reasons;
    for (const sandbox::Hidden& each : All(rules)) reasons[each.path] = each.why;
    return reasons;
  }

  TempDir directory_ = TempDir::Make("/tmp").value();
};

TEST_F(FindsHidden, NothingInAProjectWithoutSecrets) {
  Write("src/main.cc");
  Write(".env.example");
  Write("certificate.pem", "-----BEGIN CERTIFICATE-----\n");
  EXPECT_THAT(Paths(), IsEmpty());
}

TEST_F(FindsHidden, SecretsWhereverTheyLieByPathWithWhatTheyAre) {
  Write("a/b/.env");
  Write(".env");
  Write("a/key.pem", kKey);
  Write("node_modules/x/.npmrc", "_authToken=1");
  Write(".git/objects/ab/.env");
  Write("build/.env/bin/python");
  Write("build/.env/pyvenv.cfg");
  const auto all = All();
  EXPECT_THAT(Paths(), ElementsAre(".env", ".git/objects/ab/.env", "a/b/.env", "a/key.pem",
                                   "node_modules/x/.npmrc"))
      << "nothing is skipped, and a virtual environment of Python's is none";
  struct stat info{};
  ASSERT_EQ(::stat(Path(".env").c_str(), &info), 0);
  EXPECT_EQ(all[0].fact.device, info.st_dev);
  EXPECT_EQ(all[0].fact.inode, info.st_ino);
  EXPECT_EQ(all[0].fact.type, static_cast<std::uint32_t>(S_IFREG));
  EXPECT_EQ(all[0].why, "variables of a program, passwords among them");
  EXPECT_EQ(all[0].instead, std::nullopt);
}

TEST_F(FindsHidden, WhatSomebodyHidesAndNotWhatSomebodyShows) {
  Write("secrets/a");
  Write("data/x.sqlite");
  Write(".env");
  Write("tests/.env");
  const HideRules rules{.hide = {"secrets/", "*.SQLite"}, .show = {"/.env"}};
  EXPECT_THAT(Reasons(rules),
              ElementsAre(Pair("data/x.sqlite", "hide = \"*.SQLite\""),
                          Pair("secrets", "hide = \"secrets/\""),
                          Pair("tests/.env", "variables of a program, passwords among them")));
  EXPECT_THAT(Paths({.show = {"tests"}}), ElementsAre(".env")) << "with all that is in it";
  EXPECT_THAT(Paths({.hide = {"*.sqlite"}, .show = {"x.sqlite", ".env"}}), IsEmpty())
      << "showing beats hiding";
  EXPECT_THAT(Paths({.show = {"**"}}), IsEmpty());
  EXPECT_THAT(Paths({.show = {".ENV"}}), ElementsAre(".env", "tests/.env"))
      << "hiding takes large and small letters alike, showing does not";
  EXPECT_THAT(Paths({.hide = {".env.example"}}), ElementsAre(".env", "tests/.env"));
}

TEST_F(FindsHidden, AllNamesOfTheSameFile) {
  Write("config/.env");
  fs::create_hard_link(Path("config/.env"), Path("notes.txt"));
  Write("secrets/token");
  fs::create_directories(Path("node_modules/deep"));
  fs::create_hard_link(Path("secrets/token"), Path("node_modules/deep/copy"));
  Write("other");
  fs::create_hard_link(Path("other"), Path("another"));
  EXPECT_THAT(Reasons({.hide = {"secrets/"}}),
              ElementsAre(Pair("config/.env", "variables of a program, passwords among them"),
                          Pair("node_modules/deep/copy", "the same file as 'secrets/token'"),
                          Pair("notes.txt", "the same file as 'config/.env'"),
                          Pair("secrets", "hide = \"secrets/\"")));
  EXPECT_THAT(Paths({.hide = {"secrets/"}, .show = {"notes.txt"}}),
              ElementsAre("config/.env", "node_modules/deep/copy", "secrets"));
}

TEST_F(FindsHidden, WhatLinksOfSuchANameLeadToInsideAndNeverOutside) {
  const TempDir outside = TempDir::Make("/tmp").value();
  std::ofstream(outside.path() + "/real") << "x";
  Write("vault/production");
  Write("vault/key", kKey);
  Write("vault/certificate", "public");
  fs::create_directories(Path("a"));
  fs::create_symlink("../vault/production", Path("a/.env"));
  fs::create_symlink(Path("vault/key"), Path("a/absolute.pem"));
  fs::create_symlink("../vault/certificate", Path("a/public.pem"));
  fs::create_symlink(outside.path() + "/real", Path("a/.env.outside"));
  fs::create_symlink("../../../../../../etc/passwd", Path("a/.env.up"));
  fs::create_symlink("gone", Path("a/.env.gone"));
  fs::create_symlink(".env.loop", Path("a/.env.loop"));
  fs::create_directory_symlink(outside.path(), Path("elsewhere"));
  std::ofstream(outside.path() + "/.env") << "x";
  EXPECT_THAT(Reasons(),
              ElementsAre(Pair("vault/key", "a private key, which 'a/absolute.pem' leads to"),
                          Pair("vault/production",
                               "variables of a program, passwords among them, which 'a/.env' "
                               "leads to")));
}

TEST_F(FindsHidden, WhatALinkLeadsToByAPathThroughLinksOutside) {
  const TempDir outside = TempDir::Make("/tmp").value();
  fs::create_directory_symlink(directory_.path(), outside.path() + "/alias");
  Write("vault/first");
  Write("vault/second");
  Write("vault/sub/third");
  fs::create_directory_symlink(Path("vault/sub"), outside.path() + "/sub");
  fs::create_symlink(outside.path() + "/alias/vault/first", Path(".env.first"));
  fs::create_directories(Path("a"));
  fs::create_symlink(
      "../../" + fs::path(outside.path()).filename().string() + "/alias/vault/second",
      Path("a/.env.second"));
  fs::create_symlink(outside.path() + "/sub/third", Path(".env.third"));
  EXPECT_THAT(Paths(), ElementsAre("vault/first", "vault/second", "vault/sub/third"));
}

TEST_F(FindsHidden, DirectoriesOfVariablesAsAWhole) {
  Write(".env.d/production");
  Write("a/.envs/.local/postgres");
  Write("b/.env/bin/python");
  Write("b/.env/pyvenv.cfg");
  EXPECT_THAT(Paths(), ElementsAre(".env.d", "a/.envs"));
  EXPECT_THAT(Paths({.show = {".env.d"}}), ElementsAre("a/.envs"));
}

/// A build that runs in another sandbox makes directories, renames and removes them.
TEST_F(FindsHidden, EverythingBesideABuild) {
  Write("src/.env");
  for (int i = 0; i < 30; ++i) fs::create_directories(Path("tree/d" + std::to_string(i)));
  const std::jthread build([this](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      const std::string name = "build/target" + std::to_string(i);
      for (const char* file : {"a", "b", "c"}) Write(name + "-working/deep/" + file);
      fs::rename(Path(name + "-working"), Path(name));
      if (i % 20 == 19) fs::remove_all(Path("build"));
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_THAT(Paths(), ElementsAre("src/.env"));
}

TEST_F(FindsHidden, WhatIsNoFileUnderASecretsName) {
  ASSERT_EQ(::mkfifo(Path(".env").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(Path("key.pem").c_str(), 0600), 0);
  const auto all = All();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].fact.type, static_cast<std::uint32_t>(S_IFIFO));
}

TEST_F(FindsHidden, NothingTwiceInAHiddenDirectory) {
  Write("vault/inner/.env");
  fs::create_directory_symlink("vault", Path("secrets"));
  EXPECT_THAT(Paths({.hide = {"secrets"}}), ElementsAre("vault"));
}

TEST_F(FindsHidden, CredentialsOfGitAndShowsACopyWithoutThem) {
  Write(".git/config", "[core]\n[remote \"o\"]\n\turl = https://a:b@host/x\n");
  Write("sub/.git/config", "[core]\n");
  fs::create_hard_link(Path(".git/config"), Path("same"));
  const auto all = All();
  ASSERT_THAT(Paths(), ElementsAre(".git/config", "same"));
  for (const auto& each : all) {
    EXPECT_EQ(each.instead, "[core]\n[remote \"o\"]\n\turl = https://host/x\n") << each.path;
  }
}

TEST_F(FindsHidden, WhatIsTooLargeOrTooDeepToLookAt) {
  Write("large.pem", std::string(2000, 'x'));
  Write("fits.pem", std::string(1000, 'x'));
  Write("a/b/c/d/file");
  EXPECT_THAT(Paths({}, {.depth = 3, .content = 1000}), ElementsAre("a/b/c/d", "large.pem"));
}

TEST_F(FindsHidden, WhatNobodyMayRead) {
  Write("closed/.env");
  Write("key.pem", "public");
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(Path("key.pem").c_str(), 0), 0);
  using Names = std::vector<std::string>;
  // Root may read everything.
  const Names expected = ::geteuid() == 0 ? Names{"closed/.env"} : Names{"closed", "key.pem"};
  EXPECT_EQ(Paths(), expected);
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0400), 0);
  EXPECT_EQ(Paths(), expected) << "names alone are no look";
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0700), 0);
}

TEST_F(FindsHidden, NoMoreThanItCanAndSaysSo) {
  for (int i = 0; i < 5; ++i) Write(std::to_string(i) + "/.env");
  auto many = FindHidden(directory_.path(), {}, {.names = 9});
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().what, HasSubstr("more than 9 names: too many to look for secrets in"));
  EXPECT_THAT(many.error().hint, HasSubstr("--show-hidden '**'"));
  many = FindHidden(directory_.path(), {}, {.hidden = 4});
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().what, HasSubstr("more than 4 secrets to hide"));
  EXPECT_EQ(Paths({}, {.names = 10, .hidden = 5}).size(), 5U);
  EXPECT_FALSE(FindHidden(Path("gone"), {}));
}

TEST_F(FindsHidden, AndLeavesNoTrace) {
  Write("a/key.pem", kKey);
  Write("a/.npmrc", "_auth=x");
  const timespec old[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  for (const char* name : {"a/key.pem", "a/.npmrc", "a", ""}) {
    ASSERT_EQ(::utimensat(AT_FDCWD, Path(name).c_str(), old, 0), 0);
  }
  EXPECT_EQ(Paths().size(), 2U);
  for (const char* name : {"a/key.pem", "a/.npmrc", "a", ""}) {
    struct stat info{};
    ASSERT_EQ(::stat(Path(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_atim.tv_sec, 1000) << name;
  }
}

/// Whatever lies in a project: what is found is what a slow look at every name finds.
TEST_F(FindsHidden, TheSameAsALookAtEveryName) {
  unsigned state = 7;
  const auto next = [&](unsigned most) {
    state = state * 1664525U + 1013904223U;
    return (state >> 16U) % most;
  };
  const char* names[] = {".env", "a", "b.pem", "c", ".netrc", "config", "d.key", "x.env"};
  for (int i = 0; i < 300; ++i) {
    std::string path;
    for (unsigned depth = next(4); depth > 0; --depth) path += "d" + std::to_string(next(3)) + "/";
    Write(path + names[next(std::size(names))], next(2) == 0 ? kKey : "plain");
  }
  std::vector<std::string> expected;
  for (const auto& each : fs::recursive_directory_iterator(directory_.path())) {
    if (!each.is_regular_file()) continue;
    const std::string name = each.path().filename();
    const bool by_name = name.ends_with(".env") || name == ".netrc";
    const bool by_content = (name.ends_with(".pem") || name.ends_with(".key")) &&
                            ReadFile(each.path(), 1000).value().contains("PRIVATE KEY");
    if (by_name || by_content) {
      expected.push_back(each.path().string().substr(directory_.path().size() + 1));
    }
  }
  std::ranges::sort(expected);
  EXPECT_EQ(Paths(), expected);
  EXPECT_GT(expected.size(), 20U);
}

}  // namespace
}  // namespace igloo::environment
