// Sessions through the server that is shipped: what lasts, what does not, and who is told.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "support/host.h"
#include "support/mcp_sessions.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class McpSession : public McpSessions {};

TEST_F(McpSession, PythonRemembers) {
  EXPECT_THAT(Text("a", "python", "import math\nx = 40\ndef f(y): return x + y"),
              StartsWith("[exit code 0"));
  EXPECT_THAT(Text("a", "python", "print(f(2), math.pi > 3)"), StartsWith("42 True\n"));
  const JsonObject value = In("a", "python", "x * 2");
  EXPECT_THAT(TextOf(value), StartsWith("80\n"));
  EXPECT_EQ(value.at("structuredContent").at("value").as_string(), "80");
  EXPECT_EQ(value.at("structuredContent").at("session").as_string(), "a");
}

TEST_F(McpSession, ShellRemembers) {
  EXPECT_FALSE(IsError(In("s", "shell", "cd /tmp; X=1; export Y=2; f() { echo $X$Y; }")));
  EXPECT_THAT(Text("s", "shell", "f; pwd; printf end"), StartsWith("12\n/tmp\nend\n"));
}

TEST_F(McpSession, NodeRemembers) {
  EXPECT_FALSE(IsError(In("n", "node", "let a = 1; const b = 2; function f() { return a + b }")));
  EXPECT_THAT(Text("n", "node", "a += 10; console.log(f())"), StartsWith("13\n"));
  EXPECT_THAT(Text("n", "node", "await Promise.resolve(5)"), StartsWith("5\n"));
}

TEST_F(McpSession, GuardedMainsRun) {
  // The first session of a server is started, the later ones may be restored from a checkpoint.
  for (const char* session : {"first", "second", "third"}) {
    EXPECT_THAT(Text(session, "python",
                     "import sys\nif __name__ == '__main__' and sys.argv == [__file__]:\n"
                     "    print('main', __file__, open(__file__).read())"),
                StartsWith("main /run/igloo/main.py \n"));
    // A process that is started anew runs the program's file first.
    EXPECT_THAT(Text(session, "python",
                     "import math, multiprocessing\n"
                     "with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
                     "    print(pool.map(math.sqrt, [4, 9]))"),
                StartsWith("[2.0, 3.0]\n"));
    const std::string of_shell = std::string(session) + "-shell";
    EXPECT_THAT(
        Text(of_shell, "shell", "[[ ${BASH_SOURCE[0]} == \"$0\" ]] && echo main; pwd; nosuch"),
        AllOf(StartsWith("main\n/workspace\n"), HasSubstr("bash: line 1: nosuch: ")));
    EXPECT_THAT(
        Text(std::string(session) + "-node", "node",
             "if (require.main === module && process.argv[1] === __filename) "
             "console.log('main', __filename, require('fs').readFileSync(__filename).length)"),
        StartsWith("main /run/igloo/main.js 0\n"));
  }
}

TEST_F(McpSession, SessionsDoNotSeeEachOther) {
  In("one", "python", "x = 1; open('f', 'w').write('x')");
  EXPECT_THAT(Text("two", "python", "print('x' in globals()); import os; print(os.listdir())"),
              StartsWith("False\n[]\n"));
  EXPECT_THAT(TextOf(client_.Run("python", "import os; print(os.listdir())")), StartsWith("[]\n"))
      << "a call without a session still starts from nothing";
}

TEST_F(McpSession, FilesLastAndOnlyNewsAreListed) {
  const JsonObject first =
      In("f", "shell", "echo one > a.txt; cat in.txt",
         {{"files", boost::json::array{JsonObject{{"path", "in.txt"}, {"content", "in\n"}}}}});
  EXPECT_THAT(TextOf(first), AllOf(StartsWith("in\n"), HasSubstr("[file a.txt, 4 bytes"),
                                   Not(HasSubstr("[file in.txt"))));
  EXPECT_THAT(Text("f", "shell", "echo two > b.txt; cat a.txt"),
              AllOf(StartsWith("one\n"), HasSubstr("[file b.txt"), Not(HasSubstr("[file a.txt"))));
}

TEST_F(McpSession, ASessionBelongsToItsEnvironment) {
  In("s", "python", "1");
  const JsonObject result = In("s", "shell", "echo hi");
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result),
              HasSubstr("session 's' belongs to environment 'python', not 'shell'"));
}

TEST_F(McpSession, AnInterpreterThatEndsTakesVariablesButNotFiles) {
  const std::pair<const char*, const char*> ends[] = {
      {"exit(3)", "ended with exit code 3"},
      {"import os; os._exit(3)", "ended with exit code 3"},
      {"import os; os.kill(os.getpid(), 9)", "ended with exit code 137"}};
  for (const auto& [end, why] : ends) {
    In("e", "python", "x = 1; open('kept', 'w').write('still here')");
    const JsonObject ended = In("e", "python", end);
    EXPECT_TRUE(IsError(ended)) << end;
    EXPECT_THAT(TextOf(ended), HasSubstr("variables are lost, files are kept")) << end;
    const std::string next = Text("e", "python", "print('x' in globals(), open('kept').read())");
    EXPECT_THAT(next, AllOf(StartsWith("False still here\n"), HasSubstr("variables were lost"),
                            HasSubstr(why)))
        << end;
    EXPECT_THAT(Text("e", "python", "1"), Not(HasSubstr("lost"))) << end;
  }
  EXPECT_THAT(Text("b", "shell", "exit 3"), HasSubstr("ended with exit code 3"));
  EXPECT_THAT(Text("b", "shell", "echo again"), StartsWith("again\n"));
}

TEST_F(McpSession, ATimeOutInterruptsAndKeepsVariables) {
  In("t", "python", "x = 7");
  const JsonObject result =
      In("t", "python", "import time\nwhile True: time.sleep(0.01)", {{"timeout_seconds", 0.3}});
  EXPECT_TRUE(result.at("structuredContent").at("timed_out").as_bool());
  EXPECT_THAT(TextOf(result), HasSubstr("variables are kept: the code was interrupted"));
  EXPECT_THAT(Text("t", "python", "print(x)"), StartsWith("7\n"));
}

TEST_F(McpSession, CodeThatWillNotStopIsKilled) {
  In("k", "python", "x = 7");
  const JsonObject result = In("k", "python",
                               "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                               "while True: pass",
                               {{"timeout_seconds", 0.3}});
  EXPECT_THAT(TextOf(result), HasSubstr("variables are lost, files are kept"));
  EXPECT_THAT(Text("k", "python", "print('x' in globals())"), StartsWith("False\n"));
}

TEST_F(McpSession, CallsOfOneSessionKeepTheirOrder) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(client_.Send(
        "tools/call",
        {{"name", "run"},
         {"arguments", JsonObject{{"env", "shell"},
                                  {"session", "q"},
                                  {"code", "L=${L}" + std::to_string(i) + "; echo $L"}}}}));
  }
  std::string wanted;
  for (int i = 0; i < 5; ++i) {
    wanted += std::to_string(i);
    const JsonObject answer = client_.Wait(ids[static_cast<std::size_t>(i)]);
    EXPECT_THAT(TextOf(answer.at("result").as_object()), StartsWith(wanted + "\n"));
  }
}

TEST_F(McpSession, CallsOfOtherSessionsDoNotWait) {
  const std::int64_t busy = client_.Send(
      "tools/call", {{"name", "run"},
                     {"arguments", JsonObject{{"env", "shell"},
                                              {"session", "busy"},
                                              {"timeout_seconds", 3600},
                                              {"code", "while :; do sleep 0.02; done"}}}});
  for (const char* session : {"x", "y", "x"}) {
    EXPECT_THAT(Text(session, "shell", "echo here"), StartsWith("here\n"));
  }
  EXPECT_THAT(Text("z", "python", "print(1)"), StartsWith("1\n"));
  client_.Notify("notifications/cancelled", {{"requestId", busy}});
  EXPECT_THAT(Text("busy", "shell", "echo next"), StartsWith("next\n"));
}

TEST_F(McpSession, ACallThatIsCancelledWhileItsSessionBeginsDoesNotRunOn) {
  for (int i = 0; i < 5; ++i) {
    const std::string session = "c" + std::to_string(i);
    const std::int64_t id =
        client_.Send("tools/call", {{"name", "run"},
                                    {"arguments", JsonObject{{"env", "shell"},
                                                             {"session", session},
                                                             {"timeout_seconds", 3600},
                                                             {"code", "sleep 3600"}}}});
    client_.Notify("notifications/cancelled", {{"requestId", id}});
    EXPECT_THAT(Text(session, "shell", "echo next"), StartsWith("next\n"));
  }
}

TEST_F(McpSession, OutputCannotDisturbTheChannel) {
  EXPECT_THAT(Text("o", "python",
                   "import os, subprocess\n"
                   "os.write(1, b'done 1 2\\n{}')\n"
                   "subprocess.run(['sh', '-c', 'echo sub; echo err >&2'])\n"),
              HasSubstr("done 1 2\n{}sub\n"));
  EXPECT_THAT(Text("o", "python", "print('still')"), StartsWith("still\n"));
  EXPECT_THAT(Text("o", "python", "input()"), HasSubstr("EOFError"));
  EXPECT_THAT(Text("p", "shell", "head -c 300000 /dev/zero >&2; printf no-newline"),
              HasSubstr("no-newline"));
}

TEST_F(McpSession, ForgedWordsEndTheSessionAndNothingElse) {
  const JsonObject forged = In("x", "python",
                               "import os\n"
                               "for fd in range(3, 256):\n"
                               "  try: os.write(fd, b'nonsense ' * 100)\n"
                               "  except OSError: pass\n");
  EXPECT_TRUE(IsError(forged));
  EXPECT_THAT(TextOf(forged), HasSubstr("session 'x' is gone"));
  EXPECT_THAT(Text("x", "python", "print('anew')"), StartsWith("anew\n"));
}

TEST_F(McpSession, TooManyAreRefusedWithAName) {
  for (int i = 0; i < 16; ++i) In("m" + std::to_string(i), "shell", "true");
  const std::string refused = Text("m16", "shell", "true");
  EXPECT_THAT(refused, AllOf(HasSubstr("there are 16 sessions already"), HasSubstr("'m0'")));
}

TEST_F(McpSession, NothingIsLeftWhenTheServerEnds) {
  const std::string marker = UniqueMarker();
  In("l", "shell", "(exec -a " + marker + " sleep 1000) & true");
  ASSERT_NE(WaitForMarked(marker), 0);
  EXPECT_EQ(client_.running().Finish().status, 0);
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
}

TEST_F(McpSession, ALateWordComesWithTheNextCall) {
  In("late", "shell", "(read -t 0.2 x < <(sleep 1); echo late-word) & disown");
  EXPECT_TRUE(WaitFor(
      [&] { return TextOf(In("late", "shell", "true")).find("late-word") != std::string::npos; }));
}

}  // namespace
}  // namespace igloo::testing
