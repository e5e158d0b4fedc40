// What can be done to a session through the server that is shipped: names, files, ends.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "support/host.h"
#include "support/mcp_sessions.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class McpSessionLife : public McpSessions {
 protected:
  JsonObject Act(std::string_view action, std::string_view session) {
    return client_.Call("run", {{"session_action", action}, {"session", session}});
  }
  JsonObject ReadUri(std::string_view uri) { return client_.Ask("resources/read", {{"uri", uri}}); }
  static JsonObject File(std::string_view path, std::string_view content) {
    return {{"files", boost::json::array{JsonObject{{"path", path}, {"content", content}}}}};
  }
  /// Starts code that says when it runs, and waits for that word.
  std::int64_t StartEndless(std::string_view session) {
    const std::int64_t id = client_.Send(
        "tools/call",
        {{"name", "run"},
         {"_meta", JsonObject{{"progressToken", 1}}},
         {"arguments", JsonObject{{"env", "python"},
                                  {"session", session},
                                  {"timeout_seconds", 3600},
                                  {"code",
                                   "print('it runs', flush=True)\nimport time\nwhile True: "
                                   "time.sleep(0.01)"}}}});
    while (const auto word = client_.NextOther()) {
      if (boost::json::serialize(*word).find("it runs") != std::string::npos) break;
    }
    return id;
  }
};

TEST_F(McpSessionLife, TheServerChoosesANameWhenItIsAsked) {
  const JsonObject first = In("new", "python", "x = 41");
  const std::string name(first.at("structuredContent").at("session").as_string());
  EXPECT_THAT(name, StartsWith("s-"));
  EXPECT_THAT(TextOf(first), HasSubstr("[this is session " + name + ": give that name to go on"));
  EXPECT_THAT(Text(name, "python", "x + 1"), StartsWith("42\n"));
  const JsonObject second = In("new", "python", "'x' in globals()");
  EXPECT_NE(second.at("structuredContent").at("session").as_string(), name);
  EXPECT_THAT(TextOf(second), StartsWith("False\n"));
}

TEST_F(McpSessionLife, ValuesAreShownUnlessNobodyWantsThem) {
  EXPECT_THAT(TextOf(In("e", "python", "6 * 7")), StartsWith("42\n"));
  const JsonObject quiet = In("e", "python", "6 * 7", {{"echo", false}});
  EXPECT_THAT(TextOf(quiet), StartsWith("[exit code 0"));
  EXPECT_FALSE(quiet.at("structuredContent").as_object().contains("value"));
}

TEST_F(McpSessionLife, FilesComeWithLaterCallsAndAreTheCodesOwn) {
  for (const char* env : {"python", "shell"}) {
    const bool python = std::string_view(env) == "python";
    In(env, env, python ? "x = 1" : "x=1");
    const JsonObject given = In(env, env,
                                python ? "print(open('data/in.txt').read(), x)"
                                       : "echo $(cat data/in.txt) $x; stat -c %U:%a data/in.txt",
                                File("data/in.txt", "hello"));
    EXPECT_THAT(TextOf(given), AllOf(StartsWith("hello 1\n"), Not(HasSubstr("[file"))));
    if (!python) EXPECT_THAT(TextOf(given), HasSubstr("\nuser:644\n"));
    // It can be changed and removed, and then it is news.
    EXPECT_THAT(Text(env, env,
                     python ? "open('data/in.txt', 'a').write('!'); open('data/new', 'w').close()"
                            : "echo '!' >> data/in.txt; touch data/new"),
                AllOf(HasSubstr("[file data/in.txt"), HasSubstr("[file data/new")));
    In(env, env, python ? "import shutil; shutil.rmtree('data')" : "rm -r data");
    EXPECT_THAT(TextOf(In(env, env, python ? "import os; os.listdir()" : "ls data",
                          File("data/in.txt", "again"))),
                StartsWith(python ? "['data']\n" : "in.txt\n"));
  }
}

TEST_F(McpSessionLife, GivenFilesNeverLeaveTheWorkspace) {
  In("w", "shell",
     "ln -s /tmp out; ln -s /etc/passwd link; mkfifo fifo; mkdir dir; echo old > same");
  EXPECT_THAT(TextOf(In("w", "shell", "echo ran", File("out/x", "x"))),
              AllOf(StartsWith("cannot write 'out/x'"), Not(HasSubstr("ran"))));
  EXPECT_THAT(TextOf(In("w", "shell", "ls /tmp | wc -l", File("link", "mine"))), StartsWith("0\n"));
  EXPECT_THAT(TextOf(In("w", "shell", "cat link fifo", File("fifo", "file"))),
              StartsWith("minefile"));
  EXPECT_THAT(TextOf(In("w", "shell", "true", File("dir", "x"))),
              HasSubstr("something else than a file is in its way"));
  EXPECT_THAT(TextOf(In("w", "shell", "cat same; ls -A | wc -l", File("same", "new\n"))),
              StartsWith("new\n5\n"))
      << "nothing else was left there";
}

TEST_F(McpSessionLife, AFullWorkspaceIsSaid) {
  In("full", "shell", "head -c 1G /dev/zero > big 2>/dev/null; true");
  const JsonObject result = In("full", "shell", "echo ran", File("in.txt", std::string(1000, 'x')));
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result), AllOf(HasSubstr("No space left on device"),
                                    HasSubstr("let the code remove some files first")));
  EXPECT_THAT(Text("full", "shell", "rm big; echo fine"), StartsWith("fine\n"));
}

TEST_F(McpSessionLife, FilesAreReadWhereTheyAre) {
  const JsonObject made = In("r/1", "python",
                             "import os\nos.mkdir('d')\n"
                             "open('d/a b.txt', 'w').write('text')\n"
                             "open('raw', 'wb').write(bytes(range(256)))");
  const auto& files = made.at("structuredContent").at("files").as_array();
  ASSERT_EQ(files.size(), 2U) << TextOf(made);
  EXPECT_EQ(files[0].at("uri").as_string(), "igloo://session/r%2f1/d/a%20b.txt");
  EXPECT_EQ(files[0].at("mime_type").as_string(), "text/plain");
  std::size_t links = 0;
  for (const auto& each : made.at("content").as_array()) {
    links += each.at("type").as_string() == "resource_link" ? 1 : 0;
  }
  EXPECT_EQ(links, 2U);
  const JsonObject text = ReadUri("igloo://session/r%2f1/d/a%20b.txt");
  EXPECT_EQ(text.at("result").at("contents").at(0).at("text").as_string(), "text");
  In("r/1", "python", "open('d/a b.txt', 'w').write('later')");
  const JsonObject later = ReadUri("igloo://session/r%2F1/d/a%20b.txt");
  EXPECT_EQ(later.at("result").at("contents").at(0).at("text").as_string(), "later");
  const JsonObject raw = ReadUri("igloo://session/r%2f1/raw");
  EXPECT_THAT(std::string(raw.at("result").at("contents").at(0).at("blob").as_string()),
              StartsWith("AAECAwQF"));
  const JsonObject list = client_.Ask("resources/list");
  EXPECT_THAT(boost::json::serialize(list), HasSubstr("igloo://session/r%2f1/raw"));
  const JsonObject templates = client_.Ask("resources/templates/list");
  EXPECT_THAT(boost::json::serialize(templates), HasSubstr("igloo://session/{session}/{+path}"));
  In("r/1", "python", "os.remove('raw')");
  EXPECT_THAT(boost::json::serialize(client_.Ask("resources/list")),
              Not(HasSubstr("igloo://session/r%2f1/raw")));
}

TEST_F(McpSessionLife, WhatIsNoFileOfASessionIsNotFound) {
  In("c", "shell",
     "ln -s /etc/passwd link; ln -s / root; mkfifo fifo; mkdir dir; head -c 5M /dev/zero > large");
  for (const char* path : {"link", "root/etc/passwd", "fifo", "dir", "missing", "..%2f..%2fetc",
                           "%2fetc%2fpasswd", "dir/../large", ""}) {
    const JsonObject answer = ReadUri(std::string("igloo://session/c/") + path);
    ASSERT_TRUE(answer.contains("error")) << path;
    EXPECT_THAT(std::string(answer.at("error").at("message").as_string()),
                StartsWith("Resource not found"))
        << path;
  }
  EXPECT_THAT(std::string(ReadUri("igloo://session/other/x").at("error").at("message").as_string()),
              StartsWith("Resource not found"));
  const JsonObject large = ReadUri("igloo://session/c/large");
  EXPECT_THAT(std::string(large.at("error").at("message").as_string()),
              HasSubstr("'large' has 5 MB, and at most 4 MB can be read"));
}

TEST_F(McpSessionLife, CodeThatSwapsFilesCannotHoldTheServerUp) {
  In("swap", "shell",
     "(while :; do mkfifo t; mv t x; ln -s /etc/passwd t; mv t x; ln -s / t; mv -T t x; echo x > "
     "t; "
     "mv -T t x; done) & true");
  for (int i = 0; i < 100; ++i) {
    const JsonObject answer = ReadUri("igloo://session/swap/x");
    EXPECT_THAT(boost::json::serialize(answer),
                AnyOf(HasSubstr("Resource not found"), HasSubstr(R"("text":"x\n")"),
                      HasSubstr(R"("text":"")")));
  }
  EXPECT_FALSE(IsError(In("swap", "shell", "kill %1", File("x", "mine"))));
}

TEST_F(McpSessionLife, ACloseEndsEverythingInIt) {
  const std::string marker = UniqueMarker();
  In("c", "shell", "(exec -a " + marker + " sleep 1000) & echo x > f");
  ASSERT_NE(WaitForMarked(marker), 0);
  const JsonObject closed = Act("close", "c");
  EXPECT_FALSE(IsError(closed));
  EXPECT_THAT(TextOf(closed), HasSubstr("session 'c' is closed"));
  EXPECT_EQ(closed.at("structuredContent").at("env").as_string(), "shell");
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
  EXPECT_TRUE(ReadUri("igloo://session/c/f").contains("error"));
  const JsonObject again = Act("close", "c");
  EXPECT_TRUE(IsError(again));
  EXPECT_THAT(TextOf(again), HasSubstr("there is no session 'c'"));
  EXPECT_THAT(Text("c", "python", "'anew'"), StartsWith("'anew'\n"))
      << "the name is free, for any environment";
}

TEST_F(McpSessionLife, ACloseEndsTheCallUnderWay) {
  const std::int64_t id = StartEndless("c");
  EXPECT_FALSE(IsError(Act("close", "c")));
  const JsonObject answer = client_.Wait(id);
  EXPECT_THAT(TextOf(answer.at("result").as_object()),
              HasSubstr("session 'c' was closed meanwhile"));
}

TEST_F(McpSessionLife, AnInterruptStopsTheCallUnderWayAndKeepsVariables) {
  In("i", "python", "x = 7");
  EXPECT_THAT(TextOf(Act("interrupt", "i")), HasSubstr("nothing runs in session 'i'"));
  const std::int64_t id = StartEndless("i");
  EXPECT_THAT(TextOf(Act("interrupt", "i")), HasSubstr("interrupted what runs"));
  const JsonObject answer = client_.Wait(id);
  EXPECT_EQ(answer.at("result").at("structuredContent").at("verdict").as_string(), "interrupted");
  EXPECT_THAT(Text("i", "python", "x"), StartsWith("7\n"));
}

TEST_F(McpSessionLife, AResetDropsVariablesAndKeepsFiles) {
  for (const auto& [env, set, look] :
       {std::tuple{"python", "x = 1; open('f', 'w').write('kept')",
                   "print('x' in globals(), open('f').read())"},
        std::tuple{
            "node", "var x = 1; require('fs').writeFileSync('f', 'kept')",
            "console.log(typeof x !== 'undefined', require('fs').readFileSync('f', 'utf8'))"},
        std::tuple{"shell", "x=1; printf kept > f",
                   "[ -n \"$x\" ] && echo true || echo false; cat f"}}) {
    In(env, env, set);
    EXPECT_THAT(TextOf(Act("reset", env)), HasSubstr("variables are gone, files are kept"));
    const std::string text = Text(env, env, look);
    EXPECT_THAT(text,
                AllOf(::testing::MatchesRegex("([Ff])alse[ \n]kept.*"), Not(HasSubstr("lost"))));
  }
  const std::int64_t id = StartEndless("python");
  EXPECT_FALSE(IsError(Act("reset", "python"))) << "it does not wait for what never ends";
  EXPECT_TRUE(client_.Wait(id).contains("result"));
}

TEST_F(McpSessionLife, AListSaysWhatLives) {
  EXPECT_EQ(TextOf(client_.Call("run", {{"session_action", "list"}})), "there are no sessions");
  In("b", "shell", "true");
  StartEndless("a");
  const JsonObject list = client_.Call("run", {{"env", "shell"}, {"session_action", "list"}});
  const auto& sessions = list.at("structuredContent").at("sessions").as_array();
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].at("id").as_string(), "a");
  EXPECT_TRUE(sessions[0].at("busy").as_bool());
  EXPECT_EQ(sessions[1].at("env").as_string(), "shell");
  EXPECT_FALSE(sessions[1].at("busy").as_bool());
  EXPECT_THAT(TextOf(list), AllOf(HasSubstr("a: python, "), HasSubstr(" s old, busy\n"),
                                  HasSubstr("b: shell, ")));
}

TEST_F(McpSessionLife, MistakesSayWhatToDo) {
  EXPECT_THAT(TextOf(client_.Call("run", {{"session_action", "kill"}, {"session", "x"}})),
              HasSubstr("close, reset, interrupt, list"));
  EXPECT_THAT(TextOf(client_.Call("run", {{"session_action", "close"}})),
              HasSubstr("'session' is missing"));
  EXPECT_THAT(TextOf(client_.Call("run", {{"env", "shell"}})), HasSubstr("'code' is missing"));
}

}  // namespace
}  // namespace igloo::testing
