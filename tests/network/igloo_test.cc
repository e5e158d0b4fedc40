// Real sandboxes with a network: igloo itself, outside, before the Internet that the tests have
// made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <sstream>

#include "base/file.h"
#include "boxed.h"
#include "world.h"

namespace igloo::testing {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFetch = R"py(
import sys, urllib.request
print(urllib.request.urlopen(sys.stdin.read().strip()).read().decode())
)py";

/// Each begins before servers that nobody has asked for anything.
class Sandbox : public ::testing::Test {
 protected:
  Sandbox() { World::Get().Seen(); }
};

TEST_F(Sandbox, WithoutANetworkReachesNothing) {
  const Outcome outcome = Boxed({"--env", "python", kFetch}, "http://example.com/");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("URLError"));
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
}

TEST_F(Sandbox, ReachesWhatItsRulesAllowAndSaysWhatTheyDoNot) {
  const std::vector<std::string> words = {"--env", "python", "--allow", "example.com", kFetch};
  EXPECT_THAT(Boxed(words, "http://example.com/a").out, HasSubstr("\"path\": \"/a\""));
  EXPECT_THAT(World::Get().Seen(), Contains("HIT 93.184.216.34 80 GET /a"));
  const Outcome refused = Boxed(words, "http://other.example/");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("403"), HasSubstr("other.example:80: "),
                                 HasSubstr("--allow 'other.example' would allow it")));
  EXPECT_THAT(World::Get().Seen(), IsEmpty()) << "not even its name was asked for";
}

TEST_F(Sandbox, ARefusalStandsInTheJson) {
  const Outcome outcome = Boxed({"--json", "--env", "shell", "--allow", "example.com",
                                 "for i in 1 2; do curl -s -o /dev/null http://10.1.2.3/; done"});
  const json::value result = json::parse(outcome.out);
  ASSERT_EQ(result.at("refused").as_array().size(), 1U) << outcome.out;
  const json::value& refusal = result.at("refused").as_array().front();
  EXPECT_EQ(refusal.at("place"), "10.1.2.3:80");
  EXPECT_EQ(refusal.at("rule"), "10.1.2.3");
  EXPECT_EQ(refusal.at("times"), 2);
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
}

TEST_F(Sandbox, TheInternetHasClosedRanges) {
  const std::vector<std::string> words = {"--env", "python", "--network", "internet", kFetch};
  EXPECT_THAT(Boxed(words, "http://other.example/").out, HasSubstr("93.184.216.35"));
  for (const char* url : {"http://10.1.2.3/", "http://private.example/", "http://meta.example/"}) {
    World::Get().Seen();
    EXPECT_EQ(Boxed(words, url).status, 1) << url;
    EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("HIT")))) << url;
  }
  // Unless the address itself is opened.
  EXPECT_THAT(Boxed({"--env", "python", "--network", "internet", "--allow", "10.1.2.3", kFetch},
                    "http://10.1.2.3/")
                  .out,
              HasSubstr("10.1.2.3"));
}

TEST_F(Sandbox, APublishedServerIsReachedFromOutsideAndNobodyElse) {
  Running server(BoxedInvocation({"--env", "python", "--publish", "18080:8000", "--timeout", "60",
                                  "import http.server, sys\n"
                                  "open('page', 'w').write('from inside')\n"
                                  "print('up', flush=True)\n"
                                  "http.server.test(http.server.SimpleHTTPRequestHandler, "
                                  "port=8000, bind='127.0.0.1')\n"}));
  ASSERT_TRUE(server.WaitForOutput("up")) << server.errors();
  const auto fetch = [](const std::string& url) {
    return RunProgram({.program = "/usr/bin/curl",
                       .args = {"-sS", "--retry", "20", "--retry-connrefused", "--retry-delay", "1",
                                "--max-time", "20", url}});
  };
  EXPECT_EQ(fetch("http://127.0.0.1:18080/page").out, "from inside");
  // SECURITY: of the host's loopback alone; other machines find nothing.
  EXPECT_NE(RunProgram({.program = "/usr/bin/curl",
                        .args = {"-sS", "--max-time", "5", "http://198.18.0.1:18080/page"}})
                .status,
            0);
  const Outcome second = Boxed({"--env", "shell", "--publish", "18080:1", "true"});
  EXPECT_EQ(second.status, 125);
  EXPECT_THAT(second.err, HasSubstr("port 18080"));
}

TEST_F(Sandbox, ReachesOnePortOfTheHostsLoopback) {
  Running server({.program = "/usr/bin/python3",
                  .args = {"-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory",
                           BinDirectory(), "15432"}});
  ASSERT_TRUE(server.WaitForOutput("Serving HTTP")) << server.errors();
  const std::string url = "http://127.0.0.1:15432/network-servers.py";
  EXPECT_THAT(Boxed({"--env", "python", "--reach", "15432", kFetch}, url).out, HasSubstr("QUERY"));
  EXPECT_EQ(Boxed({"--env", "python", kFetch}, url).status, 1) << "control: without it, nothing";
  EXPECT_EQ(Boxed({"--env", "python", "--reach", "15433", kFetch}, url).status, 1);
}

TEST_F(Sandbox, WhenTheProxyIsKilledTheNetworkClosesAndStaysClosed) {
  Running box(BoxedInvocation({"--env", "python", "--allow", "example.com", "--timeout", "60",
                               "import sys, urllib.request\n"
                               "for line in sys.stdin:\n"
                               "    try:\n"
                               "        urllib.request.urlopen('http://example.com/x', timeout=5)\n"
                               "        print('reached', flush=True)\n"
                               "    except OSError as error:\n"
                               "        print('closed', error, flush=True)\n"}));
  box.Write("go\n");
  ASSERT_EQ(box.NextLine(), "reached") << box.errors();
  const pid_t proxy = ChildNamed(box.pid(), "igloo-proxy");
  ASSERT_GT(proxy, 0);
  ASSERT_EQ(::kill(proxy, SIGKILL), 0);
  ASSERT_TRUE(WaitFor([&] { return ChildNamed(box.pid(), "igloo-proxy") <= 0; }));
  World::Get().Seen();
  for (int i = 0; i < 2; ++i) {
    box.Write("go\n");
    EXPECT_THAT(box.NextLine().value_or("?"), HasSubstr("closed"));
  }
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  box.CloseInput();
  EXPECT_THAT(box.Finish().err, HasSubstr("igloo-proxy ended"));
}

TEST_F(Sandbox, ASecretIsUsedAndIsNowhereInside) {
  // Looks through everything that its processes can read: variables, files, all memory of all of
  // them, /proc.
  constexpr const char* kLook = R"py(
import os, re, subprocess, sys, urllib.request
key = os.environ['API_KEY']
request = urllib.request.Request(os.environ['API_KEY_URL'] + '/v1', headers={'Authorization': 'Bearer ' + key})
answer = urllib.request.urlopen(request).read().decode()
needle = sys.stdin.readline().strip()[::-1].encode()
used = needle.decode() in answer
del answer, request
found = []
def look(path, data):
    if needle in data: found.append(path)
def memory(pid):
    for line in open(f'/proc/{pid}/maps'):
        begin, end = (int(each, 16) for each in line.split()[0].split('-'))
        if 'r' not in line.split()[1] or '[v' in line: continue
        with open(f'/proc/{pid}/mem', 'rb', 0) as file:
            try:
                file.seek(begin)
                yield line, file.read(end - begin)
            except OSError: pass
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in ('environ', 'cmdline', 'status', 'mountinfo'):
        try: look(f'/proc/{pid}/{name}', open(f'/proc/{pid}/{name}', 'rb').read())
        except OSError: pass
    if pid == str(os.getpid()): continue
    try:
        for line, data in memory(pid): look(f'memory of {pid}', data)
    except OSError: pass
for top in ('/workspace', '/tmp', '/run', '/etc', '/dev/shm', '/.igloo'):
    for directory, _, names in os.walk(top):
        for name in names:
            try: look(directory + '/' + name, open(directory + '/' + name, 'rb').read(1 << 20))
            except OSError: pass
print(key.startswith('igloo-placeholder-'), used, found)
)py";
  constexpr const char* kValue = "a-value-that-nobody-inside-may-see";
  std::string backwards(kValue);
  std::ranges::reverse(backwards);
  const Outcome outcome = Boxed({"--env", "python", "--allow", "api.example", "--secret",
                                 "API_KEY=env:REAL_KEY@api.example", kLook},
                                backwards + "\n", {"REAL_KEY=" + std::string(kValue)});
  EXPECT_EQ(outcome.out, "True True []\n") << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr(kValue)));
  // Control: the same look finds what is inside.
  const Outcome control = Boxed(
      {"--env", "python", "--allow", "api.example", "--secret", "API_KEY=env:REAL_KEY@api.example",
       "open('/tmp/leak', 'w').write('" + std::string(kValue) + "')\n" + kLook},
      backwards + "\n", {"REAL_KEY=" + std::string(kValue)});
  EXPECT_THAT(control.out, HasSubstr("/tmp/leak")) << control.err;
}

TEST_F(Sandbox, ADryRunSaysWhatItReachesAndNoSecret) {
  const Outcome outcome = Boxed({"--dry-run", "--env", "python", "--allow", "api.example",
                                 "--secret", "API_KEY=env:REAL_KEY@api.example:X-Key", "1"},
                                "", {"REAL_KEY=hidden-value-of-it"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("tier       allow"), HasSubstr("allow      api.example"),
                                 HasSubstr("secret     API_KEY for api.example, in X-Key"),
                                 Not(HasSubstr("hidden-value"))))
      << outcome.err;
}

/// The names of sandboxes in the log of decisions, newest last.
std::vector<std::string> SandboxesInLog() {
  const Outcome log = RunProgram(OutsideInvocation({"net", "log", "--json", "--limit", "1000"}));
  std::vector<std::string> names;
  std::istringstream lines(log.out);
  for (std::string line; std::getline(lines, line);) {
    names.emplace_back(json::parse(line).at("sandbox").as_string());
  }
  return names;
}

Outcome Net(std::vector<std::string> words) {
  words.insert(words.begin(), "net");
  return RunProgram(OutsideInvocation(std::move(words)));
}

constexpr const char* kAskAgainAndAgain = R"py(
import sys, urllib.error, urllib.request
for line in sys.stdin:
    try:
        print(urllib.request.urlopen(line.strip()).status, flush=True)
    except urllib.error.HTTPError as error:
        print(error.code, error.reason, flush=True)
)py";

TEST_F(Sandbox, ALivingOneIsAllowedMoreAtOnce) {
  Running box(BoxedInvocation(
      {"--env", "python", "--network", "allow", "--timeout", "60", kAskAgainAndAgain}));
  box.Write("http://example.com/\n");
  ASSERT_THAT(box.NextLine().value_or(box.errors()), HasSubstr("403"));
  const std::vector<std::string> names = SandboxesInLog();
  ASSERT_FALSE(names.empty());
  const std::string& name = names.back();
  EXPECT_THAT(name, HasSubstr("run-"));
  EXPECT_THAT(Net({"log", "--refused", "--sandbox", name}).out, HasSubstr("example.com"));
  const Outcome allowed = Net({"allow", name, "example.com"});
  ASSERT_EQ(allowed.status, 0) << allowed.err;
  box.Write("http://example.com/\n");
  EXPECT_EQ(box.NextLine(), "200");
  // Once, and not again.
  ASSERT_EQ(Net({"allow", name, "other.example", "--once"}).status, 0);
  box.Write("http://other.example/\n");
  EXPECT_EQ(box.NextLine(), "200");
  EXPECT_TRUE(WaitFor([&] {
    box.Write("http://other.example/\n");
    return box.NextLine().value_or("").starts_with("403");
  }));
  EXPECT_NE(Net({"allow", name, "127.1"}).status, 0) << "no rule, no change";
  EXPECT_NE(Net({"allow", "nobody", "example.com"}).status, 0);
  box.CloseInput();
  box.Finish();
  EXPECT_NE(Net({"allow", name, "example.com"}).status, 0) << "it is gone";
}

/// A server, and what it answers.
class Client {
 public:
  Client() : server_(OutsideInvocation({"mcp", "--config", WebConfiguration()})) {
    Ask("initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":)"
                      R"({"name":"test","version":"1"}})");
    server_.Write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  }
  json::value Ask(const std::string& method, const std::string& params) {
    const std::string id = std::to_string(++last_);
    server_.Write(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" +
                  params + "}\n");
    while (auto line = server_.NextLine()) {
      json::value message = json::parse(*line);
      const json::value* answered = message.as_object().if_contains("id");
      if (answered != nullptr && json::serialize(*answered) == id) return message;
    }
    ADD_FAILURE() << "no answer to " << method << ": " << server_.errors();
    return json::object{};
  }
  std::string Run(const std::string& code, const std::string& session) {
    const json::object arguments{{"code", code}, {"env", "web"}, {"session", session}};
    const json::object call{{"name", "run_connected"}, {"arguments", arguments}};
    return json::serialize(Ask("tools/call", json::serialize(call)));
  }

 private:
  Running server_;
  int last_ = 0;
};

TEST_F(Sandbox, OfAServerAreServedByAToolThatSaysSo) {
  Client client;
  const std::string tools = json::serialize(client.Ask("tools/list", "{}"));
  EXPECT_THAT(tools, AllOf(HasSubstr(R"("run_connected")"), HasSubstr(R"("openWorldHint":true)")));
  const auto fetch = [](const std::string& url) {
    return "import urllib.request\nprint(urllib.request.urlopen('" + url + "').status)";
  };
  EXPECT_THAT(client.Run(fetch("http://example.com/"), "one"), HasSubstr(R"("stdout":"200\n")"));
  EXPECT_THAT(World::Get().Seen(), Contains("HIT 93.184.216.34 80 GET /"));
  // What is refused stands in the result, with the rule; then it is allowed, for this session only.
  const std::string other = fetch("http://other.example/");
  EXPECT_THAT(client.Run(other, "one"),
              AllOf(HasSubstr("other.example:80 was refused"), HasSubstr("'other.example'")));
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  const Outcome allowed = Net({"allow", "one", "other.example"});
  ASSERT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_THAT(client.Run(other, "one"), HasSubstr(R"("stdout":"200\n")"));
  EXPECT_THAT(client.Run(other, "two"), HasSubstr("was refused"));
}

}  // namespace
}  // namespace igloo::testing
