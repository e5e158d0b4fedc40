// What claude-sandbox shows of the user's without being asked: code in it is told to take more than
// that, or to change it. The control is the same attack where the wall does not stand.

#include <gmock/gmock.h>

#include <filesystem>

#include "base/unix_listener.h"
#include "support/grants.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;

/// Exit codes of attacks: any other means that the attack did not run.
constexpr int kWon = 42, kHeld = 7;

std::string Script(const std::string& attack) {
  return "if " + attack + "; then exit 42; else exit 7; fi";
}

class ClaudeSandboxAttack : public WithGrants {
 protected:
  void SetUp() override {
    WithGrants::SetUp();
    Write(".gitconfig", "[user]\n\tname = Ann\n");
    Write(".config/git/ignore", "*.o\n");
    Write(".config/gh/hosts.yml", "oauth_token: canary\n");
    Write(".ssh/config", "Host example\n");
  }

  int InSandbox(const std::string& attack, std::vector<std::string> options = {},
                std::vector<std::string> env = {}) const {
    options.insert(options.end(), {"--no-network", "--shell", Path("p"), "-c", Script(attack)});
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("")});
    return RunProgram({.program = BinDirectory() + "/claude-sandbox",
                       .args = std::move(options),
                       .env = std::move(env)})
        .status;
  }
  int OnHost(const std::string& attack, std::vector<std::string> env = {}) const {
    return Host({"sh", "-c", Script(attack)}, std::move(env)).status;
  }
};

TEST_F(ClaudeSandboxAttack, CannotChangeWhatItIsShown) {
  for (const char* attack :
       {"echo '[alias] x = !y' >> ~/.gitconfig", "git config --global core.pager evil",
        "echo x > ~/.config/git/attributes", "echo x >> ~/.config/git/ignore",
        "echo x >> ~/.config/gh/hosts.yml", "echo key > ~/.ssh/authorized_keys",
        "echo 'ProxyCommand evil' >> ~/.ssh/config", "rm ~/.ssh/config", "mv ~/.ssh ~/.ssh-old",
        "chmod 666 ~/.ssh/config"}) {
    const auto before = SnapshotOf(Path(".ssh"));
    const std::string git = Read(".gitconfig");
    EXPECT_EQ(InSandbox(attack), kHeld) << attack;
    EXPECT_EQ(SnapshotOf(Path(".ssh")), before) << attack;
    EXPECT_EQ(Read(".gitconfig"), git) << attack;
  }
  for (const char* attack :
       {"echo x >> ~/.gitconfig", "echo x >> ~/.config/git/ignore",
        "echo x >> ~/.config/gh/hosts.yml", "echo key > ~/.ssh/authorized_keys"}) {
    EXPECT_EQ(OnHost(attack), kWon) << attack;
  }
}

TEST_F(ClaudeSandboxAttack, CannotReadWhatMinimalLeavesOut) {
  MakeSshKey("private");
  for (const char* attack :
       {"grep -q Host ~/.ssh/config", "grep -q PRIVATE ~/.ssh/private",
        "grep -q canary ~/.config/gh/hosts.yml", "grep -q o ~/.config/git/ignore"}) {
    EXPECT_EQ(InSandbox(attack, {"--minimal"}), kHeld) << attack;
    EXPECT_EQ(InSandbox(attack), kWon) << attack;
  }
}

TEST_F(ClaudeSandboxAttack, CannotUseAConnectionThatTheUsersSshKeepsOpen) {
  // As with ControlPath ~/.ssh/%h: whoever can connect is logged in.
  const UnixListener listener = UnixListener::Open(Path(".ssh/master")).value();
  const std::string attack =
      "python3 -c 'import os, socket\n"
      "socket.socket(socket.AF_UNIX).connect(os.path.expanduser(\"~/.ssh/"
      "master\"))'";
  EXPECT_EQ(InSandbox("test -e ~/.ssh/master"), kWon) << "its name is there";
  EXPECT_EQ(InSandbox(attack), kHeld);
  EXPECT_EQ(OnHost(attack), kWon);
}

TEST_F(ClaudeSandboxAttack, CannotChangeTheSshAgentOrReachItself) {
  StartSshAgent({"one"});
  for (const std::string& attack :
       {std::string("ssh-add -D"), "SSH_AUTH_SOCK=" + Path("agent.sock") + " ssh-add -l"}) {
    EXPECT_EQ(InSandbox(attack, {}, {SshVariable()}), kHeld) << attack;
  }
  EXPECT_EQ(InSandbox("ssh-add -l", {}, {SshVariable()}), kWon) << "it is there to sign";
  EXPECT_EQ(InSandbox("ssh-add -l", {"--minimal"}, {SshVariable()}), kHeld);
  EXPECT_EQ(OnHost("ssh-add -D", {SshVariable()}), kWon);
}

TEST_F(ClaudeSandboxAttack, CannotReachAnotherDisplayThanItsOwn) {
  const std::string mine = StartX(), other = StartX();
  const std::string attack = "DISPLAY=:" + other + " xdpyinfo > info";
  EXPECT_EQ(InSandbox(attack, {}, {"DISPLAY=:" + mine, CookieVariable()}), kHeld);
  EXPECT_EQ(InSandbox(attack, {"--minimal"}, {"DISPLAY=:" + other, CookieVariable()}), kHeld);
  EXPECT_EQ(InSandbox(attack, {}, {"DISPLAY=:" + other, CookieVariable()}), kWon);
}

TEST_F(ClaudeSandboxAttack, CannotReachSoundAndWaylandThatMinimalLeavesOut) {
  fs::create_directories(Path("run/pulse"));
  for (const char* each : {"run", "run/pulse"}) {
    fs::permissions(Path(each), fs::perms::owner_all);
  }
  const UnixListener sound = UnixListener::Open(Path("run/pipewire-0")).value();
  const UnixListener wayland = UnixListener::Open(Path("run/wayland-0")).value();
  const UnixListener other = UnixListener::Open(Path("run/bus")).value();
  const std::vector<std::string> env = {"XDG_RUNTIME_DIR=" + Path("run")};
  const auto connect = [](const std::string& path) {
    return "python3 -c 'import os, socket\n"
           "socket.socket(socket.AF_UNIX).connect(os.path.expandvars(\"" +
           path + "\"))'";
  };
  for (const char* path : {"$PIPEWIRE_REMOTE", "$WAYLAND_DISPLAY"}) {
    EXPECT_EQ(InSandbox(connect(path), {"--minimal"}, env), kHeld) << path;
    EXPECT_EQ(InSandbox(connect(path), {}, env), kWon) << path;
  }
  EXPECT_EQ(InSandbox(connect(Path("run/bus")), {}, env), kHeld) << "the bus of the session";
  EXPECT_EQ(OnHost(connect(Path("run/bus")), env), kWon);
}

TEST_F(ClaudeSandboxAttack, CannotPlantProgramsForTheUserOrForOtherProjects) {
  fs::create_directories(Path(".local/bin"));
  const std::string attack = "cp /bin/true ~/.local/bin/git && ln -s /etc ~/.local/share/here";
  EXPECT_EQ(InSandbox(attack), kWon) << "in its own";
  EXPECT_TRUE(fs::is_empty(Path(".local/bin")));
  EXPECT_EQ(InSandbox("test $(command -v git) = ~/.local/bin/git"), kHeld)
      << "and never before the system's";
  EXPECT_EQ(OnHost("cp /bin/true ~/.local/bin/git"), kWon);
  EXPECT_FALSE(fs::is_empty(Path(".local/bin"))) << "control";
}

TEST_F(ClaudeSandboxAttack, CannotMakeTheNextSandboxShowAnotherDirectory) {
  ASSERT_EQ(InSandbox("true"), kWon);
  // The next one mounts what lies there.
  for (const char* attack :
       {"rm -rf ~/.local/bin && ln -s ~/.ssh ~/.local/bin", "mv ~/.local/share ~/.local/old",
        "rm $CLAUDE_SANDBOX_STATE_DIR/path", "echo /etc > $CLAUDE_SANDBOX_STATE_DIR/path",
        "mv $CLAUDE_SANDBOX_STATE_DIR/local/bin $CLAUDE_SANDBOX_STATE_DIR/local/old"}) {
    EXPECT_EQ(InSandbox(attack), kHeld) << attack;
    EXPECT_EQ(InSandbox("test -d ~/.local/bin -a ! -L ~/.local/bin"), kWon) << attack;
  }
}

}  // namespace
}  // namespace igloo::testing
