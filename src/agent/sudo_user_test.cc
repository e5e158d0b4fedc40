#include "agent/sudo_user.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Lookup LookupIn(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

Result<std::string> Ann(const std::string& name) {
  return name == "ann" ? "ann:x:1234:5678:Ann,,,:/home/ann:/bin/bash\n" : "";
}

TEST(SudoUser, IsWhoTheDatabaseSays) {
  const auto user = FindSudoUser(LookupIn({{"SUDO_USER", "ann"}, {"SUDO_UID", "1234"}}), Ann);
  ASSERT_TRUE(user) << user.error().what;
  EXPECT_EQ(*user, (SudoUser{.name = "ann", .user = 1234, .group = 5678, .home = "/home/ann"}));
}

TEST(SudoUser, IsNobodyWithoutSudo) {
  EXPECT_EQ(*FindSudoUser(LookupIn({}), Ann), std::nullopt);
  EXPECT_EQ(*FindSudoUser(LookupIn({{"SUDO_USER", ""}}), Ann), std::nullopt);
}

TEST(SudoUser, WhoIsNotInTheDatabaseOrIsSomebodyElseIsRefused) {
  EXPECT_THAT(FindSudoUser(LookupIn({{"SUDO_USER", "bob"}}), Ann).error().what,
              HasSubstr("there is no user 'bob'"));
  EXPECT_THAT(FindSudoUser(LookupIn({{"SUDO_USER", "ann"}, {"SUDO_UID", "99"}}), Ann).error().what,
              HasSubstr("name two users"));
}

TEST(SudoUser, ALineThatDescribesNobodyIsRefused) {
  for (const char* line : {"", "ann", "ann:x:1:2:A:/home/ann", "ann:x:-1:2:A:/home/ann:/bin/sh",
                           "ann:x:1:b:A:/home/ann:/bin/sh", "ann:x:1:2:A:home:/bin/sh",
                           ":x:1:2:A:/home/ann:/bin/sh", "ann:x:99999999999:2:A:/h:/bin/sh"}) {
    EXPECT_FALSE(ParseUser(line)) << line;
  }
}

TEST(SudoUser, TheRealDatabaseKnowsRootAndNotEverybody) {
  const auto root = AskGetent("root");
  ASSERT_TRUE(root) << root.error().what;
  EXPECT_EQ(ParseUser(*root)->user, 0U);
  EXPECT_EQ(*AskGetent("no-such-user-here"), "");
}

TEST(SudoUser, FilesAreTheirsWhenRootActsForThemAndOthersFailToAct) {
  const TempDir temp = *TempDir::Make(::testing::TempDir());
  std::filesystem::permissions(temp.path(), std::filesystem::perms(0777));
  const std::string file = temp.path() + "/file";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("XDG_STATE_HOME", "/root/state", 1);
    const bool acts =
        ActFor({.name = "ann", .user = 12347, .group = 12348, .home = "/home/ann"}).has_value();
    std::ofstream(file) << std::getenv("HOME");
    const bool theirs = std::string_view(std::getenv("HOME")) == "/home/ann" &&
                        std::getenv("XDG_STATE_HOME") == nullptr;
    ::_exit(acts && theirs ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const bool root = ::geteuid() == 0;
  EXPECT_EQ(WEXITSTATUS(status), root ? 1 : 0);
  struct stat info{};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, root ? 12347U : ::geteuid());
  EXPECT_EQ(info.st_gid, root ? 12348U : ::getegid());
}

}  // namespace
}  // namespace igloo::agent
