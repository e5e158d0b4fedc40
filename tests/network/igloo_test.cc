// Real sandboxes with a network: igloo itself, outside, before the Internet that the tests have
// made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <sstream>

#include "base/file.h"
#include "boxed.h"
#include "client.h"
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
  EXPECT_THAT(refused.err, AllOf(HasSubstr("403"), HasSubstr("other.example:80 was refused: "),
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

/// Uses a secret in a child, then looks for its value through everything that can be read inside:
/// variables, files, /proc, and all memory of the child. The value comes backwards, so that looking
/// for it does not put it there. Input: the value, then the path to ask for.
constexpr const char* kLook = R"py(
import os, sys, urllib.request
needle = sys.stdin.readline().strip()[::-1].encode()
path = sys.stdin.readline().strip()
ready, done = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    request = urllib.request.Request(os.environ['API_KEY_URL'] + path,
                                     headers={'Authorization': 'Bearer ' + os.environ['API_KEY']})
    del needle
    answer = urllib.request.urlopen(request).read()
    os.write(ready[1], b'.')
    os.read(done[0], 1)
    os._exit(0)
os.read(ready[0], 1)
found = []
def look(name, data):
    if needle in data: found.append(name)
def read(path, size=1 << 20):
    try:
        with open(path, 'rb') as file: return file.read(size)
    except OSError: return b''
pieces = 0
for line in open(f'/proc/{child}/maps'):
    begin, end = (int(each, 16) for each in line.split()[0].split('-'))
    if 'r' not in line.split()[1] or '[v' in line: continue
    with open(f'/proc/{child}/mem', 'rb', 0) as file:
        file.seek(begin)
        left = end - begin
        while left > 0:
            data = file.read(min(left, 1 << 24))
            if not data: break
            look('memory', data)
            pieces += 1
            left -= len(data)
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in ('environ', 'cmdline', 'status', 'mountinfo'):
        look(name, read(f'/proc/{pid}/{name}'))
for top in ('/workspace', '/tmp', '/run', '/etc', '/dev/shm', '/.igloo'):
    for directory, _, names in os.walk(top):
        for name in names: look(directory + '/' + name, read(directory + '/' + name))
os.write(done[1], b'.')
os.waitpid(child, 0)
print(os.environ['API_KEY'].startswith('igloo-placeholder-'), pieces > 10, sorted(set(found)))
)py";
constexpr const char* kValue = "a-value-that-nobody-inside-may-see";

Outcome LookForSecret(const std::string& path, const std::string& before = {}) {
  std::string backwards(kValue);
  std::ranges::reverse(backwards);
  return Boxed({"--env", "python", "--allow", "api.example", "--secret",
                "API_KEY=env:REAL_KEY@api.example:Authorization", before + kLook},
               backwards + "\n" + path + "\n", {"REAL_KEY=" + std::string(kValue)});
}

TEST_F(Sandbox, ASecretIsUsedAndIsNowhereInside) {
  // An answer that does not tell what was asked.
  const Outcome outcome = LookForSecret("/big/1000");
  EXPECT_EQ(outcome.out, "True True []\n") << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr(kValue)));
  EXPECT_THAT(World::Get().Seen(), Contains("HIT 93.184.216.34 443 GET /big/1000"));
  // A server that sends back what it was sent: the value was used, stays outside, and the user
  // hears of it.
  const Outcome echoed = LookForSecret("/v1");
  EXPECT_EQ(echoed.out, "True True []\n") << echoed.err;
  EXPECT_THAT(echoed.err,
              AllOf(HasSubstr("api.example:443: the server sent the value of the secret "
                              "'API_KEY' back; igloo took it out of the answer"),
                    Not(HasSubstr(kValue))));
  EXPECT_THAT(World::Get().Seen(), Contains("SENT Authorization Bearer " + std::string(kValue)));
  // Controls: the look finds the value, in memory and in a file.
  EXPECT_THAT(LookForSecret("/v1", "leak = '" + std::string(kValue) + "'\n").out,
              HasSubstr("'memory'"));
  EXPECT_THAT(
      LookForSecret("/big/1000", "open('/tmp/leak', 'w').write('" + std::string(kValue) + "')\n")
          .out,
      HasSubstr("/tmp/leak"));
  // Nor is it in what igloo writes down.
  const Outcome log = RunProgram(OutsideInvocation({"net", "log", "--json", "--limit", "1000"}));
  EXPECT_THAT(log.out, AllOf(HasSubstr("API_KEY"), HasSubstr("\"event\":\"returned\""),
                             Not(HasSubstr(kValue))));
}

TEST_F(Sandbox, SecretsOfOneNameAreKeptApart) {
  // The file's secret of this name is for another host than the command line's.
  const Outcome outcome =
      Boxed({"--env", "keyed", "--allow", "api.example", "--secret",
             "TOKEN=env:OTHER_KEY@api.example:X-Key",
             "import os, urllib.request\n"
             "request = urllib.request.Request(os.environ['TOKEN_URL'] + '/v1', headers="
             "{'X-Key': os.environ['TOKEN']})\n"
             "print(urllib.request.urlopen(request).read().decode())\n"},
            "", {"REAL_KEY=the-value-of-the-file", "OTHER_KEY=the-value-of-the-command-line"});
  EXPECT_THAT(World::Get().Seen(), AllOf(Contains("SENT X-Key the-value-of-the-command-line"),
                                         Not(Contains(HasSubstr("the-value-of-the-file")))))
      << outcome.err;
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
  box.Write("http://other.example/\n");
  EXPECT_THAT(box.NextLine().value_or("?"), HasSubstr("403"));
  EXPECT_NE(Net({"allow", name, "127.1"}).status, 0) << "no rule, no change";
  EXPECT_NE(Net({"allow", "nobody", "example.com"}).status, 0);
  box.CloseInput();
  box.Finish();
  EXPECT_NE(Net({"allow", name, "example.com"}).status, 0) << "it is gone";
}

/// Asks for `count` hosts that nothing allows, on one connection.
std::string AskForMany(int count) {
  return "import http.client, os, urllib.parse\n"
         "proxy = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ['HTTP_PROXY'])"
         ".netloc)\n"
         "for i in range(" +
         std::to_string(count) +
         "):\n"
         "    proxy.request('GET', f'http://h{i}.example/')\n"
         "    proxy.getresponse().read()\n";
}

TEST_F(Sandbox, ThatIsRefusedALotIsToldInFewWordsAndNothingIsLeftOutOfTheLog) {
  constexpr int kMany = 6000;
  const Outcome outcome = Boxed({"--env", "python", "--allow", "example.com", AskForMany(kMany)});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("h0.example:80 was refused"), HasSubstr("--allow 'h0"),
                                 HasSubstr(" more: igloo net log --refused --sandbox run-")));
  EXPECT_LT(outcome.err.size(), 6000U);
  const std::string name = SandboxesInLog().back();
  const std::string log =
      Net({"log", "--refused", "--sandbox", name, "--limit", std::to_string(2 * kMany)}).out;
  EXPECT_EQ(std::ranges::count(log, '\n'), kMany);
  EXPECT_THAT(log, Not(HasSubstr("lost")));
  // The same for a model.
  Client client;
  const std::string told = client.Run("web", AskForMany(100), {{"session", "many"}});
  EXPECT_THAT(told, AllOf(HasSubstr("the user can allow it: igloo net allow many 'h0.example'"),
                          HasSubstr(" more: igloo net log --refused --sandbox many")));
}

TEST_F(Sandbox, OfAServerAreServedByAToolThatSaysSo) {
  Client client;
  const json::object one{{"session", "one"}};
  const std::string tools = json::serialize(client.Ask("tools/list", "{}"));
  EXPECT_THAT(tools, AllOf(HasSubstr(R"("run_connected")"),
                           HasSubstr(R"("readOnlyHint":false,"destructiveHint":true,)"
                                     R"("idempotentHint":false,"openWorldHint":true)"),
                           HasSubstr(R"("readOnlyHint":true,"destructiveHint":false,)"
                                     R"("idempotentHint":false,"openWorldHint":false)")));
  const auto fetch = [](const std::string& url) {
    return "import urllib.request\nprint(urllib.request.urlopen('" + url + "').status)";
  };
  EXPECT_THAT(client.Run("web", fetch("http://example.com/"), one),
              HasSubstr(R"("stdout":"200\n")"));
  EXPECT_THAT(World::Get().Seen(), Contains("HIT 93.184.216.34 80 GET /"));
  // What is refused stands in the result, with the rule; then it is allowed, for this session only.
  const std::string other = fetch("http://other.example/");
  EXPECT_THAT(client.Run("web", other, one),
              AllOf(HasSubstr("other.example:80 was refused"), HasSubstr("'other.example'")));
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  const Outcome allowed = Net({"allow", "one", "other.example"});
  ASSERT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_THAT(client.Run("web", other, one), HasSubstr(R"("stdout":"200\n")"));
  EXPECT_THAT(client.Run("web", other, {{"session", "two"}}), HasSubstr("was refused"));
}

}  // namespace
}  // namespace igloo::testing
