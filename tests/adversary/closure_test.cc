// P1 in an environment from a store: nothing of the host is seen but the closure.
#include <gmock/gmock.h>

#include "attack_case.h"
#include "support/artifacts.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "hunter2";

/// A secret of the host's, one in the same store, and code that looks for them. What it prints
/// holds the secret when the attack has won.
class ClosureAttack : public ArtifactStore {
 protected:
  void SetUp() override {
    ArtifactStore::SetUp();
    Write(Path("secret"), kSecret);
    Write(Physical(other_ + "/secret"), kSecret);
  }
  /// Behind the wall, where `more` is what the closure has besides.
  std::string Inside(const std::string& code, const std::string& more = {}) {
    Write(Physical(list_ + "/store-paths"), bash_ + "\n" + tools_ + "\n" + root_ + "\n" + more);
    const Outcome outcome = Run({"run", "--artifact", Add("art", "mine"), code + "; echo ran"});
    EXPECT_THAT(outcome.out, HasSubstr("ran\n")) << outcome.err;
    return outcome.out;
  }
  /// The control: on the host.
  std::string Outside(const std::string& code) const {
    return RunProgram({.program = "/bin/sh", .args = {"-c", code}}).out;
  }
};

TEST_F(ClosureAttack, AStorePathOutsideOfTheClosureIsNotThere) {
  const std::string code = "cat " + other_ + "/secret";
  EXPECT_THAT(Inside(code, other_ + "\n"), HasSubstr(kSecret)) << "control: with it in the closure";
  EXPECT_THAT(Inside(code), Not(HasSubstr(kSecret)));
}

TEST_F(ClosureAttack, NoWayOfWritingAPathLeadsOut) {
  const std::string secret = Path("secret");
  // As it is written inside, and what that is on the host.
  const std::vector<std::pair<std::string, std::string>> ways = {
      {secret, secret},
      {"/proc/self/root" + secret, "/proc/self/root" + secret},
      {"/proc/$$/root" + secret, "/proc/$$/root" + secret},
      {bash_ + "/../../../../secret", Physical(bash_) + "/../../../../secret"},
      {"/nix/store/../../../secret", prefix() + "/nix/store/../../../secret"}};
  for (const auto& [inside, outside] : ways) {
    EXPECT_THAT(Outside("cat " + outside), HasSubstr(kSecret)) << "control: " << outside;
    EXPECT_THAT(Inside("cat " + inside), Not(HasSubstr(kSecret))) << inside;
  }
}

TEST_F(ClosureAttack, LinksOfTheClosureLeadNowhereOutside) {
  const std::string secret = Path("secret");
  const std::string link = StorePath('g', "link"), directory = StorePath('i', "directory");
  std::filesystem::create_symlink(secret, Physical(link));
  std::filesystem::create_directories(Physical(directory));
  std::filesystem::create_symlink(secret, Physical(directory + "/absolute"));
  std::filesystem::create_symlink("../../../../secret", Physical(directory + "/relative"));
  for (const std::string& path : {link, directory + "/absolute", directory + "/relative"}) {
    EXPECT_THAT(Outside("cat " + Physical(path)), HasSubstr(kSecret)) << "control: " << path;
    EXPECT_THAT(Inside("cat " + path, link + "\n" + directory + "\n"), Not(HasSubstr(kSecret)))
        << path;
  }
}

TEST_F(ClosureAttack, TheClosureCannotBeChanged) {
  const std::string file = tools_ + "/bin/mark";
  const std::string code =
      "echo x > " + file + "; mkdir " + tools_ + "/d; rm -f " + bash_ + "/bin/sh";
  Outside("echo x > " + Physical(file));
  EXPECT_TRUE(std::filesystem::remove(Physical(file))) << "control: on the host it can";
  Inside(code);
  EXPECT_FALSE(std::filesystem::exists(Physical(file)));
  EXPECT_FALSE(std::filesystem::exists(Physical(tools_ + "/d")));
  EXPECT_TRUE(std::filesystem::exists(Physical(bash_ + "/bin/sh")));
}

TEST_F(ClosureAttack, MetadataReachesNothingOfTheHost) {
  for (const char* more :
       {R"(,"interpreter":["/usr/bin/env"])", R"(,"interpreter":["/bin/busybox","cat"])",
        R"(,"interpreter":["../../../../bin/busybox","cat"])"}) {
    EXPECT_TRUE(std::filesystem::exists("/bin/busybox")) << "control";
    const Outcome outcome = Run({"run", "--artifact", Add("art", "mine", more), kSecret});
    EXPECT_THAT(outcome.out, Not(HasSubstr("PATH="))) << more;
    EXPECT_NE(outcome.status, 0) << more;
  }
  for (const char* more : {R"(,"interpreter_type":"bash","code_file":"../x")",
                           R"(,"interpreter_type":"bash","code_file":"a/b")",
                           R"(,"interpreter_type":"bash","code_file":"..")"}) {
    EXPECT_EQ(Run({"run", "--artifact", Add("art", "mine", more), "echo ran"}).status, 125) << more;
  }
}

}  // namespace
}  // namespace igloo::testing
