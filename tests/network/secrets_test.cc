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
          .domain = network::Name::Parse("api.example").value()};
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
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("\"port\": 443"), HasSubstr(real), HasSubstr("\"/v1\"")))
        << outcome.err;
    const auto record = proxy.WaitForRecord(
        [](const network::Record& each) { return each.event == network::Record::Event::kEnded; });
    EXPECT_EQ(record.secrets, std::vector<std::string>{"KEY"});
    EXPECT_THAT(network::Encode(network::News(record)), Not(HasSubstr(kValue)));
  }
  EXPECT_THAT(proxy.Curl({"--user", "me:" + key.placeholder, "http://api.example/"}).out,
              HasSubstr(ToBase64("me:" + std::string(kValue))));
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
  EXPECT_THAT(proxy.Curl({"-H", header, "http://api.example/"}).out, HasSubstr(kValue))
      << "control";
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
  EXPECT_THAT(proxy.Curl({"-H", header, "--data", "x", "http://api.example/v1/a"}).out,
              HasSubstr(kValue));
  EXPECT_THAT(proxy.Curl({"-H", header, "http://api.example/v1/a"}).out,
              HasSubstr("the rule that would allow it: GET https://api.example/v1/a"));
  EXPECT_THAT(proxy.Curl({"-H", header, "--data", "x", "http://api.example/v2"}).out,
              Not(HasSubstr(kValue)));
}

}  // namespace
}  // namespace igloo::testing
