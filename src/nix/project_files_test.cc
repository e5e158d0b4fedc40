#include "nix/project_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::nix {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
namespace fs = std::filesystem;

class ProjectFilesTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    ASSERT_TRUE(ReplaceFile(Path(name), text));
  }
  Result<ProjectFiles> Read() const { return ReadProjectFiles(directory_.path()); }

 private:
  TempDir directory_ = TempDir::Make(testing::TempParent()).value();
};

TEST_F(ProjectFilesTest, AreThoseThatAFlakeIsMadeOf) {
  Write("flake.nix", "{ }");
  Write("flake.lock", "lock");
  Write("shell.nix", "shell");
  Write("nix/a/b.patch", "patch");
  Write("src/other.nix", "not this");
  Write("notes.txt", "nor this");
  Write(".git/config", "nor this");
  EXPECT_THAT(*Read(), ElementsAre(Pair("flake.lock", "lock"), Pair("flake.nix", "{ }"),
                                   Pair("nix/a/b.patch", "patch"), Pair("shell.nix", "shell")));
}

TEST_F(ProjectFilesTest, WithoutAFlakeThereAreNone) {
  Write("shell.nix", "shell");
  EXPECT_THAT(*Read(), IsEmpty());
  EXPECT_THAT(*ReadProjectFiles(Path("nowhere")), IsEmpty());
}

TEST_F(ProjectFilesTest, LeadNowhereElse) {
  Write("flake.nix", "{ }");
  Write("secret", "secret");
  fs::create_symlink(Path("secret"), Path("link.nix"));
  fs::create_directories(Path("nix"));
  fs::create_symlink(Path("secret"), Path("nix/link"));
  fs::create_directory_symlink("/etc", Path("nix/etc"));
  ASSERT_EQ(::mkfifo(Path("pipe.nix").c_str(), 0600), 0);
  EXPECT_THAT(*Read(), ElementsAre(Pair("flake.nix", "{ }")));
  fs::remove(Path("flake.nix"));
  fs::create_symlink(Path("secret"), Path("flake.nix"));
  EXPECT_THAT(*Read(), IsEmpty());
}

TEST_F(ProjectFilesTest, AreBounded) {
  Write("flake.nix", std::string((4U << 20) + 1, 'x'));
  EXPECT_FALSE(Read());
  Write("flake.nix", "{ }");
  EXPECT_TRUE(Read());
  Write("nix/1/2/3/4/5/6/7/8/deep.nix", "x");
  EXPECT_FALSE(Read());
}

TEST(ProjectFilesDigestTest, NamesAndTextsCount) {
  EXPECT_NE(DigestOf(ProjectFiles{{"a", "bc"}}), DigestOf(ProjectFiles{{"ab", "c"}}));
  EXPECT_NE(DigestOf(ProjectFiles{{"a", "b"}}), DigestOf(ProjectFiles{{"a", "b"}, {"c", ""}}));
  EXPECT_EQ(DigestOf(ProjectFiles{{"a", "b"}}), DigestOf(ProjectFiles{{"a", "b"}}));
}

}  // namespace
}  // namespace igloo::nix
