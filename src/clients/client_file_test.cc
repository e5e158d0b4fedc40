#include "clients/client_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/temp_dir.h"

namespace igloo::clients {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class ClientFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string Write(const std::string& name, std::string_view text, mode_t mode = 0644) const {
    EXPECT_TRUE(ReplaceFile(Path(name), text, {.mode = mode}));
    return Path(name);
  }
  static unsigned ModeOf(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777U;
  }
  Error Refused(const std::string& name) const {
    const auto file = ReadClientFile(Path(name));
    EXPECT_FALSE(file);
    return file ? Error{} : file.error();
  }
  std::size_t Entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir_.path()), {}));
  }

 private:
  TempDir dir_ = TempDir::Make(::testing::TempDir()).value();
};

TEST_F(ClientFileTest, ReadsAFileAndNothingElse) {
  EXPECT_EQ(ReadClientFile(Write("f", "text"))->text, "text");
  EXPECT_FALSE(ReadClientFile(Path("none"))->exists);
  EXPECT_FALSE(ReadClientFile(Path("none/below"))->exists);
  fs::create_directory(Path("d"));
  EXPECT_THAT(Refused("d").what, HasSubstr("is a directory"));
  EXPECT_THAT(Refused("f/below").what, HasSubstr("Not a directory"));
  ASSERT_EQ(::mkfifo(Path("p").c_str(), 0600), 0);
  EXPECT_THAT(Refused("p").what, HasSubstr("not a regular file"));
  fs::create_symlink("f", Path("l"));
  EXPECT_THAT(Refused("l").what, HasSubstr("is a symbolic link"));
  EXPECT_THAT(Refused("l").hint, HasSubstr("--file " + Path("f")));
  fs::create_symlink("nowhere", Path("dangling"));
  EXPECT_THAT(Refused("dangling").what, HasSubstr("is a symbolic link"));
}

TEST_F(ClientFileTest, KeepsTheModeOfTheFileAndOfItsBackup) {
  const auto file = ReadClientFile(Write("f", "old", 0640));
  const auto backup = BackUp(*file);
  ASSERT_TRUE(backup) << backup.error().what;
  EXPECT_THAT(*backup, StartsWith(Path("f.igloo-backup-")));
  ASSERT_TRUE(WriteClientFile(*file, "new", 0600));
  EXPECT_EQ(ReadFile(Path("f"), 10), "new");
  EXPECT_EQ(ReadFile(*backup, 10), "old");
  EXPECT_EQ(ModeOf(Path("f")), 0640U);
  EXPECT_EQ(ModeOf(*backup), 0640U);
  ASSERT_TRUE(WriteClientFile(*ReadClientFile(Path("g")), "new", 0604));
  EXPECT_EQ(ModeOf(Path("g")), 0604U);
}

TEST_F(ClientFileTest, BackupsOfOneMomentAreDifferentFiles) {
  const auto file = ReadClientFile(Write("f", "old"));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(BackUp(*file));
  EXPECT_EQ(Entries(), 21U);
}

TEST_F(ClientFileTest, KeepsTheOwner) {
  // Only root can tell: everybody else owns what they write.
  const uid_t owner = ::geteuid() == 0 ? 12345 : ::geteuid();
  Write("f", "old");
  ASSERT_EQ(::chown(Path("f").c_str(), owner, static_cast<gid_t>(-1)), 0);
  const auto file = ReadClientFile(Path("f"));
  const auto backup = BackUp(*file);
  ASSERT_TRUE(backup);
  ASSERT_TRUE(WriteClientFile(*file, "new", 0600));
  for (const std::string& path : {Path("f"), *backup}) {
    struct stat info{};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, owner);
  }
}

TEST_F(ClientFileTest, WhatSomebodyElseJustWroteStays) {
  const auto file = ReadClientFile(Write("f", "old"));
  const auto missing = ReadClientFile(Path("g"));
  Write("f", "other");
  Write("g", "other");
  for (const auto& each : {*file, *missing}) {
    EXPECT_THAT(WriteClientFile(each, "mine", 0600).error().what, HasSubstr("by somebody else"));
    EXPECT_FALSE(DeleteClientFile(each));
    EXPECT_EQ(ReadFile(each.path, 10), "other");
  }
}

TEST_F(ClientFileTest, DirectoriesComeAndGo) {
  EXPECT_EQ(MakeDirectories(Path("a/b/c"), 0700), 3);
  EXPECT_EQ(MakeDirectories(Path("a/b/c"), 0700), 0);
  EXPECT_EQ(MakeDirectories(Path("a/b/d"), 0700), 1);
  RemoveDirectories(Path("a/b/c"), 3);
  EXPECT_FALSE(fs::exists(Path("a/b/c")));
  EXPECT_TRUE(fs::exists(Path("a/b/d"))) << "one that is not empty stays";
  RemoveDirectories(Path("a/b/d"), 2);
  EXPECT_TRUE(fs::exists(Path("a"))) << "no more than were made";
  Write("f", "");
  EXPECT_FALSE(MakeDirectories(Path("f/a/b"), 0700));
}

TEST_F(ClientFileTest, AProjectsLinksDoNotChooseThePlace) {
  fs::create_directory(Path("out"));
  fs::create_directory(Path("p"));
  fs::create_directory_symlink(Path("out"), Path("p/.vscode"));
  EXPECT_FALSE(RefuseLinksBelow(Path("p"), Path("p/.vscode/mcp.json")));
  EXPECT_TRUE(RefuseLinksBelow(Path("p"), Path("p/.cursor/mcp.json")));
  EXPECT_TRUE(RefuseLinksBelow(Path("p"), Path("p/.mcp.json")));
  fs::create_directory_symlink(Path("p"), Path("q"));
  EXPECT_TRUE(RefuseLinksBelow(Path("q"), Path("q/.mcp.json")))
      << "the way there is the user's own";
}

}  // namespace
}  // namespace igloo::clients
