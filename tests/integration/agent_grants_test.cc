// Grants of boxes with real programs behind them: ssh-agent, gpg-agent, an X server.

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "audit/grant_log.h"
#include "base/unix_listener.h"
#include "support/grants.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class AgentGrants : public WithGrants {
 protected:
  std::vector<audit::GrantUse> Uses() const {
    std::vector<audit::GrantUse> uses;
    std::ifstream file(Path(".local/state/igloo/" + std::string(audit::kGrantFile)));
    for (std::string line; std::getline(file, line);) {
      uses.push_back(audit::DecodeGrantUse(line).value());
    }
    return uses;
  }
};

TEST_F(AgentGrants, ProgramsInsideSignWithTheRealSshAgentAndItIsWrittenDown) {
  StartSshAgent({"one"});
  const Outcome box = Box({"--with-ssh"},
                          "set -e; ssh-add -l; ls ~/.ssh; echo text > x; "
                          "ssh-keygen -q -Y sign -f one.pub -n file x",
                          {SshVariable()});
  ASSERT_EQ(box.status, 0) << box.err;
  EXPECT_EQ(box.out, "256 " + Fingerprint("one") + " one (ED25519)\n") << "and an empty ~/.ssh";
  const Outcome verified = Box({}, "ssh-keygen -q -Y check-novalidate -n file -s x.sig < x");
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_THAT(Run({"log", "--grants"}).out,
              AllOf(HasSubstr("signed"), HasSubstr("--with-ssh"), HasSubstr(Fingerprint("one"))));
  ASSERT_EQ(Uses().size(), 1U);
  EXPECT_EQ(Uses()[0].event, "signed");
  EXPECT_EQ(Uses()[0].what, Fingerprint("one") + " one");
}

TEST_F(AgentGrants, TheFilterLeavesTheNamedKeysAlone) {
  StartSshAgent({"one", "two", "three"});
  const Outcome box =
      Box({"--with-ssh", "--ssh-key-filter", "two", "--ssh-key-filter", Fingerprint("three")},
          "ssh-add -l", {SshVariable()});
  EXPECT_EQ(box.status, 0) << box.err;
  EXPECT_THAT(box.out, AllOf(Not(HasSubstr(" one ")), HasSubstr(" two "), HasSubstr(" three ")));
  const Outcome wrong = Box({"--with-ssh", "--ssh-key-filter", "none"}, "true", {SshVariable()});
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("your ssh-agent has no key 'none'"));
}

TEST_F(AgentGrants, GitInsideSignsCommitsWithTheSshKeyThatGitOutsideHas) {
  StartSshAgent({"one"});
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"gpg.format", "ssh"},
      {"user.signingkey", "~/.ssh/one.pub"},
      {"commit.gpgsign", "true"},
      {"user.name", "Ann"},
      {"user.email", "ann@example"}};
  for (const auto& [key, value] : settings) MustHost({"git", "config", "--global", key, value});
  MustHost({"git", "init", "-q"});
  const Outcome box =
      Box({"--with-ssh"}, "git commit -q --allow-empty -m x; git cat-file commit HEAD",
          {SshVariable()});
  EXPECT_THAT(box.out, HasSubstr("BEGIN SSH SIGNATURE")) << box.err;
}

TEST_F(AgentGrants, WithoutAnSshAgentTheBoxStartsAllTheSame) {
  const Outcome box = Box({"--with-ssh"}, "echo started; echo \"${SSH_AUTH_SOCK-none}\"");
  EXPECT_EQ(box.out, "started\nnone\n") << box.err;
}

TEST_F(AgentGrants, AKeyFileIsThereForSsh) {
  MakeSshKey("deploy");
  Write(".ssh/known_hosts", "example.org ssh-ed25519 AAAA\n");
  const Outcome box = Box({"--ssh-key", Path(".ssh/deploy")},
                          "ssh-keygen -yf ~/.ssh/deploy | cut -d' ' -f1; cat ~/.ssh/known_hosts; "
                          "ssh -G example.org | grep ^identityfile; echo x > ~/.ssh/deploy");
  EXPECT_THAT(box.out, AllOf(StartsWith("ssh-ed25519\nexample.org ssh-ed25519 AAAA\n"),
                             HasSubstr("identityfile ~/.ssh/deploy")))
      << box.err;
  EXPECT_NE(box.status, 0) << "it is read-only";
}

TEST_F(AgentGrants, ProgramsInsideSignWithTheRealGpgAgent) {
  MakeGpgKey();
  const Outcome box =
      Box({"--with-gpg"}, "echo text | gpg --batch --clearsign > signed", {GpgVariable()});
  ASSERT_EQ(box.status, 0) << box.err;
  MustHost({"gpg", "--batch", "--verify", "signed"}, {GpgVariable()});
  // gpg also asks for smartcards, which is refused.
  EXPECT_THAT(Uses(), Contains(AllOf(Field(&audit::GrantUse::grant, "--with-gpg"),
                                     Field(&audit::GrantUse::event, "signed"))));
}

TEST_F(AgentGrants, ProgramsInsideReachTheRealXServer) {
  const std::string number = StartX();
  const Outcome box = Box({"--x11"}, "xdpyinfo | head -1; ls /tmp/.X11-unix",
                          {"DISPLAY=:" + number, CookieVariable()});
  EXPECT_EQ(box.out, "name of display:    :" + number + "\nX" + number + "\n") << box.err;
}

/// Listens where a desktop's program would, and answers one client.
class Desktop {
 public:
  explicit Desktop(const std::string& path) : listener_(UnixListener::Open(path).value()) {
    thread_ = std::thread([this] {
      pollfd ready{listener_.fd(), POLLIN, 0};
      if (::poll(&ready, 1, 20'000) != 1) return;
      const auto client = AcceptClient(listener_.fd());
      if (client && *client) (void)!::write((*client)->get(), "hello", 5);
    });
  }
  ~Desktop() { thread_.join(); }

 private:
  UnixListener listener_;
  std::thread thread_;
};

constexpr const char* kReadSocket =
    "python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
    "print(s.recv(9).decode())' ";

TEST_F(AgentGrants, ProgramsInsideReachAStandInForWayland) {
  const std::string runtime = "XDG_RUNTIME_DIR=" + Path("run");
  fs::create_directories(Path("run"));
  fs::permissions(Path("run"), fs::perms::owner_all);
  const Desktop desktop(Path("run/wayland-3"));
  const Outcome box = Box({"--wayland"}, std::string(kReadSocket) + "$WAYLAND_DISPLAY",
                          {runtime, "WAYLAND_DISPLAY=wayland-3"});
  EXPECT_EQ(box.out, "hello\n") << box.err;
}

TEST_F(AgentGrants, ProgramsInsideReachAStandInForPipeWire) {
  fs::create_directories(Path("run"));
  fs::permissions(Path("run"), fs::perms::owner_all);
  const Desktop desktop(Path("run/pipewire-0"));
  const Outcome box = Box({"--audio"}, std::string(kReadSocket) + "$PIPEWIRE_REMOTE",
                          {"XDG_RUNTIME_DIR=" + Path("run")});
  EXPECT_EQ(box.out, "hello\n") << box.err;
}

TEST_F(AgentGrants, TheRealChromiumRunsInsideAndLeavesNothingInTheProject) {
  Write("p/page.html", "<p id=x></p><script>x.textContent = 6 * 7</script>\n");
  const auto before = SnapshotOf(Path("p"));
  const Outcome box =
      Box({"--browser"}, "chromium --headless --disable-gpu --dump-dom file://$PWD/page.html");
  EXPECT_THAT(box.out, HasSubstr("<p id=\"x\">42</p>")) << box.err;
  EXPECT_EQ(SnapshotOf(Path("p")), before);
  EXPECT_FALSE(fs::is_empty(Path(".local/state/igloo/browser")));
}

TEST_F(AgentGrants, AMountIsReadOnlyUnlessItIsSaid) {
  fs::create_directories(Path("data"));
  Write("data/file", "content\n");
  fs::permissions(Path("data"), fs::perms::owner_all);
  const Outcome read = Box({"--mount", Path("data")}, "cat ~/data/file; echo x > ~/data/file");
  EXPECT_EQ(read.out, "content\n") << read.err;
  EXPECT_NE(read.status, 0);
  const Outcome write = Box({"--mount", Path("data") + ":rw"}, "echo new > ~/data/file");
  EXPECT_EQ(write.status, 0) << write.err;
  EXPECT_EQ(Read("data/file"), "new\n");
}

TEST_F(AgentGrants, TheTokenForGitHubIsThere) {
  const Outcome box = Box({"--gh-token"}, "echo $GITHUB_TOKEN", {"GH_TOKEN=ghp_0123456789abcdef"});
  EXPECT_EQ(box.out, "ghp_0123456789abcdef\n") << box.err;
}

TEST_F(AgentGrants, TheSummaryShowsWhatIsGrantedAndWhatItLetsCodeDo) {
  StartSshAgent({"one"});
  const Outcome summary = Run(
      {"agent", "--cmd", "bash", "--project", Path("p"), "--with-ssh", "--gh-token", "--summary"},
      {SshVariable(), "GH_TOKEN=ghp_0123456789abcdef"});
  EXPECT_THAT(summary.out, AllOf(HasSubstr("\nGranted\n"), HasSubstr(Fingerprint("one") + " one"),
                                 HasSubstr("code can log in with these keys"),
                                 HasSubstr("--gh-token"), Not(HasSubstr("0123456789abcdef"))))
      << summary.err;
  const Outcome dry =
      Run({"agent", "--cmd", "bash", "--project", Path("p"), "--with-ssh", "--dry-run"},
          {SshVariable()});
  EXPECT_THAT(dry.out, HasSubstr("WARNING: code in this sandbox may use the host's socket"));
}

TEST_F(AgentGrants, NothingIsLeftOfABoxThatHasEnded) {
  StartSshAgent({"one"});
  ASSERT_EQ(Box({"--with-ssh"}, "true", {SshVariable()}).status, 0);
  std::vector<std::string> left;
  for (const auto& each : fs::directory_iterator(Path(".local/state/igloo/grants"))) {
    left.push_back(each.path().filename());
  }
  EXPECT_THAT(left, ::testing::ElementsAre("lock"));
}

}  // namespace
}  // namespace igloo::testing
