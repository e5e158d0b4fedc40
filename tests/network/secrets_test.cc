// Secrets that a sandbox uses and never sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "proxy.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kValue = "the-real-value-of-the-key";

network::Secret Key() {
  return {.name = "KEY",
          .value = kValue,
          .placeholder = network::NewPlaceholder("KEY").value(),
          .domain = network::Name::Parse("api.example").value(),
          .headers = {"Authorization", "X-Key"}};
}

/// What a server gets of a header; the answer itself holds no value.
std::string Sent(const std::string& header, const std::string& value) {
  return "SENT " + header + " " + value;
}

TEST(Secrets, AreUsedForTheirDomainOverTls) {
  const network::Secret key = Key();
  Proxy proxy;
  proxy.Add({"api.example", "example.com", "other.example"}, network::Tier::kAllow, {key});
  const std::string header = "Authorization: Bearer " + key.placeholder;
  const std::string real = "Bearer " + std::string(kValue);
  // By base URL, by a whole URL, and by a plain URL, which is made one over TLS.
  const std::vector<std::vector<std::string>> ways = {
      {"--noproxy", "*", proxy.url() + "/https/api.example/v1"}, {"http://api.example/v1"}};
  for (const auto& way : ways) {
    std::vector<std::string> words = {"-H", header};
    words.insert(words.end(), way.begin(), way.end());
    const Outcome outcome = proxy.Curl(words);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"port\": 443"), HasSubstr("\"/v1\"")))
        << outcome.err;
    EXPECT_THAT(World::Get().Seen(), Contains(Sent("Authorization", real)));
    const auto record = proxy.WaitForRecord(
        [](const network::Record& each) { return each.event == network::Record::Event::kEnded; });
    EXPECT_EQ(record.secrets, std::vector<std::string>{"KEY"});
    EXPECT_THAT(network::Encode(network::News(record)), Not(HasSubstr(kValue)));
  }
  const Outcome basic = proxy.Curl({"--user", "me:" + key.placeholder, "http://api.example/"});
  const std::string encoded = ToBase64("me:" + std::string(kValue));
  EXPECT_THAT(World::Get().Seen(), Contains(Sent("Authorization", "Basic " + encoded)));
  EXPECT_THAT(basic.out, Not(HasSubstr(encoded))) << "nor does its base64 come back";
  // A body of some size goes through TLS whole, both ways.
  const Outcome upload =
      World::Get().inside().RunHere({"/usr/bin/curl", "-sS", "--proxy", proxy.url(),
                                     "--data-binary", "@-", "http://api.example/up"},
                                    std::string(3'000'000, 'y'));
  EXPECT_THAT(upload.out, HasSubstr("\"size\": 3000000")) << upload.err;
  EXPECT_EQ(proxy.Curl({"http://api.example/big/3000000"}).out.size(), 3'000'000U);
}

TEST(Secrets, AreForNobodyElse) {
  const network::Secret key = Key();
  Proxy proxy;
  proxy.Add({"api.example", "example.com", "*.example.com"}, network::Tier::kAllow, {key});
  const std::string header = "Authorization: Bearer " + key.placeholder;
  for (const char* url :
       {"http://example.com/", "https://example.com/", "http://www.example.com/"}) {
    EXPECT_THAT(proxy.Curl({"-H", header, url}).out,
                AllOf(HasSubstr(key.placeholder), Not(HasSubstr(kValue))))
        << url;
  }
  // Not in the path, not in a body, not in the sandbox's own TLS.
  EXPECT_THAT(proxy.Curl({"--data", key.placeholder, "http://api.example/" + key.placeholder}).out,
              AllOf(HasSubstr("/" + key.placeholder), Not(HasSubstr(kValue))));
  EXPECT_THAT(proxy.Curl({"-H", header, "https://api.example/"}).out, Not(HasSubstr(kValue)));
  const std::string real = "Bearer " + std::string(kValue);
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr(kValue))));
  // Nor in a header that it does not name.
  EXPECT_THAT(proxy.Curl({"-H", "X-Other: " + key.placeholder, "http://api.example/"}).out,
              HasSubstr(key.placeholder));
  EXPECT_THAT(World::Get().Seen(), Contains(Sent("X-Other", key.placeholder)));
  proxy.Curl({"-H", header, "http://api.example/"});
  EXPECT_THAT(World::Get().Seen(), Contains(Sent("Authorization", real))) << "control";
  EXPECT_EQ(proxy.Replace({"example.com"}), "");
  EXPECT_THAT(proxy.Curl({"-H", header, "http://api.example/"}).out, HasSubstr("not in the list"))
      << "a secret opens nothing";
}

TEST(Secrets, AreNotSentToAServerWithoutTheRightCertificate) {
  network::Secret key = Key();
  key.domain = network::Name::Parse("other.example").value();
  Proxy proxy;
  proxy.Add({"other.example", "api.example"}, network::Tier::kAllow, {key});
  const Outcome outcome =
      proxy.Curl({"-H", "Authorization: " + key.placeholder, "http://other.example/"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("no TLS with 'other.example'"), HasSubstr("hostname mismatch")));
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr("HIT"))));
  EXPECT_THAT(proxy.Curl({"--noproxy", "*", proxy.url() + "/https/api.example/"}).out,
              HasSubstr("\"at\""))
      << "control";
}

TEST(Secrets, StayWithinTheMethodsAndPathsOfTheirRule) {
  const network::Secret key = Key();
  Proxy proxy;
  proxy.Add({"POST https://api.example/v1/*"}, network::Tier::kAllow, {key});
  const std::string header = "X-Key: " + key.placeholder;
  proxy.Curl({"-H", header, "--data", "x", "http://api.example/v1/a"});
  EXPECT_THAT(World::Get().Seen(), Contains(Sent("X-Key", kValue)));
  EXPECT_THAT(proxy.Curl({"-H", header, "http://api.example/v1/a"}).out,
              HasSubstr("the rule that would allow it: GET https://api.example/v1/a"));
  proxy.Curl({"-H", header, "--data", "x", "http://api.example/v2"});
  EXPECT_THAT(World::Get().Seen(), Not(Contains(HasSubstr(kValue))));
}

TEST(Secrets, ThatNameNoHeaderAreRefusedByTheProxyItself) {
  Proxy proxy;
  network::Secret key = Key();
  key.headers.clear();
  EXPECT_THROW(proxy.Add({"api.example"}, network::Tier::kAllow, {key}), std::runtime_error);
  EXPECT_NE(proxy.Abandon(), 0) << "an order that it cannot follow ends it";
}

/// A server that repeats its requests: the value comes back in each of these ways.
constexpr const char* kEchoes[] = {"header", "status", "nonsense", "bytes",
                                   "chunks", "close",  "base64",   "plain"};

TEST(Secrets, ThatAServerSendsBackDoNotComeInside) {
  const network::Secret key = Key();
  const std::string middle = ToBase64(std::string(kValue)).substr(0, 30);
  for (const char* how : kEchoes) {
    Proxy proxy;
    proxy.Add({"api.example"}, network::Tier::kAllow, {key});
    const std::string url = std::string("http://api.example/echo/") + how;
    const Outcome outcome = proxy.Curl({"-i", "-H", "X-Key: " + key.placeholder, url});
    EXPECT_THAT(World::Get().Seen(), Contains(Sent("X-Key", kValue))) << how << ": it was used";
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("HTTP/1.1 "), Not(HasSubstr(kValue)), Not(HasSubstr(middle))))
        << how;
    EXPECT_EQ(outcome.status, 0) << how << ": the framing is whole: " << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::AnyOf(HasSubstr(key.placeholder), HasSubstr("********")))
        << how;
    // It was told, by name, and before the answer.
    const auto told = proxy.TakeTold([](const network::Record& each) {
      return each.event == network::Record::Event::kReturned;
    });
    ASSERT_TRUE(told) << how;
    EXPECT_EQ(told->secrets, std::vector<std::string>{"KEY"});
    EXPECT_EQ(told->host, "api.example");
    EXPECT_THAT(network::Encode(network::News(*told)), Not(HasSubstr(kValue)));
  }
}

TEST(Secrets, ControlWhatIsNoSecretComesBackAsItIs) {
  Proxy proxy;
  proxy.Add({"api.example"}, network::Tier::kAllow, {Key()});
  const std::string other = "a-text-that-is-nobodys-secret";
  for (const char* how : {"header", "status", "bytes", "chunks", "close", "plain"}) {
    const std::string url = std::string("http://api.example/echo/") + how;
    const Outcome outcome = proxy.Curl({"-i", "-H", "X-Key: " + other, url});
    EXPECT_THAT(outcome.out, HasSubstr(other)) << how;
  }
  EXPECT_FALSE(proxy.TakeTold(
      [](const network::Record& each) { return each.event == network::Record::Event::kReturned; }));
}

TEST(Secrets, AnEarlierOneIsFoundInALaterAnswerAndInOthersOfTheSandbox) {
  const network::Secret key = Key();
  Proxy proxy;
  proxy.Add({"api.example", "example.com"}, network::Tier::kAllow, {key});
  // The request itself holds no placeholder: this server knows the value from elsewhere.
  for (const char* url : {"http://api.example/echo/plain", "http://example.com/echo/plain"}) {
    EXPECT_THAT(proxy.Curl({"-H", "X-Key: " + std::string(kValue), url}).out,
                Not(HasSubstr(kValue)))
        << url;
    proxy.WaitForRecord([](const network::Record& each) {
      return each.event == network::Record::Event::kReturned;
    });
  }
}

TEST(Secrets, AnswersAreAskedForUncompressedAndOthersAreNamed) {
  const network::Secret key = Key();
  Proxy proxy;
  proxy.Add({"api.example", "example.com"}, network::Tier::kAllow, {key});
  proxy.Curl({"--compressed", "-H", "X-Key: " + key.placeholder, "http://api.example/quiet"});
  EXPECT_THAT(World::Get().Seen(), AllOf(Contains(Sent("Accept-Encoding", "identity")),
                                         Not(Contains(HasSubstr("gzip")))));
  proxy.Curl({"--compressed", "http://example.com/quiet"});
  EXPECT_THAT(World::Get().Seen(), Contains(HasSubstr("gzip"))) << "others get what was asked for";
  proxy.Curl({"-H", "X-Key: " + key.placeholder, "http://api.example/echo/gzip"});
  const auto told = proxy.WaitForRecord([](const network::Record& each) {
    return each.event == network::Record::Event::kUnsearched;
  });
  EXPECT_EQ(told.secrets, std::vector<std::string>{"KEY"});
}

TEST(Secrets, LargeAnswersComeWholeAndInOrder) {
  Proxy proxy;
  proxy.Add({"api.example", "example.com"}, network::Tier::kAllow, {Key()});
  const std::string direct = proxy.Curl({"http://example.com/big/3000000"}).out;
  ASSERT_EQ(direct.size(), 3'000'000U);
  EXPECT_TRUE(proxy.Curl({"http://api.example/big/3000000"}).out == direct);
  for (std::size_t i = 0; i < direct.size(); ++i) {
    ASSERT_EQ(static_cast<unsigned char>(direct[i]), i % 256);
  }
}

}  // namespace
}  // namespace igloo::testing
