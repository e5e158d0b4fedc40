// Several people on one HTTP server, each with a token: none of them sees what another one has.

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <set>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kConnected = R"([environments.connected]
preset = "shell"
network = "allow"
allow = ["allowed.example"]
)";

/// Asks the proxy for a place that no rule allows, which needs no network outside.
constexpr const char* kUseNetwork = R"sh(
exec 5<>/dev/tcp/127.0.0.1/3128
printf 'GET http://refused.example/ HTTP/1.1\r\nHost: refused.example\r\n\r\n' >&5
read -r answer <&5
echo "the proxy says $answer")sh";

class Principals : public Configured {
 protected:
  void SetUp() override {
    Configured::SetUp();
    Write(kUsual, kConnected);
    const std::string file =
        Write("tokens/file", "alice " + Token("alice") + "\nbob " + Token("bob") + "\n");
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    std::filesystem::permissions(Path("tokens"), std::filesystem::perms(0700));
    server_ = std::make_unique<Running>(
        Invocation{.program = BinDirectory() + "/igloo",
                   .args = {"mcp", "--http", "127.0.0.1:0", "--token-file", file},
                   .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
    ASSERT_TRUE(server_->WaitForErrors("/mcp\n")) << server_->errors();
    const std::size_t at = server_->errors().find("http://127.0.0.1:");
    ASSERT_NE(at, std::string::npos);
    port_ = static_cast<std::uint16_t>(std::atoi(server_->errors().c_str() + at + 17));
  }
  static std::string Token(std::string_view who) { return std::string(who) + std::string(40, 'x'); }

  /// Asks as somebody, in the era without handshakes; the whole answer.
  std::string Ask(std::string_view who, const std::string& method, const std::string& name,
                  JsonObject params) const {
    params["_meta"] = ModernMeta();
    const std::string body = boost::json::serialize(JsonObject{
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}});
    const std::string text =
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nConnection: close\r\nAuthorization: Bearer " +
        Token(who) + "\r\nMcp-Method: " + method + "\r\nMcp-Name: " + name +
        "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_TRUE(WriteAll(fd.get(), text));
    std::string heard;
    while (fd) Drain(fd, heard);
    return heard;
  }
  std::string Run(std::string_view who, JsonObject arguments) const {
    arguments["env"] = "shell";
    return Ask(who, "tools/call", "run", {{"name", "run"}, {"arguments", std::move(arguments)}});
  }
  /// Uses the network of a sandbox, which belongs to whose token it is.
  std::string Connect(std::string_view who, JsonObject arguments) const {
    arguments["env"] = "connected";
    return Ask(who, "tools/call", "run_connected",
               {{"name", "run_connected"}, {"arguments", std::move(arguments)}});
  }
  /// The igloo-proxy processes of the server.
  std::set<pid_t> Proxies() const {
    std::set<pid_t> proxies;
    for (const ProcessInfo& each : DescendantsOf(server_->pid())) {
      if (each.name == "igloo-proxy" && !IsGone(each.pid)) proxies.insert(each.pid);
    }
    return proxies;
  }
  std::string In(std::string_view who, std::string_view session, std::string_view code) const {
    return Run(who, {{"session", session}, {"code", code}});
  }
  std::string Act(std::string_view who, std::string_view action, std::string_view session) const {
    return Run(who, {{"session", session}, {"session_action", action}});
  }
  std::string ReadResource(std::string_view who, const std::string& uri) const {
    return Ask(who, "resources/read", uri, {{"uri", uri}});
  }
  std::string ListResources(std::string_view who) const {
    return Ask(who, "resources/list", "", {});
  }
  Outcome Session(std::vector<std::string> args) const {
    args.insert(args.begin(), "session");
    return Configured::Run(std::move(args));
  }

 private:
  std::unique_ptr<Running> server_ = {};
  std::uint16_t port_ = 0;
};

TEST_F(Principals, OneNameIsAnotherSessionUnderAnotherToken) {
  EXPECT_THAT(In("alice", "work", "secret=hunter2; echo one > file"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(In("bob", "work", "echo \"[$secret]\"; ls"),
              AllOf(HasSubstr("[]"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(In("alice", "work", "echo \"[$secret]\"; cat file"),
              AllOf(HasSubstr("[hunter2]"), HasSubstr("one")))
      << "control: with her own token she is still in it";
}

TEST_F(Principals, ListAndCloseOnlySeeOnesOwn) {
  ASSERT_THAT(In("alice", "of-alice", "x=1"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Act("alice", "list", ""), HasSubstr("of-alice")) << "control";
  EXPECT_THAT(Act("bob", "list", ""), Not(HasSubstr("of-alice")));
  for (const char* action : {"interrupt", "reset", "close"}) {
    EXPECT_THAT(Act("bob", action, "of-alice"), HasSubstr("there is no session")) << action;
  }
  EXPECT_THAT(Run("bob", {{"session", "copy"}, {"fork_of", "of-alice"}, {"code", "echo \"[$x]\""}}),
              AllOf(HasSubstr("isError"), Not(HasSubstr("[1]"))));
  EXPECT_THAT(In("alice", "of-alice", "echo \"[$x]\""), HasSubstr("[1]")) << "it still lives";
  EXPECT_THAT(Act("alice", "close", "of-alice"), HasSubstr("is closed")) << "control";
}

TEST_F(Principals, KeptOutputAndFilesAreReadByTheirOwnPrincipalOnly) {
  const std::string said = Run("alice", {{"code", "seq 1 20000; echo mark > left.txt"}});
  const std::size_t at = said.find("igloo://run/");
  ASSERT_NE(at, std::string::npos) << said;
  const std::string uri = said.substr(at, said.find_first_of("\"\\ ,]", at) - at);
  EXPECT_THAT(ReadResource("alice", uri), StartsWith("HTTP/1.1 200")) << "control: " << uri;
  EXPECT_THAT(ReadResource("bob", uri), Not(StartsWith("HTTP/1.1 200")));
  EXPECT_THAT(ListResources("alice"), HasSubstr("igloo://run/")) << "control";
  EXPECT_THAT(ListResources("bob"), Not(HasSubstr("igloo://run/")));
  ASSERT_THAT(In("alice", "files", "echo inside > mine.txt"), HasSubstr("mine.txt"));
  const std::string file = "igloo://session/files/mine.txt";
  EXPECT_THAT(ReadResource("alice", file), HasSubstr("inside")) << "control";
  EXPECT_THAT(ReadResource("bob", file), Not(HasSubstr("inside")));
  EXPECT_THAT(ListResources("bob"), Not(HasSubstr("mine.txt")));
}

TEST_F(Principals, TheServersUserSeesAllByTheirLabels) {
  ASSERT_THAT(In("alice", "work", "x=1"), StartsWith("HTTP/1.1 200"));
  ASSERT_THAT(In("bob", "work", "x=2"), StartsWith("HTTP/1.1 200"));
  const Outcome list = Session({"list"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("alice/work"), HasSubstr("bob/work"))) << list.err;
  EXPECT_EQ(Session({"close", "bob/work"}).status, 0);
  EXPECT_THAT(In("bob", "work", "echo \"[$x]\""), HasSubstr("[]"));
  EXPECT_THAT(In("alice", "work", "echo \"[$x]\""), HasSubstr("[1]"));
}

TEST_F(Principals, ShareNoProxyAndEachHasOneForSessionsAndRuns) {
  // A run takes an interpreter that waits, unless its code cannot go over the driver's channel.
  const std::string as_file = kUseNetwork + std::string("\n# \0", 4);
  const std::vector<JsonObject> ways = {{{"session", "work"}, {"code", kUseNetwork}},
                                        {{"session", "more"}, {"code", kUseNetwork}},
                                        {{"code", kUseNetwork}},
                                        {{"code", as_file}}};
  const auto use_all = [&](std::string_view who) {
    for (const JsonObject& each : ways) {
      EXPECT_THAT(Connect(who, each), HasSubstr("the proxy says HTTP/1.1 403"));
    }
  };
  ASSERT_EQ(Proxies().size(), 0U);
  use_all("alice");
  const std::set<pid_t> of_alice = Proxies();
  ASSERT_EQ(of_alice.size(), 1U) << "control: sandboxes of one principal do share one";
  use_all("bob");
  const std::set<pid_t> of_both = Proxies();
  EXPECT_EQ(of_both.size(), 2U);
  EXPECT_THAT(of_both, IsSupersetOf(of_alice));
  use_all("alice");
  EXPECT_EQ(Proxies(), of_both);
}

}  // namespace
}  // namespace igloo::testing
