// What code in a session can do to its interpreter, its sandbox and the channel, through the server
// that is shipped: each time the call says what happened, and the session goes on or begins anew.

#include <gmock/gmock.h>

#include <fstream>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class McpSessionFaults : public ::testing::Test {
 protected:
  McpSessionFaults() { client_.Initialize(); }
  JsonObject In(std::string_view env, std::string_view code, JsonObject more = {}) {
    more["session"] = env;
    return client_.Run(env, code, std::move(more));
  }
  std::string Text(std::string_view env, std::string_view code) { return TextOf(In(env, code)); }

  McpClient client_;
};

TEST_F(McpSessionFaults, AnInterpreterThatKillsItselfIsReplaced) {
  const std::pair<const char*, const char*> cases[] = {
      {"python", "import os; os.kill(os.getpid(), 9)"},
      {"node", "process.kill(process.pid, 'SIGKILL')"},
      {"ruby", "Process.kill :KILL, $$"},
      {"shell", "kill -KILL $$"}};
  for (const auto& [env, code] : cases) {
    EXPECT_THAT(Text(env, code), AllOf(HasSubstr("variables are lost, files are kept"),
                                       HasSubstr("ended by signal 9")))
        << env;
  }
  EXPECT_THAT(Text("python", "print('again')"), StartsWith("again\n"));
  EXPECT_THAT(Text("node", "console.log('again')"), StartsWith("again\n"));
  EXPECT_THAT(Text("ruby", "puts 'again'"), StartsWith("again\n"));
  EXPECT_THAT(Text("shell", "echo again"), StartsWith("again\n"));
}

TEST_F(McpSessionFaults, WhatWatchesAnInterpreterCannotBeKilledFromInside) {
  In("python", "x = 1");
  EXPECT_THAT(Text("python", "import os\nos.kill(os.getppid(), 9)"), HasSubstr("PermissionError"));
  EXPECT_THAT(Text("python", "x"), StartsWith("1\n"));
  In("shell", "x=1");
  EXPECT_THAT(Text("shell", "kill -KILL $PPID; kill -KILL -1; echo $x"), HasSubstr("1\n"));
}

TEST_F(McpSessionFaults, AnInterpreterThatStopsItselfMeetsItsTimeLimit) {
  const std::pair<const char*, const char*> cases[] = {
      {"python", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"},
      {"shell", "kill -STOP $$"}};
  for (const auto& [env, code] : cases) {
    const JsonObject stopped = In(env, code, {{"timeout_seconds", 0.3}});
    EXPECT_TRUE(stopped.at("structuredContent").at("timed_out").as_bool()) << env;
    EXPECT_THAT(TextOf(stopped), HasSubstr("had to be killed at its time limit")) << env;
  }
  EXPECT_THAT(Text("python", "print('again')"), StartsWith("again\n"));
  EXPECT_THAT(Text("shell", "echo again"), StartsWith("again\n"));
}

TEST_F(McpSessionFaults, AForgedEndMixesUpNoCalls) {
  // Ends of earlier calls and of later ones, and last of this one, about which it can only lie to
  // itself: the next call may begin then, and whatever still runs in the interpreter can lie about
  // that one, too.
  In("python",
     "import os\nfor fd in range(3, 256):\n"
     "  for n in (0, 2, 3, 10**18, 1):\n"
     "    try: os.write(fd, b'done %d 13\\n{\"status\": 7}' % n)\n"
     "    except OSError: break");
  for (const char* word : {"second", "third", "fourth"}) {
    const JsonObject next = In("python", "print('" + std::string(word) + "')");
    EXPECT_EQ(next.at("structuredContent").at("exit_code").to_number<int>(), 0) << word;
    EXPECT_THAT(TextOf(next), StartsWith(std::string(word) + "\n"));
  }
}

TEST_F(McpSessionFaults, FramesThatAreNoneEndTheSessionWithAWord) {
  for (const std::string frame :
       {"done 1 99999999999\\n", "done 1 2\\n[]", "part 1 2\\n{}", "walk 0 2\\n{}", "done x 2\\n{}",
        "done 1 9\\nnot json!", "%0100d",
        // Longer than 1 MB, a field of no driver, something nested, half of a part.
        "done 1 1048577\\n", "done 1 21\\n{\"status\":0,\"more\":1}",
        "done 1 24\\n{\"status\":0,\"value\":[1]}", "piece 1 12\\n{\"data\":\"x\"}exit 1 0\\n"}) {
    const JsonObject forged =
        In("shell", "for fd in {3..255}; do { printf '" + frame +
                        "' >&$fd; } 2>/dev/null; done; while :; do sleep 0.01; done");
    EXPECT_TRUE(IsError(forged)) << frame;
    EXPECT_THAT(TextOf(forged), HasSubstr("session 'shell' is gone")) << frame;
    EXPECT_THAT(Text("shell", "echo anew"), StartsWith("anew\n")) << frame;
  }
}

/// Each costs igloo a look at its JSON, and none of them is a word that anybody waits for.
TEST_F(McpSessionFaults, PiecesWithoutEndEndTheSessionAtOnce) {
  const std::pair<std::string, std::string> cases[] = {
      {"piece 1 11\\n{\"data\":\"\"}", "an empty piece"},
      {"piece 1 12\\n{\"data\":\"x\"}", "a part of too many pieces"}};
  for (const auto& [piece, why] : cases) {
    const JsonObject flooded =
        In("shell",
           "for fd in {3..255}; do { printf '' >&$fd; } 2>/dev/null && fds+=($fd); done\n"
           "while :; do for fd in ${fds[@]}; do printf '" +
               piece + "' >&$fd; done; done 2>/dev/null");
    EXPECT_TRUE(IsError(flooded)) << piece;
    EXPECT_THAT(TextOf(flooded), AllOf(HasSubstr("session 'shell' is gone"), HasSubstr(why)));
    EXPECT_THAT(Text("shell", "echo anew"), StartsWith("anew\n")) << piece;
  }
}

TEST_F(McpSessionFaults, AGigabyteIsCountedAndNotKept) {
  In("python", "x = 5");
  const JsonObject printed =
      In("python", "for i in range(1000): print('y' * 999_999)\nprint('the end')",
         {{"timeout_seconds", 600}});
  EXPECT_FALSE(IsError(printed));
  EXPECT_EQ(printed.at("structuredContent").at("stdout_bytes").to_number<std::uint64_t>(),
            1'000'000'008U);
  EXPECT_THAT(TextOf(printed), AllOf(HasSubstr("the end\n"), Not(HasSubstr("lost"))));
  EXPECT_LT(TextOf(printed).size(), 50'000U);
  EXPECT_THAT(Text("python", "x"), StartsWith("5\n"));
}

TEST_F(McpSessionFaults, WhoWritesWithoutEndIsToldSoAtOnce) {
  // The first goes over the limit with its last word, when its end is on the way already.
  for (const char* code : {"for i in range(1024): print('y' * ((1 << 20) - 1))\nprint('the end')",
                           "while True: print('y' * (1 << 20))"}) {
    const JsonObject printed = In("python", code, {{"timeout_seconds", 600}});
    EXPECT_TRUE(IsError(printed)) << code;
    EXPECT_THAT(TextOf(printed), HasSubstr("was killed because it wrote without end")) << code;
    EXPECT_THAT(Text("python", "print('again')"), StartsWith("again\n")) << code;
  }
}

TEST_F(McpSessionFaults, AForkBombEndsWithItsSession) {
  const JsonObject bomb =
      In("python", "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
         {{"timeout_seconds", 1}});
  // At its time limit, or earlier for its memory where that is counted process by process.
  EXPECT_TRUE(IsError(bomb));
  EXPECT_THAT(TextOf(client_.Run("python", "print('others')")), StartsWith("others\n"));
  const std::string marker = UniqueMarker();
  In("shell", "(exec -a " + marker + " sleep 1000) & f() { f | f & }; f", {{"timeout_seconds", 1}});
  EXPECT_EQ(client_.running().Finish().status, 0);
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
}

TEST_F(McpSessionFaults, AFullWorkspaceIsSaidAndCanBeCleared) {
  const JsonObject full = In("python",
                             "x = 1\nn = 0\nwhile True:\n"
                             "  with open(f'f{n}', 'wb') as f: f.write(bytes(64 << 20))\n  n += 1",
                             {{"timeout_seconds", 120}});
  EXPECT_TRUE(IsError(full));
  EXPECT_THAT(TextOf(full), AllOf(HasSubstr("No space left on device"), Not(HasSubstr("lost"))));
  EXPECT_THAT(Text("python",
                   "import os\nfor each in os.listdir(): os.remove(each)\n"
                   "print(open('small', 'w').write('works'), x)"),
              StartsWith("5 1\n"));
}

TEST_F(McpSessionFaults, AThreadThatPrintsAfterItsCallIsHeardWithTheNext) {
  In("python",
     "import threading\nwait = threading.Event()\n"
     "thread = threading.Thread(target=lambda: (wait.wait(), print('late')), daemon=True)\n"
     "thread.start()\nthreading.Timer(0.05, wait.set).start()");
  EXPECT_TRUE(WaitFor([&] { return Text("python", "print('now')").contains("late"); }));
  EXPECT_THAT(Text("python", "thread.is_alive()"),
              AllOf(StartsWith("False\n"), Not(HasSubstr("late"))));
}

TEST_F(McpSessionFaults, EndOfFileDuringACallLeavesNothing) {
  const std::string marker = UniqueMarker();
  client_.Send("tools/call",
               {{"name", "run"},
                {"arguments", JsonObject{{"env", "shell"},
                                         {"session", "s"},
                                         {"timeout_seconds", 3600},
                                         {"code", "trap '' INT TERM; (exec -a " + marker +
                                                      " sleep 1000); sleep 1000"}}}});
  ASSERT_NE(WaitForMarked(marker), 0);
  client_.running().Finish();
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
}

TEST_F(McpSessionFaults, TheAnswerOfACallThatTimedOutIsNeverTheNextOnes) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"python", "print('old')\nimport time\ntime.sleep(1000)", "print('new')"},
      {"node", "console.log('old'); await new Promise(() => setInterval(() => 0, 1000))",
       "console.log('new')"},
      {"shell", "echo old; sleep 1000; echo old", "echo new"},
      {"ruby", "puts 'old'; sleep; puts 'old'", "puts 'new'"},
      // This one does not stop when it is asked, and says how it ended after that.
      {"python",
       "import time\nfor i in range(10**9):\n  try:\n    print('old')\n"
       "    time.sleep(1000)\n  except KeyboardInterrupt: pass",
       "print('new')"}};
  for (const auto& [env, code, next] : cases) {
    const JsonObject late = In(env, code, {{"timeout_seconds", 0.5}});
    EXPECT_TRUE(late.at("structuredContent").at("timed_out").as_bool()) << code;
    EXPECT_EQ(late.at("structuredContent").at("exit_code").to_number<int>(), 124) << code;
    EXPECT_THAT(TextOf(late), StartsWith("old\n")) << code;
    EXPECT_THAT(Text(env, next), AllOf(StartsWith("new\n"), Not(HasSubstr("old")))) << code;
  }
}

TEST_F(McpSessionFaults, CodeReadsNothingOfTheProtocol) {
  EXPECT_THAT(Text("shell", "read x; echo \"status $? [$x]\""), StartsWith("status 1 []\n"));
  EXPECT_THAT(Text("python", "import sys; print([sys.stdin.read()])"), StartsWith("['']\n"));
  EXPECT_THAT(Text("node", "console.log([require('fs').readFileSync(0, 'utf8')])"),
              StartsWith("[ '' ]\n"));
}

TEST_F(McpSessionFaults, AnOpenQuoteSwallowsNoLaterCall) {
  for (const char* code : {"echo \"open", "cat <<END\nopen", "if true; then", "echo $(("}) {
    In("shell", code);
    EXPECT_THAT(Text("shell", "echo next"), StartsWith("next\n")) << code;
  }
}

TEST_F(McpSessionFaults, NodeTellsWhatWasThrownAndNothingElseIsAnError) {
  const JsonObject thrown = In("node", "throw new Error('the message')");
  EXPECT_TRUE(IsError(thrown));
  EXPECT_THAT(TextOf(thrown), HasSubstr("the message"));
  EXPECT_FALSE(IsError(In("node", "console.error('Uncaught')")));
  EXPECT_THAT(Text("node", "process.stdout.write('no newline'); undefined"),
              StartsWith("no newline"));
  EXPECT_TRUE(IsError(In("node", "await Promise.reject(new Error('late'))")));
}

TEST_F(McpSessionFaults, NoFileOfTheSessionsOwnLiesInTheWorkspace) {
  EXPECT_THAT(Text("shell", "pwd; ls -A"), StartsWith("/workspace\n[exit code 0"));
  EXPECT_THAT(Text("python", "import os\nprint(os.getcwd(), os.listdir())"),
              StartsWith("/workspace []\n"));
  EXPECT_THAT(Text("node", "console.log(process.cwd(), require('fs').readdirSync('.'))"),
              StartsWith("/workspace []\n"));
}

class McpSessionConfigured : public Configured {};

TEST_F(McpSessionConfigured, AnEnvironmentOfAnyNameHasSessionsAndSeesTheProjectAsItIs) {
  Write("code/file", "one");
  Write(kUsual, "[project]\npath = \"" + Path("code") +
                    "\"\n[environments.data-science]\npreset = \"python\"\n");
  McpClient client({.args = {"mcp"}, .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  const auto in = [&](std::string_view code) {
    return TextOf(client.Run("data-science", code, {{"session", "s"}}));
  };
  EXPECT_THAT(in("x = open('/project/file').read()\nx"), StartsWith("'one'\n"));
  std::ofstream(Path("code/file")) << "two";
  Write("code/more", "three");
  EXPECT_THAT(in("x, open('/project/file').read(), open('/project/more').read()"),
              StartsWith("('one', 'two', 'three')\n"));
}

}  // namespace
}  // namespace igloo::testing
