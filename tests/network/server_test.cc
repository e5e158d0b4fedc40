// What a server's runs, sessions and forks have of the network: secrets, ports, devices.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "client.h"
#include "device.h"
#include "world.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ServerNetwork : public ::testing::Test {
 protected:
  ServerNetwork() {
    World::Get().Seen();
    Shell("chmod 0755 " + home_.path());
  }
  /// A file with the Internet's own name server.
  std::string Configuration(const std::string& text) {
    std::string path = home_.path() + "/config.toml";
    std::ofstream(path) << "[network]\nresolver = \"93.184.216.53\"\n" << text;
    Shell("chmod 0644 " + path);
    return path;
  }
  TempDir home_ = TempDir::Make(TempParent()).value();
};

/// "stdout" of a result that has nothing else.
std::string Printed(const std::string& text) { return R"("stdout":")" + text + R"(\n")"; }

constexpr const char* kUseSecret =
    "import os, urllib.request\n"
    "assert os.environ['TOKEN'].startswith('igloo-placeholder-')\n"
    "request = urllib.request.Request(os.environ['TOKEN_URL'] + '/quiet', headers="
    "{'X-Key': os.environ['TOKEN']})\n"
    "print(urllib.request.urlopen(request).read().decode())";
constexpr const char* kSent = "SENT X-Key the-value-of-the-server";
constexpr const char* kKeyed =
    "hosts = [\"api.example\"]\nheader = \"X-Key\"\n[environments.keyed]\npreset = \"python\"\n"
    "network = \"allow\"\nallow = [\"api.example\"]\nsecrets = [\"TOKEN\"]\n";

TEST_F(ServerNetwork, SecretsAreUsedByRunsSessionsAndForks) {
  Client client(Configuration(std::string("[secrets.TOKEN]\nvariable = \"REAL\"\n") + kKeyed), {},
                {"REAL=the-value-of-the-server"});
  for (const boost::json::object& how : std::vector<boost::json::object>{
           {}, {{"session", "one"}}, {{"session", "two"}, {"fork_of", "one"}}}) {
    EXPECT_THAT(client.Run("keyed", kUseSecret, how), HasSubstr(Printed("quiet")));
    EXPECT_THAT(World::Get().Seen(),
                AllOf(Contains("HIT 93.184.216.34 443 GET /quiet"), Contains(kSent)));
  }
  EXPECT_THAT(client.Run("keyed",
                         "import os\nprint(sorted(k for k, v in os.environ.items() "
                         "if 'value-of' in v))"),
              HasSubstr(Printed("[]")));
}

TEST_F(ServerNetwork, ASecretThatTakesLongHoldsUpItsOwnEnvironmentAlone) {
  const std::string fifo = home_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0666), 0);
  Shell("chmod 0666 " + fifo);
  // Nobody writes to it yet: the command waits.
  Client client(Configuration("[secrets.TOKEN]\ncommand = \"cat " + fifo + "\"\n" + kKeyed +
                              "[environments.web]\npreset = \"python\"\nnetwork = \"allow\"\n"));
  const std::string tools = boost::json::serialize(client.Ask("tools/list", "{}"));
  EXPECT_THAT(tools, HasSubstr("keyed")) << "it is offered meanwhile";
  const int waiting = client.Send(
      "tools/call", Client::CallOf("run_connected", {{"code", kUseSecret}, {"env", "keyed"}}));
  EXPECT_THAT(client.Run("web", "print('others go on')"), HasSubstr(Printed("others go on")));
  {
    const UniqueFd writer(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(WriteAll(writer.get(), "the-value-of-the-server\n"));
  }
  EXPECT_THAT(boost::json::serialize(client.AnswerTo(waiting)), HasSubstr(Printed("quiet")));
  EXPECT_THAT(World::Get().Seen(), Contains(kSent));
}

TEST_F(ServerNetwork, ASecretThatCannotBeReadIsNamedWhereItIsNeeded) {
  Client client(Configuration(std::string("[secrets.TOKEN]\ncommand = \"false\"\n") + kKeyed));
  EXPECT_THAT(client.Run("keyed", "print('ran')"),
              AllOf(HasSubstr("the secret 'TOKEN': the command 'false' failed"),
                    Not(HasSubstr(Printed("ran")))));
  EXPECT_THAT(client.errors(), HasSubstr("the secret 'TOKEN' cannot be read"));
  // One that needs nobody's time is known to be missing at once.
  Client other(Configuration(std::string("[secrets.TOKEN]\nvariable = \"NOT_SET\"\n") + kKeyed +
                             "[environments.web]\npreset = \"python\"\nnetwork = \"allow\"\n"));
  EXPECT_THAT(other.instructions(), HasSubstr("keyed: cannot be used"));
}

int Fetched(const std::string& url) {
  return RunProgram({.program = "/usr/bin/curl", .args = {"-sS", "-m", "20", url}}).status;
}

sockaddr_in OfThisMachine(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

UniqueFd Connected(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = OfThisMachine(port);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

/// Whether any program of this machine could have the port now.
bool IsFree(std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  const sockaddr_in address = OfThisMachine(port);
  return ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
         ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(fd.get(), 1) == 0;
}

constexpr const char* kServe =
    "import http.server, threading\n"
    "server = http.server.HTTPServer(('127.0.0.1', 8080), http.server.SimpleHTTPRequestHandler)\n"
    "threading.Thread(target=server.serve_forever, daemon=True).start()\nprint('serving')";

TEST_F(ServerNetwork, APublishedPortBelongsToOneSessionAndWhoWantsItIsToldWhose) {
  Client client(
      Configuration("[environments.served]\npreset = \"python\"\npublish = [\"18077:8080\"]\n"));
  ASSERT_THAT(client.Run("served", kServe, {{"session", "first"}}), HasSubstr(Printed("serving")));
  EXPECT_EQ(Fetched("http://127.0.0.1:18077/"), 0);
  const auto told = AllOf(HasSubstr("port 18077 of this machine leads to session 'first' already"),
                          HasSubstr("close it first"));
  EXPECT_THAT(client.Run("served", "print('ran')", {{"session", "second"}}),
              AllOf(HasSubstr("session 'second' could not begin"), told));
  EXPECT_THAT(client.Run("served", "print('ran')", {{"session", "third"}, {"fork_of", "first"}}),
              told);
  EXPECT_THAT(client.Run("served", "print('ran')"), told) << "a run";
  EXPECT_EQ(Fetched("http://127.0.0.1:18077/"), 0) << "the first goes on";
  client.Call("run_connected", {{"session", "first"}, {"session_action", "close"}});
  EXPECT_THAT(client.Run("served", kServe, {{"session", "second"}}), HasSubstr(Printed("serving")));
  EXPECT_EQ(Fetched("http://127.0.0.1:18077/"), 0);
}

TEST_F(ServerNetwork, APublishedPortIsFreeWhenItsSessionIsSaidToBeClosed) {
  Client client(
      Configuration("[environments.served]\npreset = \"python\"\npublish = [\"18078:8080\"]\n"));
  const auto close = [&](const std::string& session) {
    return client.Call("run_connected", {{"session", session}, {"session_action", "close"}});
  };
  for (int i = 0; i < 20; ++i) {
    const std::string session = "s" + std::to_string(i);
    ASSERT_THAT(client.Run("served", kServe, {{"session", session}}),
                HasSubstr(Printed("serving")));
    // From now on igloo-proxy has it.
    ASSERT_EQ(Fetched("http://127.0.0.1:18078/"), 0);
    ASSERT_FALSE(IsFree(18078));
    ASSERT_THAT(close(session), HasSubstr("is closed"));
    ASSERT_TRUE(IsFree(18078)) << i;
  }
  // The same with a call under way, and a connection.
  client.Send("tools/call",
              Client::CallOf("run_connected", {{"env", "served"},
                                               {"session", "busy"},
                                               {"code", std::string(kServe) + "\nimport time\n"
                                                                              "time.sleep(600)"}}));
  ASSERT_TRUE(WaitFor([] { return Fetched("http://127.0.0.1:18078/") == 0; }));
  const UniqueFd connected = Connected(18078);
  ASSERT_THAT(close("busy"), HasSubstr("is closed"));
  EXPECT_TRUE(IsFree(18078));
  EXPECT_THAT(client.Run("served", kServe, {{"session", "next"}}), HasSubstr(Printed("serving")));
  EXPECT_EQ(Fetched("http://127.0.0.1:18078/"), 0);
}

TEST_F(ServerNetwork, APublishedPortIsFreeWhenItsRunIsOver) {
  Client client(
      Configuration("[environments.served]\npreset = \"python\"\npublish = [\"18079:8080\"]\n"));
  const std::string serve =
      "import http.server\n"
      "class Handler(http.server.SimpleHTTPRequestHandler):\n"
      "    def do_GET(self):\n"
      "        self.server.over = self.path == '/end'\n"
      "        super().do_GET()\n"
      "server = http.server.HTTPServer(('127.0.0.1', 8080), Handler)\n"
      "server.over = False\n"
      "while not server.over: server.handle_request()\n"
      "print('served')";
  for (int i = 0; i < 10; ++i) {
    const int run = client.Send(
        "tools/call", Client::CallOf("run_connected", {{"env", "served"}, {"code", serve}}));
    ASSERT_TRUE(WaitFor([] { return Fetched("http://127.0.0.1:18079/") == 0; })) << i;
    (void)Fetched("http://127.0.0.1:18079/end");  // its answer may not come
    ASSERT_THAT(boost::json::serialize(client.AnswerTo(run)), HasSubstr(Printed("served")));
    ASSERT_TRUE(IsFree(18079)) << i;
  }
}

TEST_F(ServerNetwork, RunsSessionsAndForksReachWhatIsNamedOfTheHost) {
  Running server({.program = "/usr/bin/python3",
                  .args = {"-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory",
                           BinDirectory(), "18076"}});
  ASSERT_TRUE(server.WaitForOutput("Serving HTTP")) << server.errors();
  Client client(
      Configuration("[environments.reaching]\npreset = \"python\"\nreach = [18076]\n"
                    "[environments.not]\npreset = \"python\"\nreach = [18075]\n"));
  const std::string fetch =
      "import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:18076/').status)";
  EXPECT_THAT(client.Run("reaching", fetch), HasSubstr(Printed("200")));
  EXPECT_THAT(client.Run("reaching", fetch, {{"session", "one"}}), HasSubstr(Printed("200")));
  EXPECT_THAT(client.Run("reaching", fetch, {{"session", "two"}, {"fork_of", "one"}}),
              HasSubstr(Printed("200")));
  EXPECT_THAT(client.Run("not", fetch), Not(HasSubstr(Printed("200"))));
}

TEST_F(ServerNetwork, RunsAndSessionsHaveADeviceAndTheRightsOverIt) {
  NEED_DEVICE();
  Client client(Configuration(
      "[environments.open]\npreset = \"python\"\nnetwork = \"internet\"\n"
      "[environments.raw]\npreset = \"python\"\nnetwork = \"internet\"\nraw_sockets = true\n"));
  EXPECT_THAT(client.instructions(),
              AllOf(HasSubstr("the Internet, raw sockets"),
                    HasSubstr("Raw sockets (tcpdump, nmap -sS) need raw_sockets = true")));
  const std::string connect =
      "import socket\ns = socket.create_connection(('93.184.216.34', 7))\n"
      "word = s.recv(6).decode().strip()\ns.close()\n"
      "try:\n    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()\n    word += ' raw'\n"
      "except PermissionError: pass\nprint(word)";
  for (const auto& [environment, said] :
       {std::pair<std::string, std::string>{"open", "hello"}, {"raw", "hello raw"}}) {
    EXPECT_THAT(client.Run(environment, connect), HasSubstr(Printed(said)));
    EXPECT_THAT(client.Run(environment, connect, {{"session", environment}}),
                AllOf(HasSubstr(Printed(said)), Not(HasSubstr("since the last call"))));
    // Who lacks the right hears its name, and nobody else does.
    const std::string tried = "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)";
    const auto named = HasSubstr("raw_sockets = true in [environments.open]");
    for (const char* session : {"", environment.c_str()}) {
      const std::string answer = *session == '\0'
                                     ? client.Run(environment, tried)
                                     : client.Run(environment, tried, {{"session", session}});
      EXPECT_EQ(::testing::Value(answer, named), environment == "open") << answer;
    }
    // A copy has a device of its own, and the same rights over it.
    EXPECT_THAT(client.Run(environment, connect,
                           {{"session", environment + "-2"}, {"fork_of", environment}}),
                HasSubstr(Printed(said)));
    // Closed for all of them alike.
    World::Get().Seen();
    EXPECT_THAT(
        client.Run(environment, "import socket\nsocket.create_connection(('10.1.2.3', 80), 5)",
                   {{"session", environment + "-2"}}),
        HasSubstr("Permission denied"));
    EXPECT_THAT(World::Get().Seen(), IsEmpty());
  }
}

TEST_F(ServerNetwork, ForksOfAShellHaveADeviceOfTheirOwn) {
  NEED_DEVICE();
  Client client(Configuration("[environments.sh]\npreset = \"shell\"\nnetwork = \"internet\"\n"));
  const std::string connect = "read -r word </dev/tcp/93.184.216.34/7; echo \"$word\"";
  EXPECT_THAT(client.Run("sh", connect, {{"session", "one"}}), HasSubstr(Printed("hello")));
  EXPECT_THAT(client.Run("sh", connect, {{"session", "two"}, {"fork_of", "one"}}),
              HasSubstr(Printed("hello")));
}

/// Sockets on which `igloo session` reaches a server.
std::size_t CountSockets(const std::string& directory) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_socket()) ++count;
  }
  return count;
}

TEST_F(ServerNetwork, EndsWithoutATraceWhileASessionHasADevice) {
  NEED_DEVICE();
  Client client(Configuration("[environments.sh]\npreset = \"shell\"\nnetwork = \"internet\"\n"),
                {}, {"XDG_STATE_HOME=" + home_.path()});
  const std::string connect = "read -r word </dev/tcp/93.184.216.34/7; echo \"$word\"";
  EXPECT_THAT(client.Run("sh", connect, {{"session", "one"}}), HasSubstr(Printed("hello")));
  EXPECT_EQ(CountSockets(home_.path()), 1U) << "control: the session can be reached";
  const Outcome outcome = client.Leave();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(CountSockets(home_.path()), 0U);
}

TEST_F(ServerNetwork, NoSessionIsCalledLikeARun) {
  Client client;
  EXPECT_THAT(client.Run("web", "print(1)", {{"session", "run-12-3"}}),
              AllOf(HasSubstr("cannot be a session's name"), Not(HasSubstr(Printed("1")))));
  // Only that form is theirs.
  EXPECT_THAT(client.Run("web", "print(1)", {{"session", "run-of-mine"}}), HasSubstr(Printed("1")));
  const Outcome allowed =
      RunProgram(OutsideInvocation({"net", "allow", "run-of-mine", "other.example"}));
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  const Outcome gone = RunProgram(OutsideInvocation({"net", "allow", "run-1-1", "other.example"}));
  EXPECT_THAT(gone.err, HasSubstr("the igloo of 'run-1-1' has ended"));
}

std::string DescriptionOf(const boost::json::value& list, std::string_view tool) {
  for (const auto& each : list.at("result").at("tools").as_array()) {
    if (each.at("name").as_string() == tool) return std::string(each.at("description").as_string());
  }
  return "there is none";
}

TEST_F(ServerNetwork, OfSandboxMcpIsBridgeUnlessTheUserSaysNo) {
  const std::string fetch = "curl -s -m 20 http://example.com/ | head -c 6";
  const auto call = [&](const std::string& text, std::string& description) {
    Client client(Configuration(text), {"--tools", "per-environment"});
    description = DescriptionOf(client.Ask("tools/list", "{}"), "network-tools");
    return client.Call("network-tools", {{"main_sh", fetch}});
  };
  std::string description;
  EXPECT_THAT(call("", description), HasSubstr(R"({\"at\":)"));
  EXPECT_THAT(description, AllOf(HasSubstr("bridge network access"),
                                 HasSubstr("raw_sockets = true in [environments.network-tools]")));
  World::Get().Seen();
  EXPECT_THAT(call("[environments.network-tools]\nnetwork = \"none\"\n", description),
              Not(HasSubstr(R"(\"at\":)")));
  EXPECT_THAT(description, Not(HasSubstr("bridge network access")));
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
}

TEST_F(ServerNetwork, OfSandboxMcpMakesRawSocketsByTheSameRight) {
  NEED_DEVICE();
  const std::string make =
      "python3 -c \"import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); "
      "print('made')\" 2>&1";
  const auto call = [&](const std::string& text, std::string& description) {
    Client client(Configuration(text), {"--tools", "per-environment"});
    description = DescriptionOf(client.Ask("tools/list", "{}"), "network-tools");
    return client.Call("network-tools", {{"main_sh", make}});
  };
  std::string description;
  EXPECT_THAT(call("", description), HasSubstr("Operation not permitted"));
  EXPECT_THAT(call("[environments.network-tools]\nnetwork = \"internet\"\nraw_sockets = true\n",
                   description),
              HasSubstr("made"));
  EXPECT_THAT(description, HasSubstr("It may make raw sockets"));
}

}  // namespace
}  // namespace igloo::testing
