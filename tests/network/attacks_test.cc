// Ways around the rules. Each is shown to win where the check that stops it does not apply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "base/file.h"
#include "proxy.h"

namespace igloo::testing {
namespace {

using network::Tier;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using std::string_literals::operator""s;

/// A service of the machine itself, on every address that it has, port 8080.
class HostService {
 public:
  HostService() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(8080);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    thread_ = std::thread([this] {
      while (true) {
        const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) return;
        char request[4096];
        (void)::recv(client.get(), request, sizeof request, 0);
        Send(client.get(),
             "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nTHE HOST!");
      }
    });
  }
  ~HostService() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  UniqueFd listener_;
  std::thread thread_;
};

std::string Get(const std::string& url, const std::string& host) {
  return "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
}

struct Leading {
  const char* name;
  const char* range;
  const char* address_rule;  ///< with it, the attack wins
};

class ClosedRange : public ::testing::TestWithParam<Leading> {};

TEST_P(ClosedRange, StaysClosedBehindAnAllowedName) {
  const HostService host;
  const Leading& attack = GetParam();
  const std::string url = "http://" + std::string(attack.name) + ":8080/";
  for (const Tier tier : {Tier::kAllow, Tier::kInternet}) {
    Proxy proxy;
    const std::string name_rule = std::string(attack.name) + ":8080";
    proxy.Add({name_rule}, tier);
    const Outcome outcome = proxy.Curl({url});
    EXPECT_THAT(outcome.out, HasSubstr(attack.range)) << outcome.err;
    EXPECT_EQ(proxy.WaitForRefusal().remedy, attack.address_rule);
    EXPECT_EQ(proxy.Curl({"--proxy", proxy.url("socks5h"), url}).status, 97);
    EXPECT_NE(proxy.Curl({"--proxytunnel", url}).status, 0);
    EXPECT_THAT(World::Get().Seen(), Not(Contains(StartsWith("HIT"))));
    EXPECT_EQ(proxy.Replace({name_rule, attack.address_rule}), "");
    EXPECT_THAT(proxy.Curl({url}).out,
                ::testing::AnyOf(HasSubstr("THE HOST!"), HasSubstr("\"at\"")))
        << "control: the rule for the address itself opens it";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Names, ClosedRange,
    ::testing::Values(Leading{"private.example", "a private network", "10.1.2.3:8080"},
                      Leading{"loop.example", "loopback", "127.0.0.1:8080"},
                      Leading{"meta.example", "metadata", "169.254.169.254:8080"},
                      Leading{"mapped.example", "IPv4 address in IPv6 form",
                              "[::ffff:10.1.2.3]:8080"},
                      Leading{"unique.example", "a private network", "[fd00::1]:8080"},
                      Leading{"self.example", "this machine itself", "93.184.217.1:8080"}),
    [](const auto& info) {
      return std::string(info.param.name, std::string_view(info.param.name).find('.'));
    });

/// The kernel connects 0.0.0.0 to loopback: what was looked at is not what would be spoken to.
TEST(Attack, AnAddressThatTheKernelReplaces) {
  const HostService host;
  Proxy proxy;
  proxy.Add({"zero.example:8080"});
  EXPECT_THAT(proxy.Curl({"http://zero.example:8080/"}).out, HasSubstr("this host"));
  EXPECT_EQ(proxy.Replace({"zero.example:8080", "0.0.0.0:8080"}), "");
  EXPECT_THAT(proxy.Curl({"http://zero.example:8080/"}).out, HasSubstr("connection abort"));
  EXPECT_EQ(proxy.Replace({"loop.example:8080", "127.0.0.1:8080"}), "");
  EXPECT_THAT(proxy.Curl({"http://loop.example:8080/"}).out, HasSubstr("THE HOST!")) << "control";
}

TEST(Attack, RebindingANameToAClosedAddress) {
  Proxy proxy;
  proxy.Add({"rebind.example"});
  EXPECT_THAT(proxy.Curl({"http://rebind.example/"}).out, HasSubstr("93.184.216.34"));
  EXPECT_THAT(proxy.Curl({"http://rebind.example/"}).out, HasSubstr("a private network"));
  EXPECT_THAT(proxy.Curl({"https://rebind.example/"}).err, HasSubstr("403"));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("HIT 10.1.2.3"))));
  EXPECT_EQ(proxy.Replace({"rebind.example", "10.1.2.3"}), "");
  EXPECT_THAT(proxy.Curl({"http://rebind.example/"}).out, HasSubstr("10.1.2.3")) << "control";
}

TEST(Attack, HidingAClosedAddressAmongOpenOnes) {
  Proxy proxy;
  proxy.Add({"mixed.example"});
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(proxy.Curl({"http://mixed.example/"}).out, HasSubstr("\"at\": \"93.184.216.34\""));
  }
  EXPECT_EQ(proxy.Replace({"mixed.example", "10.1.2.3"}), "");
  EXPECT_THAT(proxy.Curl({"http://mixed.example/"}).out, HasSubstr("\"at\": \"10.1.2.3\""))
      << "control";
}

TEST(Attack, WritingLoopbackInAnotherWay) {
  const HostService service;
  Proxy proxy;
  proxy.Add({}, Tier::kInternet);
  for (const char* host : {"127.0.0.1",
                           "127.1",
                           "127.0.1",
                           "2130706433",
                           "0x7f000001",
                           "0x7f.1",
                           "0177.0.0.1",
                           "017700000001",
                           "127.0.0.1.",
                           "127.000.000.001",
                           "[::1]",
                           "[::ffff:127.0.0.1]",
                           "[::127.0.0.1]",
                           "[::ffff:7f00:1]",
                           "[64:ff9b::7f00:1]",
                           "[2002:7f00:1::]",
                           "0.0.0.0",
                           "0",
                           "localhost",
                           "LOCALHOST.",
                           "127.0.0.1%00.example.com",
                           "example.com@127.0.0.1",
                           "127.0.0.1#.example.com",
                           "127.0.0.1\\.example.com",
                           "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1",
                           "169.254.169.254"}) {
    const std::string place = std::string(host) + ":8080";
    for (const std::string& bytes :
         {Get("http://" + place + "/", place),
          "CONNECT " + place + " HTTP/1.1\r\n\r\n" + Get("/", place),
          Get("/http/" + place + "/", "x"),
          "\5\1\0\5\1\0\3"s + static_cast<char>(std::string(host).size()) + host + "\x1f\x90"s +
              Get("/", place)}) {
      EXPECT_THAT(proxy.Talk(bytes), Not(HasSubstr("THE HOST!"))) << bytes;
    }
  }
  EXPECT_THAT(World::Get().Seen(), Not(Contains(StartsWith("HIT"))));
  EXPECT_EQ(proxy.Replace({"127.0.0.1:8080"}), "");
  EXPECT_THAT(proxy.Talk(Get("http://127.0.0.1:8080/", "127.0.0.1:8080")), HasSubstr("THE HOST!"))
      << "control";
}

TEST(Attack, ANameWithBytesThatEndItForAResolver) {
  Proxy proxy;
  proxy.Add({"*.example.com", "example.com"});
  const auto socks = [&](const std::string& name) {
    return proxy.Talk("\5\1\0\5\1\0\3"s + static_cast<char>(name.size()) + name + "\0\x50"s +
                      Get("/", "other.example"));
  };
  for (const std::string& name :
       {"other.example\0.example.com"s, "other.example\n.example.com"s,
        "other.example#.example.com"s, "other.example\x7f.example.com"s}) {
    EXPECT_EQ(socks(name), "\5\0\5\1\0\1\0\0\0\0\0\0"s);
  }
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  EXPECT_EQ(proxy.Replace({"other.example"}), "");
  EXPECT_THAT(socks("other.example"), HasSubstr("\"at\": \"93.184.216.35\"")) << "control";
}

TEST(Attack, ARedirectToAClosedAddress) {
  Proxy proxy;
  proxy.Add({"example.com"});
  const std::vector<std::string> words = {"--location",
                                          "http://example.com/redirect/169.254.169.254/latest"};
  EXPECT_THAT(proxy.Curl(words).out, HasSubstr("metadata"));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("HIT 169.254.169.254"))));
  EXPECT_EQ(proxy.Replace({"example.com", "169.254.169.254"}), "");
  EXPECT_THAT(proxy.Curl(words).out, HasSubstr("\"/latest\"")) << "control";
}

/// A handshake with a server name of the client's choice.
Outcome Handshake(const Proxy& proxy, const std::string& place, const std::string& name) {
  return World::Get().inside().RunHere({"/usr/bin/openssl", "s_client", "-proxy",
                                        "127.0.0.1:" + std::to_string(proxy.port()), "-connect",
                                        place, "-servername", name});
}

TEST(Attack, AskingForAnotherServerWithinATunnel) {
  Proxy proxy;
  proxy.Add({"example.com"});
  EXPECT_THAT(Handshake(proxy, "example.com:443", "EXAMPLE.com").out,
              HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(World::Get().Seen(), Contains("SNI EXAMPLE.com"));
  EXPECT_THAT(Handshake(proxy, "example.com:443", "www.example.com").out,
              Not(HasSubstr("BEGIN CERTIFICATE")));
  EXPECT_THAT(proxy.WaitForRefusal().refusal,
              "the TLS client asks for 'www.example.com' in a tunnel to 'example.com'");
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("SNI"))));
  // Where an address is what was allowed, a name says nothing.
  EXPECT_EQ(proxy.Replace({"93.184.216.34:443"}), "");
  EXPECT_THAT(Handshake(proxy, "93.184.216.34:443", "www.example.com").out,
              HasSubstr("BEGIN CERTIFICATE"))
      << "control";
}

TEST(Attack, SpeakingSomethingElseToPort443) {
  Proxy proxy;
  proxy.Add({"example.com", "example.com:8080"});
  const std::string hidden = Get("/hidden", "evil.example");
  EXPECT_EQ(proxy.Talk("CONNECT example.com:443 HTTP/1.1\r\n\r\n" + hidden),
            "HTTP/1.1 200 Connection established\r\n\r\n");
  EXPECT_THAT(proxy.WaitForRefusal().refusal, HasSubstr("only TLS"));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("/hidden"))));
  EXPECT_THAT(proxy.Talk("CONNECT example.com:8080 HTTP/1.1\r\n\r\n" + hidden),
              HasSubstr("\"/hidden\""))
      << "control";
}

/// Servers of several names go by the Host.
TEST(Attack, AHostThatDiffersFromTheUrl) {
  const std::string attacks[] = {Get("http://example.com/", "evil.example"),
                                 Get("http://example.com/", "evil.example:80"),
                                 Get("http://example.com/", "example.com\r\nHost: evil.example"),
                                 Get("http://example.com/", "evil.example\r\nHost: example.com")};
  Proxy proxy;
  proxy.Add({"example.com", "93.184.216.34"});
  for (const std::string& bytes : attacks) {
    EXPECT_THAT(proxy.Talk(bytes), StartsWith("HTTP/1.1 400")) << bytes;
  }
  EXPECT_THAT(World::Get().Seen(), Not(Contains(StartsWith("HIT"))));
  for (const std::string& bytes : attacks) {
    // Nobody reads what goes to an address that is allowed, and the server takes the other name.
    EXPECT_THAT(proxy.Talk("CONNECT 93.184.216.34:80 HTTP/1.1\r\n\r\n" + bytes),
                HasSubstr("[\"Host\", \"evil.example"))
        << "control: " << bytes;
  }
  EXPECT_THAT(proxy.Talk(Get("http://example.com/", "example.com")),
              HasSubstr("[\"Host\", \"example.com\"]"))
      << "and one that does not differ goes through";
}

TEST(Attack, ARequestSmuggledInAnother) {
  Proxy proxy;
  proxy.Add({"GET,POST http://example.com/public"});
  const std::string inner = Get("/smuggled", "example.com");
  const std::string line = "POST http://example.com/public HTTP/1.1\r\nHost: example.com\r\n";
  const std::string length = "Content-Length: " + std::to_string(5 + inner.size()) + "\r\n";
  const std::string both = length + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner;
  for (const std::string& rest :
       {both, "Content-Length: 0\r\n" + length + "\r\n" + inner,
        "Content-Length: 0\r\nX: y\n" + inner,
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + inner,
        "Transfer-Encoding: chunked\r\n\r\n0\n\r\n\r\n" + inner,
        "Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n" + inner,
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner}) {
    EXPECT_THAT(proxy.Talk(line + rest), Not(HasSubstr("/smuggled"))) << rest;
  }
  // A request that follows properly is one of its own, with a decision of its own.
  EXPECT_THAT(proxy.Talk(line + "Content-Length: 0\r\n\r\n" +
                         Get("http://example.com/smuggled", "example.com")),
              AllOf(HasSubstr("\"/public\""), HasSubstr("HTTP/1.1 403")));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("/smuggled"))));
  // Without a proxy between, the server takes it for a second request.
  EXPECT_EQ(proxy.Replace({"93.184.216.34"}), "");
  proxy.Talk(
      "CONNECT 93.184.216.34:80 HTTP/1.1\r\n\r\nPOST /public HTTP/1.1\r\nHost: example.com\r\n" +
      both);
  EXPECT_THAT(World::Get().Seen(), Contains(HasSubstr("/smuggled"))) << "control";
}

TEST(Attack, ARequestBehindATunnelsHead) {
  Proxy proxy;
  proxy.Add({"example.com:7"});
  const std::string hidden = Get("http://private.example/", "private.example");
  EXPECT_THAT(proxy.Talk("CONNECT example.com:7 HTTP/1.1\r\n\r\n" + hidden),
              AllOf(HasSubstr("hello\n"), HasSubstr(hidden)))
      << "it is the tunnel's payload";
  // Nor is it one behind a tunnel that was refused.
  EXPECT_THAT(proxy.Talk("CONNECT other.example:7 HTTP/1.1\r\n\r\n" + hidden),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("other.example"),
                    Not(HasSubstr("private.example"))));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("private"))));
  // Where a request may stand, it is one: the same bytes behind another request are served.
  EXPECT_EQ(proxy.Replace({"example.com", "private.example", "10.1.2.3"}), "");
  EXPECT_THAT(proxy.Talk("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n" + hidden),
              HasSubstr("\"at\": \"10.1.2.3\""))
      << "control";
}

TEST(Attack, APathThatServersReadDifferently) {
  Proxy proxy;
  proxy.Add({"GET http://example.com/public/*"});
  EXPECT_THAT(proxy.Talk(Get("http://example.com/public/x", "example.com")),
              HasSubstr("\"/public/x\""))
      << "control";
  (void)World::Get().Seen();
  const auto get = [&](const std::string& path) {
    return proxy.Talk(Get("http://example.com" + path, "example.com"));
  };
  const char* const attacks[] = {"/public/../secret",    "/public/%2e%2e/secret",
                                 "/public/..%2fsecret",  "/public/..;/secret",
                                 "/public/.%2e/secret",  "/public/x/..;v=1/../secret",
                                 "/public%2f..%2fsecret"};
  const char* const others[] = {"/PUBLIC/x", "/public", "//public/x", "/publicly"};
  for (const char* path : attacks) EXPECT_THAT(get(path), StartsWith("HTTP/1.1 403")) << path;
  for (const char* path : others) EXPECT_THAT(get(path), StartsWith("HTTP/1.1 403")) << path;
  const std::string tunnel = "CONNECT example.com:80 HTTP/1.1\r\n\r\n";
  EXPECT_THAT(proxy.Talk(tunnel), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(StartsWith("HIT"))));
  // Where no path counts they go through as they are, and the server opens something else.
  EXPECT_EQ(proxy.Replace({"example.com"}), "");
  for (const char* path : attacks) {
    EXPECT_THAT(get(path), HasSubstr("\"opens\": \"/secret\"")) << "control: " << path;
  }
  for (const char* path : others) {
    EXPECT_THAT(get(path), AllOf(HasSubstr("\"opens\""), Not(HasSubstr("/secret")))) << path;
  }
  EXPECT_THAT(proxy.Talk(tunnel), StartsWith("HTTP/1.1 200")) << "control";
}

TEST(Attack, ClientsThatSayNothingOrLittle) {
  constexpr int kAMomentMs = 500;
  Proxy proxy;
  proxy.Add({"example.com", "example.com:7"}, Tier::kAllow, {}, 4);
  // All places are taken: by one that may be silent, and by clients that never finish what they
  // say.
  const UniqueFd tunnel = proxy.Connect();
  Send(tunnel.get(), "CONNECT example.com:7 HTTP/1.1\r\n\r\n");
  const std::string opened = "HTTP/1.1 200 Connection established\r\n\r\nhello\n";
  EXPECT_EQ(ReadUntil(tunnel.get(), opened.size()), opened);
  const UniqueFd silent = proxy.Connect(), slow = proxy.Connect(), socks = proxy.Connect();
  Send(slow.get(), "GET http://example.com/ HTTP/1.1\r\nHost:");
  Send(socks.get(), "\5");
  const UniqueFd next = proxy.Connect();
  Send(next.get(), Get("http://example.com/", "example.com"));
  pollfd answer{next.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&answer, 1, kAMomentMs), 0) << "control: they do keep others out";
  // It is served once they have been shown out.
  EXPECT_THAT(ReadUntil(next.get()), HasSubstr("\"at\""));
  EXPECT_EQ(ReadUntil(silent.get()), "");
  EXPECT_THAT(ReadUntil(slow.get()), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(ReadUntil(socks.get()), "");
  // A tunnel has no time in which it has to say something: its place would have been kept for ever.
  Send(tunnel.get(), "ping\n");
  EXPECT_EQ(ReadUntil(tunnel.get(), 5), "ping\n") << "control: it is the time that ended them";
}

}  // namespace
}  // namespace igloo::testing
