// The server that is shipped, over HTTP: who may call it, and that runs come through.

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "support/configured.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class McpHttp : public Configured {
 protected:
  /// Serves at `address` until the test ends.
  void Serve(const std::string& address, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"mcp", "--http", address};
    args.insert(args.end(), more.begin(), more.end());
    running_ =
        std::make_unique<Running>(Invocation{.program = BinDirectory() + "/igloo",
                                             .args = std::move(args),
                                             .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
    const bool by_name = address.starts_with("unix:");
    ASSERT_TRUE(running_->WaitForErrors(by_name ? "serving MCP at " : "/mcp\n"))
        << running_->errors();
    const std::string& said = running_->errors();
    const std::size_t at = said.find("http://127.0.0.1:");
    if (at != std::string::npos) port_ = std::atoi(said.c_str() + at + 17);
  }

  /// Posts a message and gives all that comes back.
  std::string Post(const std::string& headers, const std::string& body) const {
    UniqueFd fd = Connect();
    const std::string text = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n" + headers +
                             "Connection: close\r\nContent-Length: " + std::to_string(body.size()) +
                             "\r\n\r\n" + body;
    EXPECT_TRUE(WriteAll(fd.get(), text));
    std::string heard;
    while (fd) Drain(fd, heard);
    return heard;
  }
  /// A run, as a client of the era without handshakes asks for one.
  std::string PostRun(const std::string& headers) const {
    return Post(
        headers +
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
            "Mcp-Name: run\r\n",
        boost::json::serialize(JsonObject{
            {"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "tools/call"},
            {"params", JsonObject{{"_meta", ModernMeta()},
                                  {"name", "run"},
                                  {"arguments",
                                   JsonObject{{"env", "shell"}, {"code", "echo $((6 * 7))"}}}}}}));
  }

  void UseSocket(std::string path) { socket_ = std::move(path); }
  Running& running() { return *running_; }
  std::string Token(const std::string& file) const {
    std::string token = Read(file);
    while (token.ends_with('\n')) token.pop_back();
    return token;
  }

 private:
  UniqueFd Connect() const {
    if (!socket_.empty()) {
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
      std::ranges::copy(socket_, address.sun_path);
      return ConnectTo(address);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ConnectTo(address);
  }
  template <class Address>
  static UniqueFd ConnectTo(const Address& address) {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    UniqueFd fd(::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), generic, sizeof address), 0);
    return fd;
  }

  std::unique_ptr<Running> running_ = {};
  std::string socket_ = {};
  int port_ = 0;
};

constexpr const char* kHere = "Host: 127.0.0.1\r\n";
constexpr const char* kTokenFile = ".local/state/igloo/http-token";

std::string Bearer(const std::string& token) {
  return std::string(kHere) + "Authorization: Bearer " + token + "\r\n";
}

auto Ran() { return AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("42\\n")); }

TEST_F(McpHttp, OnlyWhoBringsTheTokenRunsCode) {
  Serve("127.0.0.1:0");
  EXPECT_THAT(running().errors(), HasSubstr(kTokenFile));
  struct stat info{};
  ASSERT_EQ(::stat(Path(kTokenFile).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  const std::string token = Token(kTokenFile);
  EXPECT_THAT(PostRun(Bearer(token)), Ran());
  const auto refused = AllOf(StartsWith("HTTP/1.1 401"), Not(HasSubstr("42\\n")));
  EXPECT_THAT(PostRun(kHere), refused);
  EXPECT_THAT(PostRun(Bearer(token + "x")), refused);
  EXPECT_THAT(PostRun(Bearer(std::string(token.size(), 'a'))), refused);
  EXPECT_THAT(PostRun(Bearer("")), refused);
  EXPECT_THAT(running().errors(), Not(HasSubstr(token))) << "it is said to nobody";
}

TEST_F(McpHttp, TheTokenLastsAndCanLieElsewhere) {
  Serve("127.0.0.1:0");
  const std::string first = Token(kTokenFile);
  Serve("127.0.0.1:0");
  EXPECT_EQ(Token(kTokenFile), first);
  const std::string own(40, 'k');
  const std::string file = Write("own-token", own + "\n");
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  std::filesystem::permissions(Path(""), std::filesystem::perms(0700));
  Serve("127.0.0.1:0", {"--token-file", file});
  EXPECT_THAT(PostRun(Bearer(own)), Ran());
  EXPECT_THAT(PostRun(Bearer(first)), StartsWith("HTTP/1.1 401"));
}

TEST_F(McpHttp, ATokenThatOthersReadIsRefused) {
  const std::string file = Write("own-token", std::string(40, 'k'));  // 0644
  const Outcome outcome = Run({"mcp", "--http", "127.0.0.1:0", "--token-file", file});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("others may read the token"));
}

TEST_F(McpHttp, WithoutATokenOnlyForThisMachine) {
  Serve("127.0.0.1:0", {"--no-token"});
  EXPECT_THAT(running().errors(), HasSubstr("warning: every program and every user"));
  EXPECT_THAT(PostRun(kHere), Ran());
  EXPECT_FALSE(std::filesystem::exists(Path(kTokenFile)));
  const Outcome open = Run({"mcp", "--http", "0.0.0.0:0", "--no-token"});
  EXPECT_EQ(open.status, 125);
  EXPECT_THAT(open.err, HasSubstr("--no-token is for this machine's own addresses only"));
}

TEST_F(McpHttp, PagesOfOthersAndOtherNamesAreRefused) {
  Serve("127.0.0.1:0", {"--no-token"});
  for (const char* headers :
       {"Host: 127.0.0.1\r\nOrigin: https://example.com\r\n", "Host: 127.0.0.1\r\nOrigin: null\r\n",
        "Host: example.com\r\n", "Host: 127.0.0.1.example.com\r\n"}) {
    EXPECT_THAT(PostRun(headers), AllOf(StartsWith("HTTP/1.1 403"), Not(HasSubstr("42\\n"))))
        << headers;
  }
}

TEST_F(McpHttp, ASocketWithANameNeedsNoToken) {
  const std::string path = Path("socket");
  Serve("unix:" + path);
  UseSocket(path);
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_THAT(PostRun("Host: localhost\r\n"), Ran());
  EXPECT_FALSE(std::filesystem::exists(Path(kTokenFile)));
  running().Signal(SIGTERM);
  EXPECT_EQ(running().Finish().status, 0);
  EXPECT_FALSE(std::filesystem::exists(path)) << "it takes its name away";
}

TEST_F(McpHttp, AHomeThatIsNotThereIsNotMade) {
  const std::string home = Path("missing");
  const Outcome outcome = RunProgram({.program = BinDirectory() + "/igloo",
                                      .args = {"mcp", "--http", "127.0.0.1:0"},
                                      .env = {"PATH=/usr/bin:/bin", "HOME=" + home}});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("there is no place for a token"), HasSubstr(home),
                                 HasSubstr("--token-file")));
  EXPECT_FALSE(std::filesystem::exists(home));
}

}  // namespace
}  // namespace igloo::testing
