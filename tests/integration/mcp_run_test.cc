// The tool `run`, through the server that is shipped.

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class McpRun : public ::testing::Test {
 protected:
  McpRun() { client_.Initialize(); }
  McpClient client_;
};

TEST_F(McpRun, RunsEveryLanguageOfTheHost) {
  EXPECT_THAT(TextOf(client_.Run("python", "print(6*7)")), StartsWith("42\n[exit code 0, "));
  EXPECT_THAT(TextOf(client_.Run("shell", "echo $((6*7))")), StartsWith("42\n"));
  EXPECT_THAT(TextOf(client_.Run("node", "console.log(6*7)")), StartsWith("42\n"));
  EXPECT_THAT(TextOf(client_.Run("bash", "echo alias")), StartsWith("alias\n"));
}

TEST_F(McpRun, ProgramsEndAsTheyEndWithoutAServer) {
  for (int round = 0; round < 3; ++round) {  // in a new interpreter and in one that is ready
    const JsonObject result =
        client_.Run("python",
                    "f = open('out.txt', 'w'); f.write('hello')\n"
                    "open('mine.py', 'w').write('class A:\\n  def __del__(self): "
                    "print(\"del\")\\na = A()\\n')\nimport mine");
    EXPECT_THAT(TextOf(result), StartsWith("del\n"));
    const JsonObject& structured = result.at("structuredContent").as_object();
    EXPECT_THAT(boost::json::serialize(structured.at("files")),
                HasSubstr(R"("path":"out.txt","size":5,)"));
    EXPECT_THAT(TextOf(client_.Run("shell", "set -u; echo $nope; echo after")),
                HasSubstr("exit code 1,"));
  }
}

TEST_F(McpRun, TheToolSaysWhatItIs) {
  const JsonObject answer = client_.Ask("tools/list");
  const auto& tools = answer.at("result").at("tools").as_array();
  ASSERT_EQ(tools.size(), 1U) << "one tool, however many environments there are";
  const JsonObject& tool = tools[0].as_object();
  EXPECT_EQ(tool.at("name").as_string(), "run");
  EXPECT_EQ(boost::json::serialize(tool.at("annotations").at("readOnlyHint")), "true");
  EXPECT_EQ(boost::json::serialize(tool.at("annotations").at("destructiveHint")), "false");
  EXPECT_EQ(boost::json::serialize(tool.at("annotations").at("openWorldHint")), "false");
  for (const char* name : {"code", "env", "session", "timeout_seconds", "files", "max_output"}) {
    const auto& property = tool.at("inputSchema").at("properties").at(name);
    EXPECT_FALSE(property.at("description").as_string().empty()) << name;
  }
  EXPECT_TRUE(tool.contains("outputSchema"));
}

TEST_F(McpRun, BothHalvesOfAResultTellEverything) {
  const JsonObject result = client_.Run("shell", "echo out; echo err >&2; exit 3");
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result), MatchesRegex("out\n--- stderr ---\nerr\n.exit code 3, .* s."));
  const JsonObject& structured = result.at("structuredContent").as_object();
  EXPECT_EQ(structured.at("stdout").as_string(), "out\n");
  EXPECT_EQ(structured.at("stderr").as_string(), "err\n");
  EXPECT_EQ(structured.at("exit_code").as_int64(), 3);
  EXPECT_EQ(structured.at("verdict").as_string(), "exit");
}

TEST_F(McpRun, FilesGoInAndComeOut) {
  const JsonObject result = client_.Run(
      "python",
      "import os\n"
      "data = open('data/in.bin', 'rb').read()\n"
      "print(data.hex(), os.getcwd())\n"
      "open('out.csv', 'w').write('a,b\\n')\n"
      "open('dot.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR' + data +\n"
      "    b'\\0\\0\\0\\0IEND\\xae\\x42\\x60\\x82')\n",
      {{"files", boost::json::array{JsonObject{{"path", "data/in.bin"}, {"base64", "AAH/"}},
                                    JsonObject{{"path", "same.txt"}, {"content", "same"}}}}});
  const std::string text = TextOf(result);
  EXPECT_THAT(text, StartsWith("0001ff /workspace\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("[file out.csv, 4 bytes, igloo://run/"),
                          HasSubstr("[file dot.png, 31 bytes, igloo://run/"),
                          Not(HasSubstr("same.txt")), Not(HasSubstr("in.bin"))));
  const auto& content = result.at("content").as_array();
  ASSERT_EQ(content.size(), 4U) << boost::json::serialize(content);
  EXPECT_EQ(content[1].at("type").as_string(), "image");
  EXPECT_EQ(content[1].at("data").as_string(), "iVBORw0KGgoAAAANSUhEUgAB/wAAAABJRU5ErkJggg==");
  const auto& files = result.at("structuredContent").at("files").as_array();
  ASSERT_EQ(files.size(), 2U);
  const auto& uri = files[1].at("uri").as_string();
  const JsonObject read = client_.Ask("resources/read", {{"uri", uri}});
  EXPECT_EQ(read.at("result").at("contents").at(0).at("text").as_string(), "a,b\n");
  const JsonObject list = client_.Ask("resources/list");
  EXPECT_EQ(list.at("result").at("resources").as_array().size(), 2U);
}

TEST_F(McpRun, LongOutputIsCutInTheMiddleAndKept) {
  const JsonObject result = client_.Run("shell", "seq 1 20000");
  const std::string text = TextOf(result);
  EXPECT_LT(text.size(), 10'500U);
  EXPECT_THAT(text, StartsWith("1\n2\n3\n"));
  EXPECT_THAT(text, HasSubstr("\n19999\n20000\n[exit code 0"));
  const JsonObject& structured = result.at("structuredContent").as_object();
  EXPECT_EQ(structured.at("stdout_bytes").as_int64(), 108894);
  const auto& uri = structured.at("full_output").at(0).as_string();
  EXPECT_THAT(text, HasSubstr(std::string(uri)));
  const JsonObject read = client_.Ask("resources/read", {{"uri", uri}});
  const auto& whole = read.at("result").at("contents").at(0).at("text").as_string();
  EXPECT_EQ(whole.size(), 108894U);
  EXPECT_GT(TextOf(client_.Run("shell", "seq 1 20000", {{"max_output", 200000}})).size(), 108894U);
}

TEST_F(McpRun, EndlessOutputNeitherStallsNorBreaksTheLine) {
  const JsonObject result = client_.Run("shell", "yes | head -c 100000000; echo end");
  EXPECT_THAT(TextOf(result), HasSubstr("of 100000004 bytes left out"));
  EXPECT_THAT(TextOf(result), HasSubstr("end\n[exit code 0"));
}

TEST_F(McpRun, WhateverARunLeavesIsTold) {
  const JsonObject result = client_.Run(
      "python",
      "import os, sys\n"
      "sys.stdout.write('\\x01' * 400000)\n"
      "open('big.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR' + bytes(3400000) +\n"
      "    b'\\0\\0\\0\\0IEND\\xae\\x42\\x60\\x82')\n"
      "open('quotes.txt', 'w').write('\"' * (4 << 20))\n"
      "for i in range(15): os.mkdir('\\x02' * 255); os.chdir('\\x02' * 255)\n"
      "for i in range(90): open(f'{i:03}' + '\\x02' * 250, 'w').write('x')\n",
      {{"max_output", 400'000}});
  EXPECT_THAT(TextOf(result), HasSubstr("more files: resources/list]"));
  const auto& files = result.at("structuredContent").at("files").as_array();
  ASSERT_EQ(files.size(), 20U);
  const JsonObject list = client_.Ask("resources/list");
  const auto& resources = list.at("result").at("resources").as_array();
  const auto quotes = std::ranges::find_if(resources, [](const auto& each) {
    return std::string_view(each.at("name").as_string()) == "files/quotes.txt";
  });
  ASSERT_NE(quotes, resources.end());
  const JsonObject read = client_.Ask("resources/read", {{"uri", quotes->at("uri")}});
  ASSERT_TRUE(read.contains("result")) << boost::json::serialize(read).substr(0, 300);
  EXPECT_TRUE(read.at("result").at("contents").at(0).as_object().contains("blob"));
}

TEST_F(McpRun, MistakesAreAnsweredWithWhatToDo) {
  const JsonObject unknown = client_.Run("pyhton", "1");
  EXPECT_TRUE(IsError(unknown));
  EXPECT_THAT(TextOf(unknown), AllOf(HasSubstr("'pyhton'"), HasSubstr("python"),
                                     HasSubstr("those that can be used are: ")));
  EXPECT_EQ(unknown.at("structuredContent").at("verdict").as_string(), "refused");
  EXPECT_THAT(TextOf(client_.Run("python", "1", {{"session", std::string(300, 'x')}})),
              HasSubstr("cannot be a session's name"));
  EXPECT_FALSE(IsError(client_.Run("python", "1", {{"session", ""}}))) << "as good as none";
  EXPECT_THAT(TextOf(client_.Call("run", {{"env", "shell"}})), HasSubstr("'code' is missing"));
  EXPECT_THAT(TextOf(client_.Run(
                  "shell", "",
                  {{"files", boost::json::array{JsonObject{{"path", "../x"}, {"content", ""}}}}})),
              HasSubstr("cannot be a file's path"));
  const JsonObject tool = client_.Call("walk", {});
  EXPECT_EQ(tool.at("error").at("code").as_int64(), -32602);
  EXPECT_FALSE(IsError(client_.Run("python", ""))) << "empty code is code";
}

TEST_F(McpRun, EndlessWordsAreAnsweredSoonAndBriefly) {
  const std::string endless(2U << 20, 'x');
  for (const JsonObject& answer :
       {client_.Run(endless, "1"), client_.Run("shell", "1", {{endless, "x"}}),
        client_.Call(endless, {}), client_.Run("shell", "1", {{"session", endless}})}) {
    EXPECT_LT(boost::json::serialize(answer).size(), 8000U);
  }
}

TEST_F(McpRun, FilesThatContradictEachOtherAreRefused) {
  // Where none waits, and in one that does.
  for (int i = 0; i < 3; ++i) {
    const JsonObject result = client_.Run(
        "shell", "ls",
        {{"files", boost::json::array{JsonObject{{"path", "a"}, {"content", "file"}},
                                      JsonObject{{"path", "a/b"}, {"content", "below a file"}}}}});
    EXPECT_TRUE(IsError(result));
    EXPECT_THAT(TextOf(result), AllOf(HasSubstr("a/b"), HasSubstr("another")));
    (void)client_.Run("shell", "true");
  }
}

TEST_F(McpRun, TimeRunsOutAndSaysSo) {
  const JsonObject result =
      client_.Run("python", "import time\nprint('began', flush=True)\ntime.sleep(1000)",
                  {{"timeout_seconds", 0.5}});
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result),
              AllOf(StartsWith("began\n"), HasSubstr("stopped at its time limit of 0.5 s")));
  EXPECT_TRUE(result.at("structuredContent").at("timed_out").as_bool());
}

TEST_F(McpRun, ALongRunStandsInNobodysWay) {
  const std::string marker = UniqueMarker();
  const std::int64_t slow = client_.Send(
      "tools/call",
      {{"name", "run"},
       {"arguments", JsonObject{{"env", "shell"}, {"code", "exec -a " + marker + " sleep 1000"}}}});
  ASSERT_NE(WaitForMarked(marker), 0);
  EXPECT_THAT(TextOf(client_.Run("shell", "echo quick")), StartsWith("quick\n"));
  EXPECT_TRUE(client_.Ask("ping").contains("result"));
  client_.Notify("notifications/cancelled", {{"requestId", slow}});
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); })) << "cancelling kills";
  client_.Notify("notifications/cancelled", {{"requestId", slow}});
  client_.Notify("notifications/cancelled", {{"requestId", 12345}});
  EXPECT_THAT(TextOf(client_.Run("shell", "echo again")), StartsWith("again\n"));
}

TEST_F(McpRun, ManyMoreThanRunAtOnceAreAllAnswered) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(client_.Send(
        "tools/call",
        {{"name", "run"},
         {"arguments", JsonObject{{"env", "shell"}, {"code", "echo " + std::to_string(i)}}}}));
  }
  for (int i = 0; i < 100; ++i) {
    const JsonObject answer = client_.Wait(ids[static_cast<std::size_t>(i)]);
    EXPECT_THAT(TextOf(answer.at("result").as_object()), StartsWith(std::to_string(i) + "\n"));
  }
}

TEST_F(McpRun, TellsHowFarItIs) {
  const std::int64_t id = client_.Send(
      "tools/call",
      {{"name", "run"},
       {"arguments", JsonObject{{"env", "shell"}, {"code", "echo first; echo second; sleep 1000"}}},
       {"_meta", JsonObject{{"progressToken", "t"}}}});
  std::optional<JsonObject> told = client_.NextOther();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->at("method").as_string(), "notifications/progress");
  EXPECT_EQ(told->at("params").at("message").as_string(), "second");
  client_.Notify("notifications/cancelled", {{"requestId", id}});
}

TEST_F(McpRun, NothingOfTheServersSurroundingsReachesTheCode) {
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "API_KEY=hunter2"}});
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("shell", "env; cat /proc/1/environ /proc/self/environ")),
              Not(HasSubstr("hunter2")));
}

class McpConfigured : public Configured {
 protected:
  McpClient Start(std::vector<std::string> args = {}) {
    args.insert(args.begin(), "mcp");
    return McpClient({.args = std::move(args), .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  }
};

TEST_F(McpConfigured, AProjectIsThereOnlyWhenItIsNamed) {
  Write("code/hello.txt", "hello\n");
  McpClient without = Start();
  without.Initialize();
  EXPECT_TRUE(IsError(without.Run("shell", "cat /project/hello.txt")));
  McpClient with = Start({"--project", Path("code")});
  const JsonObject info = with.Initialize();
  EXPECT_THAT(std::string(info.at("instructions").as_string()), HasSubstr("/project (read-only)"));
  EXPECT_THAT(TextOf(with.Run("shell", "cat /project/hello.txt; echo x > /project/new")),
              AllOf(StartsWith("hello\n"), HasSubstr("Read-only")));
  McpClient named(
      {.env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "PROJECT_DIR=" + Path("code")}});
  named.Initialize();
  EXPECT_THAT(TextOf(named.Run("shell", "cat /project/hello.txt")), StartsWith("hello\n"));
}

TEST_F(McpConfigured, AWritableProjectIsAnotherToolsBusiness) {
  Write("code/hello.txt", "hello\n");
  Write(kUsual, "[project]\npath = \"" + Path("code") + "\"\nmode = \"readwrite\"\n");
  McpClient client = Start();
  client.Initialize();
  const JsonObject answer = client.Ask("tools/list");
  const auto& tools = answer.at("result").at("tools").as_array();
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].at("name").as_string(), "run_connected");
  EXPECT_TRUE(tools[0].at("annotations").at("destructiveHint").as_bool());
  EXPECT_EQ(client.Run("shell", "true").at("error").at("code").as_int64(), -32602);
  const JsonObject result = client.Call(
      "run_connected", {{"env", "shell"}, {"code", "echo changed > /project/hello.txt"}});
  EXPECT_FALSE(IsError(result)) << TextOf(result);
  EXPECT_EQ(Read("code/hello.txt"), "changed\n");
}

TEST_F(McpConfigured, ReadsItsConfigurationAgainAndTellsClients) {
  const std::string file = Write(kUsual, "[environments.mine]\npreset = \"shell\"\n");
  McpClient client = Start();
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("mine", "echo one")), StartsWith("one\n"));
  Write(kUsual, "[environments.yours]\npreset = \"shell\"\n");
  client.running().Signal(SIGHUP);
  const auto told = client.NextOther();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->at("method").as_string(), "notifications/tools/list_changed");
  EXPECT_THAT(TextOf(client.Run("yours", "echo two")), StartsWith("two\n"));
  EXPECT_THAT(TextOf(client.Run("mine", "echo one")), HasSubstr("no run in environment 'mine'"));
  Write(kUsual, "[environments.yours\n");
  client.running().Signal(SIGHUP);
  ASSERT_TRUE(client.running().WaitForErrors("the configuration is broken"));
  EXPECT_THAT(TextOf(client.Run("yours", "echo still")), StartsWith("still\n"));
}

TEST_F(McpConfigured, ABrokenConfigurationRunsNothingAndSaysWhy) {
  Write(kUsual, "[defaults]\nbackend = 7\n");
  McpClient client = Start();
  EXPECT_THAT(std::string(client.Initialize().at("instructions").as_string()),
              HasSubstr("config.toml:2"));
  const JsonObject result = client.Run("shell", "echo ran");
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result), AllOf(HasSubstr("config.toml:2"), Not(HasSubstr("ran\n"))));
}

TEST_F(McpConfigured, BubblewrapRunsToo) {
  Write(kUsual, "[defaults]\nbackend = \"bubblewrap\"\n");
  McpClient client = Start();
  client.Initialize();
  EXPECT_THAT(
      TextOf(client.Run(
          "shell", "echo hi; cat in.txt; echo x > out.txt",
          {{"files", boost::json::array{JsonObject{{"path", "in.txt"}, {"content", "in\n"}}}}})),
      StartsWith("hi\nin\n"));
}

}  // namespace
}  // namespace igloo::testing
