// Grants of boxes: each shows what it says and nothing beside it. A box is told to take more; the
// control is the same attack where what it wants is in reach.

#include "support/grants.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/unix_listener.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Exit codes of attacks: any other means that the attack did not run.
constexpr int kWon = 42, kHeld = 7;

/// `attack` as a script that tells how it ended.
std::string Script(const std::string& attack) {
  return "if " + attack + "; then exit 42; else exit 7; fi";
}

class GrantAttack : public WithGrants {
 protected:
  int InBox(std::vector<std::string> options, const std::string& attack,
            std::vector<std::string> env = {}) const {
    return Box(std::move(options), Script(attack), std::move(env)).status;
  }
  int OnHost(const std::string& attack, std::vector<std::string> env) const {
    return Host({"sh", "-c", Script(attack)}, std::move(env)).status;
  }
};

TEST_F(GrantAttack, CannotSignWithAKeyThatIsNotListed) {
  StartSshAgent({"mine", "theirs"});
  const std::string attack =
      "echo x > x && rm -f x.sig && ssh-keygen -q -Y sign -f theirs.pub -n file x";
  EXPECT_EQ(InBox({"--with-ssh", "--ssh-key-filter", "mine"}, attack, {SshVariable()}), kHeld);
  EXPECT_EQ(InBox({"--with-ssh"}, attack, {SshVariable()}), kWon);
}

TEST_F(GrantAttack, CannotRemoveLockOrAddKeysOfTheAgent) {
  StartSshAgent({"one"});
  MakeSshKey("new");
  fs::copy_file(Path(".ssh/new"), Path("p/new"));
  // Each can win in this order: a locked agent does nothing else.
  for (const char* attack :
       {"ssh-add -q new", "ssh-add -d one.pub", "ssh-add -D",
        "SSH_ASKPASS=/bin/pwd SSH_ASKPASS_REQUIRE=force ssh-add -x </dev/null"}) {
    const std::string before = Host({"ssh-add", "-l"}, {SshVariable()}).out;
    EXPECT_EQ(InBox({"--with-ssh"}, attack, {SshVariable()}), kHeld) << attack;
    EXPECT_EQ(Host({"ssh-add", "-l"}, {SshVariable()}).out, before) << attack;
    EXPECT_EQ(OnHost(attack, {SshVariable()}), kWon) << attack;
  }
}

TEST_F(GrantAttack, CannotReachTheAgentItself) {
  StartSshAgent({"one"});
  const std::string attack = "SSH_AUTH_SOCK=" + Path("agent.sock") + " ssh-add -l";
  EXPECT_EQ(InBox({"--with-ssh"}, attack, {SshVariable()}), kHeld);
  EXPECT_EQ(OnHost(attack, {}), kWon);
}

TEST_F(GrantAttack, CannotReadTheOtherKeysBesideAGrantedOne) {
  for (const char* name : {"deploy", "private"}) MakeSshKey(name);
  const std::string attack = "grep -q PRIVATE ~/.ssh/private";
  EXPECT_EQ(InBox({"--ssh-key", Path(".ssh/deploy")}, attack), kHeld);
  EXPECT_EQ(InBox({"--home", ".ssh"}, attack), kWon);
}

TEST_F(GrantAttack, CannotDecryptWithAKeyThatSigns) {
  MakeGpgKey();
  MustHost(
      {"sh", "-c", "echo secret | gpg --batch --trust-model always -r ann@example -e > sealed"},
      {GpgVariable()});
  const std::string attack = "gpg --batch --quiet --decrypt sealed | grep -q secret";
  EXPECT_EQ(InBox({"--with-gpg"}, attack, {GpgVariable()}), kHeld);
  EXPECT_EQ(OnHost(attack, {GpgVariable()}), kWon);
}

TEST_F(GrantAttack, CannotReachAnotherDisplayThanItsOwn) {
  const std::string mine = StartX(), other = StartX();
  const std::string attack = "DISPLAY=:" + other + " xdpyinfo > info";
  EXPECT_EQ(InBox({"--x11"}, attack, {"DISPLAY=:" + mine, CookieVariable()}), kHeld);
  EXPECT_EQ(InBox({}, attack, {"DISPLAY=:" + other, CookieVariable()}), kHeld);
  EXPECT_EQ(InBox({"--x11"}, attack, {"DISPLAY=:" + other, CookieVariable()}), kWon);
}

TEST_F(GrantAttack, HasNothingThatNobodyAskedFor) {
  StartSshAgent({"one"});
  const std::vector<std::string> env = {SshVariable(), "GH_TOKEN=ghp_x"};
  EXPECT_EQ(InBox({}, "ssh-add -l", env), kHeld);
  EXPECT_EQ(InBox({"--gh-token"}, "ssh-add -l", env), kHeld);
  EXPECT_EQ(InBox({"--with-ssh"}, "test -n \"$GH_TOKEN\"", env), kHeld);
  EXPECT_EQ(InBox({"--with-ssh", "--gh-token"}, "ssh-add -l && test -n \"$GH_TOKEN\"", env), kWon);
}

TEST_F(GrantAttack, CannotUseASocketInADirectoryThatIsShownToRead) {
  fs::create_directories(Path("data"));
  fs::permissions(Path("data"), fs::perms::owner_all);
  const UnixListener listener = UnixListener::Open(Path("data/socket")).value();
  const std::string attack = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"" +
                             Path("data/socket") + "\")'";
  EXPECT_EQ(InBox({"--mount", Path("data")}, attack), kHeld);
  EXPECT_EQ(InBox({"--mount", Path("data") + ":rw"}, attack), kWon);
}

}  // namespace
}  // namespace igloo::testing
