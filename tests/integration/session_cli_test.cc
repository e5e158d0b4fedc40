// 'igloo session' and 'igloo repl': a person looks after the sessions that models work in, and sits
// in them, at a real terminal.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/json/parse.hpp>
#include <filesystem>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SessionCli : public Configured {
 protected:
  std::string Sockets() const { return Path(".local/state/igloo/sessions"); }
  std::unique_ptr<McpClient> Server() const {
    auto client = std::make_unique<McpClient>(
        McpClient::Options{.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
    client->Initialize();
    return client;
  }
  static std::string In(McpClient& client, std::string_view session, std::string_view env,
                        std::string_view code) {
    return TextOf(client.Run(env, code, {{"session", session}}));
  }
  static std::int64_t Start(McpClient& client, std::string_view session, std::string_view env,
                            std::string_view code) {
    return client.Send("tools/call", {{"name", "run"},
                                      {"arguments", JsonObject{{"env", env},
                                                               {"session", session},
                                                               {"timeout_seconds", 3600},
                                                               {"code", code}}}});
  }
  Outcome Session(std::vector<std::string> args) const {
    args.insert(args.begin(), "session");
    return Run(std::move(args), {"LANG=C.UTF-8"});
  }
  Terminal AtTerminal(std::vector<std::string> args) const {
    args.insert(args.begin(), {"HOME=" + Path(""), BinDirectory() + "/igloo"});
    return Terminal("/usr/bin/env", std::move(args));
  }
  std::size_t SocketCount() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(Sockets())) {
      count += entry.path().extension() == ".sock" ? 1 : 0;
    }
    return count;
  }
};

TEST_F(SessionCli, ListsTheSessionsOfAllServers) {
  const Outcome none = Session({"list"});
  EXPECT_EQ(none.status, 0);
  EXPECT_THAT(none.err, HasSubstr("there are no sessions"));
  EXPECT_FALSE(fs::exists(Sockets())) << "whoever looks makes nothing";
  const auto first = Server(), second = Server();
  first->Run("shell", "true");
  EXPECT_FALSE(fs::exists(Sockets())) << "a server without sessions makes nothing, either";
  In(*first, "data", "python", "x = 1");
  In(*second, "web", "shell", "true");
  const Outcome list = Session({"list"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(StartsWith("SESSION"), HasSubstr("\ndata"), HasSubstr("  python "),
                              HasSubstr("\nweb"), HasSubstr("  shell ")));
  const auto json = boost::json::parse(Session({"list", "--json"}).out);
  const auto& rows = json.at("sessions").as_array();
  ASSERT_EQ(rows.size(), 2U);
  const std::string pid = std::to_string(rows[0].at("server").as_int64());
  const Outcome nobody = Session({"list", "--server", "1"});
  EXPECT_EQ(nobody.status, 125);
  EXPECT_THAT(nobody.err, HasSubstr("no server '1' has sessions"));
  const auto one = boost::json::parse(Session({"list", "--json", "--server", pid}).out);
  EXPECT_EQ(one.at("sessions").as_array().size(), 1U);
}

TEST_F(SessionCli, TheSocketIsForItsOwnerAlone) {
  const auto server = Server();
  In(*server, "s", "shell", "true");
  struct stat info{};
  ASSERT_EQ(::stat(Sockets().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  for (const auto& entry : fs::directory_iterator(Sockets())) {
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << entry.path();
  }
  ASSERT_EQ(SocketCount(), 1U);
  EXPECT_EQ(server->running().Finish().status, 0);
  EXPECT_EQ(SocketCount(), 0U) << "it goes with its server";
}

TEST_F(SessionCli, WhatAKilledServerLeftIsRemoved) {
  const auto killed = Server(), lives = Server();
  In(*killed, "s", "shell", "true");
  In(*lives, "t", "shell", "true");
  ASSERT_EQ(SocketCount(), 2U);
  killed->running().Signal(SIGKILL);
  EXPECT_TRUE(WaitFor([&] {
    EXPECT_THAT(Session({"list"}).out, HasSubstr("\nt"));
    return SocketCount() == 1;
  }));
}

TEST_F(SessionCli, ClosesAndInterrupts) {
  const auto server = Server();
  In(*server, "s", "python", "x = 7");
  EXPECT_EQ(Session({"interrupt", "s"}).out, "nothing runs in session 's'\n");
  const std::int64_t id = Start(*server, "s", "python",
                                "import time\nopen('runs', 'w').close()\n"
                                "while True: time.sleep(0.01)");
  ASSERT_TRUE(WaitFor([&] { return Session({"list"}).out.find("busy") != std::string::npos; }));
  EXPECT_EQ(Session({"interrupt", "s"}).out, "interrupted what runs in session 's'\n");
  EXPECT_TRUE(server->Wait(id).contains("result"));
  EXPECT_THAT(In(*server, "s", "python", "x"), StartsWith("7\n"));
  const Outcome closed = Session({"close", "s"});
  EXPECT_EQ(closed.status, 0) << closed.err;
  EXPECT_THAT(closed.out, StartsWith("session 's' is closed"));
  const Outcome again = Session({"close", "s"});
  EXPECT_EQ(again.status, 125);
  EXPECT_THAT(again.err, HasSubstr("there is no session 's'"));
  EXPECT_THAT(Session({"close"}).err, HasSubstr("needs the name of one session"));
}

TEST_F(SessionCli, ANameThatTwoServersHaveNeedsMore) {
  const auto first = Server(), second = Server();
  In(*first, "same", "shell", "true");
  In(*second, "same", "shell", "true");
  const Outcome refused = Session({"close", "same"});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("2 servers have a session 'same'"), HasSubstr("--server ")));
  const auto json = boost::json::parse(Session({"list", "--json"}).out);
  const std::string pid = std::to_string(json.at("sessions").at(0).at("server").as_int64());
  EXPECT_EQ(Session({"close", "same", "--server", pid}).status, 0);
  EXPECT_EQ(Session({"close", "same"}).status, 0) << "now there is one";
}

TEST_F(SessionCli, NonsenseOnTheSocketHurtsNobody) {
  const auto server = Server();
  In(*server, "s", "shell", "true");
  std::string path;
  for (const auto& entry : fs::directory_iterator(Sockets())) {
    if (entry.path().extension() == ".sock") path = entry.path();
  }
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof name.sun_path);
  std::ranges::copy(path, name.sun_path);
  for (const std::string& words :
       {std::string("\n\n"), std::string("nonsense\n"), std::string("[]\n"), std::string("{}\n"),
        std::string(R"({"do": "run", "session": "none", "code": "1"})") + "\n",
        std::string(R"({"do": "fly", "session": "s"})") + "\n", std::string(5U << 20, 'x')}) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    (void)WriteAll(socket.get(), words);
    ::shutdown(socket.get(), SHUT_WR);
    (void)ReadAll(socket.get(), 1U << 20);
  }
  EXPECT_THAT(Session({"list"}).out, HasSubstr("\ns "));
}

TEST_F(SessionCli, APersonSitsInTheModelsSession) {
  const auto server = Server();
  In(*server, "data", "python", "x = 40\ndef forty_two(): return x + 2");
  Terminal terminal = AtTerminal({"session", "attach", "data"});
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("forty_two()\r");
  ASSERT_TRUE(terminal.WaitForOutput("\r\n42\r\n")) << terminal.output();
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("x = 'typed'\r");
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  EXPECT_THAT(In(*server, "data", "python", "x"), StartsWith("'typed'\n")) << "both see the same";
  terminal.Type("import time\r");
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("while True: print('ro' 'und', flush=True); time.sleep(0.05)\r\r");
  ASSERT_TRUE(terminal.WaitForOutput("round\r\n")) << terminal.output();
  terminal.Type("\x03");
  ASSERT_TRUE(terminal.WaitForOutput("KeyboardInterrupt")) << terminal.output();
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("\x04");
  EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
  EXPECT_THAT(terminal.output(), HasSubstr("[session 'data' lives on]"));
  EXPECT_THAT(In(*server, "data", "python", "x"), StartsWith("'typed'\n"));
}

TEST_F(SessionCli, WhoeverLeavesInTheMiddleStopsTheirCode) {
  const auto server = Server();
  In(*server, "s", "shell", "true");
  {
    Terminal terminal = AtTerminal({"repl", "--session", "s"});
    ASSERT_TRUE(terminal.WaitForOutput("shell> ")) << terminal.output();
    terminal.Type("echo be''gun; sleep 3600\r");
    ASSERT_TRUE(terminal.WaitForOutput("begun\r\n")) << terminal.output();
    terminal.Signal(SIGKILL);
  }
  EXPECT_THAT(In(*server, "s", "shell", "echo free"), HasSubstr("free\n"));
}

class Repl : public SessionCli {
 protected:
  Outcome Piped(const std::string& env, std::string input) const {
    return RunProgram({.program = BinDirectory() + "/igloo",
                       .args = {"repl", "--env", env},
                       .env = {"PATH=/usr/bin:/bin", "HOME=" + Path(""), "LANG=C.UTF-8"},
                       .input = std::move(input)});
  }
};

TEST_F(Repl, KeepsVariablesFromLineToLine) {
  const Outcome python = Piped("python", "x = 40\nfor i in range(2):\n  print(i)\n\nx + 2\n");
  EXPECT_EQ(python.status, 0) << python.err;
  EXPECT_EQ(python.out, "0\n1\n42\n");
  EXPECT_EQ(Piped("node", "let a = [1,\n2]\na.length\n").out, "2\n");
  EXPECT_EQ(Piped("ruby", "def f(x)\n  x + 1\nend\ny = f(1)\ny * 10\n").out, "20\n");
  EXPECT_EQ(Piped("shell", "x=1\nif true; then\necho $x\nfi\nprintf end").out, "1\nend\n");
  const Outcome unknown = Piped("cobol", "1");
  EXPECT_EQ(unknown.status, 125);
  EXPECT_THAT(unknown.err, HasSubstr("there is no environment 'cobol'"));
}

TEST_F(Repl, TellsOfPicturesAndFiles) {
  const Outcome outcome = Piped("python",
                                "class P: _repr_png_ = lambda s: b'\\x89PNG'\n\n"
                                "display(P())\n"
                                "_ = open('f', 'w').write('xyz')\n");
  EXPECT_EQ(outcome.out, "[a picture was shown: image/png, 4 bytes]\n[file f, 3 bytes]\n")
      << outcome.err;
}

TEST_F(Repl, EditsCompletesAndRemembers) {
  {
    Terminal terminal = AtTerminal({"repl", "--env", "python"});
    ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
    terminal.Type("remarkable_name = 6 * 9\r");
    ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
    terminal.Type("remarkab\t\r");
    ASSERT_TRUE(terminal.WaitForOutput("\r\n54\r\n")) << "completed: " << terminal.output();
    ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
    terminal.Type("def f():\r\treturn 'in' + 'dented'\r\r");
    ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
    terminal.Type("f(  # dropped\x03");
    ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
    terminal.Type("f()\r");
    ASSERT_TRUE(terminal.WaitForOutput("'indented'\r\n")) << terminal.output();
    ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
    terminal.Type("exit\r");
    EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
  }
  struct stat info{};
  ASSERT_EQ(::stat(Path(".local/state/igloo/repl-history-python").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  Terminal terminal = AtTerminal({"repl", "--env", "python"});
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("'re' + 'called'\r");
  ASSERT_TRUE(terminal.WaitForOutput("'recalled'\r\n")) << terminal.output();
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("\x10\x10\x10");  // Ctrl-P: the line before, 'exit', and 'f()'
  ASSERT_TRUE(terminal.WaitForOutput("f()")) << terminal.output();
  terminal.Type("\x03");
  ASSERT_TRUE(terminal.WaitForOutput("python> ")) << terminal.output();
  terminal.Type("\x04");
  EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
}

TEST_F(Repl, LeavesTheTerminalAsItWas) {
  for (const int signal : {0, SIGTERM}) {
    Terminal terminal = AtTerminal({"repl", "--env", "shell"});
    const termios before = terminal.Habits();
    ASSERT_TRUE(terminal.WaitForOutput("shell> ")) << terminal.output();
    EXPECT_NE(terminal.Habits().c_lflag, before.c_lflag);
    if (signal == 0) {
      terminal.Type("sleep 0.1; echo sl''ept\r\x04");
    } else {
      terminal.Signal(signal);
    }
    EXPECT_EQ(terminal.Finish(), signal == 0 ? 0 : 128 + signal) << terminal.output();
    EXPECT_EQ(terminal.Habits().c_lflag, before.c_lflag);
    if (signal == 0) EXPECT_THAT(terminal.output(), HasSubstr("slept\r\n")) << "typed ahead";
  }
}

TEST_F(Repl, CtrlCInterruptsTheCodeAndNotIgloo) {
  const std::string marker = UniqueMarker();
  Terminal terminal = AtTerminal({"repl", "--env", "shell"});
  ASSERT_TRUE(terminal.WaitForOutput("shell> ")) << terminal.output();
  terminal.Type("(exec -a " + marker + " sleep 3600) & echo be''gun; sleep 3600\r");
  ASSERT_TRUE(terminal.WaitForOutput("begun\r\n")) << terminal.output();
  terminal.Type("\x03");
  ASSERT_TRUE(terminal.WaitForOutput("shell> ")) << terminal.output();
  terminal.Type("echo al''ive\r");
  ASSERT_TRUE(terminal.WaitForOutput("alive\r\n")) << terminal.output();
  ASSERT_TRUE(terminal.WaitForOutput("shell> ")) << terminal.output();
  terminal.Type("\x04");
  EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
}

}  // namespace
}  // namespace igloo::testing
