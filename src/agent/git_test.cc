#include "agent/git.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class GitFiles : public ::testing::Test {
 protected:
  GitFiles() : place_(fs::canonical(temp_.path()).string()) {}

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(place_ + "/" + path).parent_path());
    std::ofstream(place_ + "/" + path) << text;
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
};

TEST_F(GitFiles, TheIdentityIsThatOfTheGlobalConfigurationAndOfNoProject) {
  Write("home/.gitconfig", "[user]\n\tname = Ann \"A\" O'Hara\n\temail = ann@example.org\n");
  const GitIdentity identity = ReadGitIdentity(place_ + "/home");
  EXPECT_EQ(identity.name, "Ann A O'Hara");
  EXPECT_EQ(identity.email, "ann@example.org");
  EXPECT_EQ(ReadGitIdentity(place_ + "/none").name, "");
}

TEST_F(GitFiles, ARepositoryMaySaySomethingElseAboutWhoCommits) {
  Write("p/.git/config", "");
  const WorkTree tree{.git_directory = place_ + "/p/.git", .common = place_ + "/p/.git"};
  const GitIdentity global{.name = "Ann", .email = "ann@example.org"};
  const auto committer = [&] { return IdentityIn(tree, global); };
  EXPECT_EQ(committer().email, "ann@example.org");
  Write("elsewhere", "[user]\n\tname = Somebody\n");
  Write("p/.git/config",
        "[include]\n\tpath = " + place_ + "/elsewhere\n[user]\n\temail = ann@work.example\n");
  EXPECT_EQ(committer().email, "ann@work.example");
  EXPECT_EQ(committer().name, "Ann") << "and nothing that it includes";
}

TEST_F(GitFiles, TheFileInHomeIsReadBehindTheOneOfXdg) {
  Write("home/.config/git/config", "[user]\nname = Old\n\temail = old@example.org\n");
  Write("home/.gitconfig", "[user] name = Ann  # me\n[User]\n\tName = \"Ann B\" ; again\n");
  EXPECT_EQ(ReadGitIdentity(place_ + "/home").name, "Ann B");
  EXPECT_EQ(ReadGitIdentity(place_ + "/home").email, "old@example.org");
  Write("home/.gitconfig", "[user]\n\tsigningKey = a\\\\b\\\n  c\n[broken");
  EXPECT_EQ(ReadGitSetting(place_ + "/home", "user.signingkey"), "") << "git refuses such a file";
  Write("home/.gitconfig", "[user]\n\tsigningKey = a\\\\b\\\nc\n");
  EXPECT_EQ(ReadGitSetting(place_ + "/home", "user.signingkey"), "a\\bc");
}

TEST(GitConfigText, SaysNothingOfAnIdentityThatIsNotThere) {
  EXPECT_THAT(GitConfigText({}), Not(HasSubstr("[user]")));
  EXPECT_THAT(GitConfigText({}), HasSubstr("directory = *"));
}

TEST(GitConfigText, QuotesWhatGitWouldReadAsMore) {
  const std::string text = GitConfigText({.name = "a\"\n[alias]\n\tx = !sh", .email = "b\\c"});
  EXPECT_THAT(text, HasSubstr(R"(name = "a\"[alias]x = !sh")"));
  EXPECT_THAT(text, HasSubstr(R"(email = "b\\c")"));
}

}  // namespace
}  // namespace igloo::agent
