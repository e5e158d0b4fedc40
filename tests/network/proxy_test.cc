// What igloo-proxy serves, seen by programs that people use.
#include "proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/file.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

using network::Record;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Proxy, ServesPlainHttpTunnelsAndSocks) {
  Proxy proxy;
  proxy.Add({"example.com", "six.example"});
  const std::vector<std::vector<std::string>> ways = {
      {"http://example.com/a?b"},
      {"https://example.com/a?b"},
      {"--proxytunnel", "http://example.com/a?b"},
      {"--proxy", proxy.url("socks5h"), "http://example.com/a?b"},
      {"--proxy", proxy.url("socks5h"), "https://example.com/a?b"},
      {"http://EXAMPLE.com./a?b"}};
  for (const auto& words : ways) {
    const Outcome outcome = proxy.Curl(words);
    EXPECT_EQ(outcome.status, 0) << words.back() << outcome.err;
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("\"at\": \"93.184.216.34\""), HasSubstr("\"path\": \"/a?b\"")));
  }
  EXPECT_THAT(proxy.Curl({"http://six.example/"}).out, HasSubstr("2606:4700::1"));
}

TEST(Proxy, CarriesBodiesOfEveryFramingUnchanged) {
  Proxy proxy;
  proxy.Add({"example.com"});
  for (const char* path : {"/plain", "/chunked", "/until-close"}) {
    const Outcome outcome = proxy.Curl({"http://example.com" + std::string(path)});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(path));
  }
  const std::string data(300'000, 'x');
  for (const char* how : {"Content-Length: 300000", "Transfer-Encoding: chunked"}) {
    const Outcome outcome =
        World::Get().inside().RunHere({"/usr/bin/curl", "-sS", "--proxy", proxy.url(), "-H", how,
                                       "--data-binary", "@-", "http://example.com/upload"},
                                      data);
    EXPECT_THAT(outcome.out, HasSubstr("\"size\": 300000")) << how << outcome.err;
  }
  for (const char* scheme : {"http", "https"}) {
    const Outcome big = World::Get().inside().RunHere(
        {"/bin/sh", "-c",
         "curl -sS --cacert " + World::Get().roots_file() + " --proxy " + proxy.url() + " " +
             scheme +
             "://example.com/big/20000000 | sha256sum; head -c 20000000 /dev/zero | "
             "python3 -c 'import sys,hashlib; n=len(sys.stdin.buffer.read()); "
             "b=bytes(range(256))*(n//256+1); print(hashlib.sha256(b[:n]).hexdigest(), \" -\")'"});
    const std::size_t half = big.out.find('\n');
    EXPECT_EQ(big.out.substr(0, half), big.out.substr(half + 1, half)) << big.err;
  }
}

TEST(Proxy, KeepsConnectionsOpenAndDecidesEveryRequestAnew) {
  Proxy proxy;
  proxy.Add({"example.com", "GET http://other.example/public/*"});
  const std::string host = "Host: example.com\r\n\r\n";
  const UniqueFd fd = proxy.Connect();
  // Three requests at once: two are served on one connection, the one between is not.
  Send(fd.get(), "GET http://example.com/one HTTP/1.1\r\n" + host +
                     "GET http://other.example/private HTTP/1.1\r\nHost: other.example\r\n\r\n" +
                     "GET http://example.com/three HTTP/1.1\r\nConnection: close\r\n" + host);
  const std::string answers = ReadUntil(fd.get());
  EXPECT_THAT(answers, AllOf(HasSubstr("\"path\": \"/one\""), HasSubstr("HTTP/1.1 403"),
                             HasSubstr("\"path\": \"/three\""), Not(HasSubstr("\"/private\""))));
  EXPECT_LT(answers.find("/one"), answers.find("403"));
  EXPECT_LT(answers.find("403"), answers.find("/three"));
  EXPECT_THAT(proxy.WaitForRefusal().remedy, "GET http://other.example/private");
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("/private"))));
}

TEST(Proxy, LetsServersSpeakFirstAndSidesCloseOneByOne) {
  Proxy proxy;
  proxy.Add({"example.com:7"});
  const UniqueFd fd = proxy.Connect();
  Send(fd.get(), "CONNECT example.com:7 HTTP/1.1\r\nHost: example.com:7\r\n\r\n");
  const std::string established = "HTTP/1.1 200 Connection established\r\n\r\n";
  EXPECT_EQ(ReadUntil(fd.get(), established.size() + 6), established + "hello\n");
  Send(fd.get(), "ping");
  EXPECT_EQ(ReadUntil(fd.get(), 4), "ping");
  ::shutdown(fd.get(), SHUT_WR);
  EXPECT_EQ(ReadUntil(fd.get()), "goodbye\n") << "the answer to an end still arrives";
  const Record record =
      proxy.WaitForRecord([](const Record& each) { return each.event == Record::Event::kEnded; });
  EXPECT_EQ(record.bytes_out, 4U);
  EXPECT_EQ(record.bytes_in, 6U + 4 + 8);
  EXPECT_EQ(record.address, "93.184.216.34");
  EXPECT_EQ(record.rule, "example.com:7");
}

TEST(Proxy, TellsWhichRuleWouldAllowIt) {
  Proxy proxy;
  proxy.Add({});
  const Outcome http = proxy.Curl({"--include", "http://example.com/"});
  EXPECT_THAT(http.out, AllOf(HasSubstr("HTTP/1.1 403"), HasSubstr("Igloo-Rule: example.com\r\n"),
                              HasSubstr("the rule that would allow it: example.com\n")));
  const Outcome python = World::Get().inside().RunHere(
      {"/usr/bin/python3", "-c",
       "import urllib.request as r; r.build_opener(r.ProxyHandler({'https': '" + proxy.url() +
           "'})).open('https://example.com:8443/')"});
  EXPECT_THAT(python.err, HasSubstr("the rule that would allow it: example.com:8443"));
  const Outcome socks = proxy.Curl({"--proxy", proxy.url("socks5h"), "https://example.com/"});
  EXPECT_EQ(socks.status, 97);
  EXPECT_THAT(socks.err, HasSubstr("(2)"));
  for (int i = 0; i < 3; ++i) {
    const Record record = proxy.WaitForRefusal();
    EXPECT_EQ(record.sandbox, "box");
    EXPECT_EQ(record.host, "example.com");
    EXPECT_THAT(record.remedy, StartsWith("example.com"));
    EXPECT_GT(record.time_ms, 0);
  }
  EXPECT_THAT(World::Get().Seen(), ::testing::IsEmpty()) << "not even a name was asked for";
  // What it proposed is what helps.
  EXPECT_EQ(proxy.Replace({"example.com"}), "");
  EXPECT_EQ(proxy.Curl({"https://example.com/"}).status, 0);
}

TEST(Proxy, ChangesRulesAtOnceAndEndsWhatTheyNoLongerAllow) {
  Proxy proxy;
  proxy.Add({"example.com:7"});
  const UniqueFd fd = proxy.Connect();
  Send(fd.get(), "CONNECT example.com:7 HTTP/1.1\r\n\r\n");
  const std::size_t greeting =
      std::string("HTTP/1.1 200 Connection established\r\n\r\nhello\n").size();
  ASSERT_EQ(ReadUntil(fd.get(), greeting).size(), greeting);
  // Another list that still allows it changes nothing for what is under way.
  EXPECT_EQ(proxy.Replace({"*.example.org", "example.com:7"}), "");
  Send(fd.get(), "ping");
  EXPECT_EQ(ReadUntil(fd.get(), 4), "ping");
  EXPECT_EQ(proxy.Replace({"example.org"}), "");
  EXPECT_EQ(ReadUntil(fd.get()), "") << "closed";
  EXPECT_THAT(proxy.WaitForRefusal().refusal, HasSubstr("the list was changed"));
  EXPECT_THAT(proxy.Talk("CONNECT example.com:7 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403"));
}

TEST(Proxy, EndsOrLeavesALargeTransferAsANewListSays) {
  constexpr std::size_t kSize = 200'000'000, kSome = 1'000'000;
  const std::string get =
      "GET /big/" + std::to_string(kSize) + " HTTP/1.1\r\nHost: example.com\r\n";
  const std::string socks(
      "\5\1\0\5\1\0\3\x0b"
      "example.com\0\x50",
      21);
  const std::string tunnel = "CONNECT example.com:80 HTTP/1.1\r\n\r\n";
  for (const std::string& begin :
       {"GET http://example.com" + get.substr(4) + "Connection: close\r\n\r\n",
        tunnel + get + "Connection: close\r\n\r\n", socks + get + "Connection: close\r\n\r\n"}) {
    Proxy proxy;
    proxy.Add({"example.com"});
    const UniqueFd stays = proxy.Connect(), ends = proxy.Connect();
    Send(stays.get(), begin);
    ASSERT_EQ(ReadUntil(stays.get(), kSome).size(), kSome);
    // Another list that still allows it: it goes on to its last byte.
    EXPECT_EQ(proxy.Replace({"*.example.org", "example.com"}), "");
    EXPECT_GE(CountToEnd(stays.get()) + kSome, kSize) << begin;
    Send(ends.get(), begin);
    ASSERT_EQ(ReadUntil(ends.get(), kSome).size(), kSome);
    EXPECT_EQ(proxy.Replace({"other.example"}), "");
    EXPECT_LT(CountToEnd(ends.get()) + kSome, kSize) << begin;
    EXPECT_THAT(
        proxy.WaitForRecord([](const Record& each) { return !each.refusal.empty(); }).refusal,
        HasSubstr("the list was changed"));
    EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("not in the list"));
    EXPECT_THAT(proxy.Curl({"http://other.example/"}).out, HasSubstr("\"at\""));
  }
}

/// Before anybody knows what becomes of it: a list that igloo sends meanwhile must not have it
/// again.
TEST(Proxy, TellsThatARuleForOneConnectionIsUsedUpBeforeItIsMade) {
  Proxy proxy;
  proxy.Add({"example.com"});
  ASSERT_EQ(
      proxy.Order(network::ReplaceRules{"box", network::Tier::kAllow, {}, {"nobody.example"}}), "");
  const UniqueFd fd = proxy.Connect();
  Send(fd.get(), "CONNECT nobody.example:443 HTTP/1.1\r\n\r\n");
  const auto next = [&] { return proxy.WaitForRecord([](const Record&) { return true; }); };
  EXPECT_EQ(next().event, Record::Event::kUsed);
  EXPECT_EQ(next().event, Record::Event::kRefused);
}

TEST(Proxy, RecordsWhatCouldNotBeRead) {
  Proxy proxy;
  proxy.Add({"example.com"});
  EXPECT_THAT(proxy.Talk("CONNECT 0x7f.1:22 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  const Record record = proxy.WaitForRefusal();
  EXPECT_EQ(record.host, "");
  EXPECT_NE(record.refusal, "");
}

TEST(Proxy, UsesUpARuleForOneConnectionOnOneThatIsKeptToo) {
  Proxy proxy;
  const std::string allowed = "GET http://example.com/a";
  proxy.Add({allowed});
  const auto get = [](const char* path) {
    return "GET http://example.com" + std::string(path) + " HTTP/1.1\r\nHost: example.com\r\n\r\n";
  };
  const auto ask = [&](int fd, const char* path) {
    Send(fd, get(path));
    std::string answer;
    // All of it, so that the next one begins where it should.
    while (!answer.ends_with("}") && !answer.ends_with(std::string(path) + "\n")) {
      const std::string more = ReadUntil(fd, 1);
      if (more.empty()) break;
      answer += more;
    }
    return answer.substr(0, 12);
  };
  const UniqueFd fd = proxy.Connect();
  EXPECT_EQ(ask(fd.get(), "/a"), "HTTP/1.1 200");
  EXPECT_EQ(proxy.Order(network::ReplaceRules{
                "box", network::Tier::kAllow, {allowed}, {"GET http://example.com/b"}}),
            "");
  EXPECT_EQ(ask(fd.get(), "/b"), "HTTP/1.1 200");
  EXPECT_EQ(ask(fd.get(), "/b"), "HTTP/1.1 403");
  EXPECT_EQ(ask(fd.get(), "/a"), "HTTP/1.1 200");
  const UniqueFd second = proxy.Connect();
  EXPECT_EQ(ask(second.get(), "/b"), "HTTP/1.1 403");
}

TEST(Proxy, TellsEveryRequestOnceAndRefusalsBeforeTheCodeHearsOfThem) {
  Proxy proxy;
  proxy.Add({"example.com"});
  const UniqueFd fd = proxy.Connect();
  const std::string good = "GET http://example.com/ok HTTP/1.1\r\nHost: example.com\r\n\r\n";
  const std::string bad = "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n";
  Send(fd.get(), good + good + good + bad);
  std::string answers;
  while (answers.find("other.example\n") == std::string::npos) {
    const std::string more = ReadUntil(fd.get(), 1);
    ASSERT_FALSE(more.empty());
    answers += more;
  }
  // Told before: no waiting for it.
  EXPECT_THAT(proxy.ToldRefusals(), ::testing::ElementsAre("other.example"));
  // The end of the sandbox has all others told first, too.
  EXPECT_EQ(proxy.Order(network::RemoveSandbox{"box"}), "");
  unsigned ended = 0;
  while (proxy.TakeTold([](const Record& each) {
    return each.event == Record::Event::kEnded && each.path == "/ok" && each.bytes_in > 0 &&
           each.rule == "example.com" && each.address == "93.184.216.34";
  })) {
    ++ended;
  }
  EXPECT_EQ(ended, 3U);
}

TEST(Proxy, ClosesWithAListThatIsEmptyOrBroken) {
  Proxy proxy;
  proxy.Add({"example.com"});
  EXPECT_EQ(proxy.Curl({"http://example.com/"}).status, 0);
  EXPECT_THAT(proxy.Replace({"example.com", "exa mple"}), HasSubstr("exa mple"));
  EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("not in the list"));
  EXPECT_EQ(proxy.Replace({"example.com"}), "");
  EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("\"at\""));
  EXPECT_EQ(proxy.Replace({}), "");
  EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("not in the list"));
}

TEST(Proxy, KnowsOneSandboxFromAnother) {
  Proxy proxy;
  proxy.Add({"example.com"});
  std::uint16_t port = 0;
  const UniqueFd listener = World::Get().inside().Listen(port);
  EXPECT_EQ(proxy.Order(network::AddSandbox{.sandbox = "second"}, {listener.get()}), "");
  const std::string second = "http://127.0.0.1:" + std::to_string(port);
  EXPECT_THAT(proxy.Curl({"--proxy", second, "http://example.com/"}).out,
              HasSubstr("not in the list"));
  EXPECT_EQ(proxy.WaitForRefusal().sandbox, "second");
  EXPECT_THAT(proxy.Order(network::AddSandbox{.sandbox = "second"}, {listener.get()}),
              HasSubstr("already"));
  EXPECT_EQ(proxy.Order(network::RemoveSandbox{"box"}), "");
  EXPECT_FALSE(proxy.Connect()) << "its listener has gone";
  EXPECT_THAT(proxy.Curl({"--proxy", second, "http://example.com/"}).out,
              HasSubstr("not in the list"));
  EXPECT_THAT(proxy.Order(network::RemoveSandbox{"box"}), HasSubstr("no sandbox"));
}

TEST(Proxy, StandsBehindAWallOfItsOwn) {
  Proxy proxy;
  proxy.Add({"example.com"});
  const std::string status = ReadProc("/proc/" + std::to_string(proxy.pid()) + "/status");
  for (const char* line : {"Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000",
                           "CapPrm:\t0000000000000000", "Threads:\t1"}) {
    EXPECT_THAT(status, HasSubstr(line));
  }
  // Its memory holds the secrets of its sandboxes. Root may read it anyway: it may do everything.
  if (!RunningAsRoot()) EXPECT_EQ(ReadProc("/proc/" + std::to_string(proxy.pid()) + "/maps"), "");
  EXPECT_EQ(proxy.Curl({"https://example.com/"}).status, 0) << "and it works there";
}

TEST(Proxy, EndsWithItsControlSocket) {
  Proxy proxy;
  proxy.Add({"example.com"});
  const UniqueFd before = proxy.Connect(), busy = proxy.Connect();
  ASSERT_TRUE(before);
  Send(busy.get(), "GET http://example.com/big/200000000 HTTP/1.1\r\nHost: example.com\r\n\r\n");
  EXPECT_EQ(ReadUntil(busy.get(), 1000).size(), 1000U) << "in the middle of a transfer";
  EXPECT_EQ(proxy.Abandon(), 0);
  EXPECT_EQ(ReadUntil(before.get()), "");
  EXPECT_FALSE(proxy.Connect());
}

TEST(Proxy, ClosesTheNetworkWhenItIsKilled) {
  Proxy proxy;
  proxy.Add({"example.com:7"});
  const UniqueFd fd = proxy.Connect();
  Send(fd.get(), "CONNECT example.com:7 HTTP/1.1\r\n\r\n");
  const std::size_t greeting =
      std::string("HTTP/1.1 200 Connection established\r\n\r\nhello\n").size();
  ASSERT_EQ(ReadUntil(fd.get(), greeting).size(), greeting) << "in the middle of a transfer";
  proxy.Kill();
  EXPECT_EQ(ReadUntil(fd.get()), "");
  EXPECT_FALSE(proxy.Connect());
  EXPECT_NE(proxy.Curl({"http://example.com/"}).status, 0);
  EXPECT_NE(proxy.Curl({"--noproxy", "*", "http://93.184.216.34/"}).status, 0) << "no other way";
}

TEST(Proxy, EndsWithAnOrderThatItDoesNotUnderstand) {
  Proxy proxy;
  proxy.Add({"example.com"});
  EXPECT_THROW(proxy.Order(network::RemoveSandbox{""}), std::runtime_error);
  EXPECT_FALSE(proxy.Connect()) << "closed, not left as it was";
}

}  // namespace
}  // namespace igloo::testing
