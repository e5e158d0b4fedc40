#include "network/secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"

namespace igloo::network {
namespace {

const std::string kPlaceholder = "igloo-placeholder-KEY-0123456789abcdef0123456789abcdef";

Secret Key(std::vector<std::string> headers = {"Authorization", "X-Api-Key"}) {
  return {.name = "KEY",
          .value = "sk-real",
          .placeholder = kPlaceholder,
          .domain = *Name::Parse("api.example.com"),
          .headers = std::move(headers)};
}

RequestHead Head(const char* host, Request::Way way, std::vector<Header> headers) {
  return {.request = {.way = way, .host = *ParseHost(host), .port = 443, .method = "GET"},
          .target = "/" + kPlaceholder,
          .headers = std::move(headers)};
}

TEST(Placeholder, CannotBeGuessedAndIsRecognised) {
  const std::string one = *NewPlaceholder("MY KEY"), two = *NewPlaceholder("MY KEY");
  EXPECT_NE(one, two);
  EXPECT_TRUE(one.starts_with("igloo-placeholder-MY-KEY-"));
  EXPECT_EQ(one.size(), std::string("igloo-placeholder-MY-KEY-").size() + 32);
}

TEST(Secrets, GoIntoHeadersOfTheirOwnDomainOnly) {
  RequestHead head =
      Head("API.example.com.", Request::Way::kHttps,
           {{"X-Api-Key", kPlaceholder}, {"Authorization", "Bearer " + kPlaceholder}});
  EXPECT_EQ(UseSecrets({Key()}, head), std::vector<std::string>{"KEY"});
  EXPECT_EQ(head.headers,
            (std::vector<Header>{{"X-Api-Key", "sk-real"}, {"Authorization", "Bearer sk-real"}}));
  EXPECT_EQ(head.target, "/" + kPlaceholder) << "a path is written into logs";

  const std::pair<const char*, Request::Way> elsewhere[] = {
      {"evil.org", Request::Way::kHttps},
      {"api.example.com.evil.org", Request::Way::kHttps},
      {"a.api.example.com", Request::Way::kHttps},
      {"example.com", Request::Way::kHttps},
      {"api.example.com", Request::Way::kHttp},  // not encrypted
      {"1.2.3.4", Request::Way::kHttps}};
  for (const auto& [host, way] : elsewhere) {
    const std::vector<Header> headers = {{"Authorization", "Bearer " + kPlaceholder}};
    RequestHead other = Head(host, way, headers);
    EXPECT_TRUE(UseSecrets({Key()}, other).empty()) << host;
    EXPECT_EQ(other.headers, headers) << host;
  }
}

TEST(Secrets, AreBoundToTheirHeaders) {
  RequestHead head = Head("api.example.com", Request::Way::kHttps,
                          {{"x-echo", kPlaceholder}, {"x-api-key", kPlaceholder}});
  EXPECT_EQ(UseSecrets({Key({"X-API-Key"})}, head).size(), 1U);
  EXPECT_EQ(head.headers[0].value, kPlaceholder);
  EXPECT_EQ(head.headers[1].value, "sk-real");
}

TEST(Secrets, AreFoundInBasicAuthorization) {
  RequestHead head = Head("api.example.com", Request::Way::kHttps,
                          {{"Authorization", "Basic " + ToBase64("user:" + kPlaceholder)},
                           {"X-Other", "Basic " + ToBase64("user:" + kPlaceholder)}});
  EXPECT_EQ(UseSecrets({Key()}, head).size(), 1U);
  EXPECT_EQ(head.headers[0].value, "Basic " + ToBase64("user:sk-real"));
  EXPECT_EQ(head.headers[1].value, "Basic " + ToBase64("user:" + kPlaceholder));
}

TEST(Secrets, ThatCouldWriteHeadersAreRefused) {
  EXPECT_TRUE(CheckSecret(Key()));
  for (const char* value : {"", "a\r\nX-Evil: 1", "a\n", "a\x7f", "\xc3\xa4"}) {
    Secret secret = Key();
    secret.value = value;
    EXPECT_FALSE(CheckSecret(secret)) << value;
  }
  Secret zero = Key();
  zero.value = std::string("a\0b", 3);
  EXPECT_FALSE(CheckSecret(zero));
  Secret guessable = Key();
  guessable.placeholder = "KEY";
  EXPECT_FALSE(CheckSecret(guessable)) << "it would be replaced in innocent text";
  EXPECT_FALSE(CheckSecret(Key({"a b"})));
  Secret common = Key();
  common.value = "12345";
  EXPECT_FALSE(CheckSecret(common)) << "it would be taken out of innocent answers";
}

TEST(Secrets, NameTheHeadersTheyMayStandIn) {
  const auto nowhere = CheckSecret(Key(std::vector<std::string>{}));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().what, "the secret 'KEY' names no header that it may stand in");
  EXPECT_EQ(nowhere.error().hint,
            "write --secret KEY=SOURCE@HOST:Authorization, or header = \"Authorization\" in its "
            "section");
  EXPECT_EQ(*ParseHeaderNames("Authorization, X-Api-Key"),
            (std::vector<std::string>{"Authorization", "X-Api-Key"}));
  for (const char* text : {"", ",", "A,", ",A", "A B", "A:", "A\r\nB"}) {
    EXPECT_FALSE(ParseHeaderNames(text)) << text;
  }
  std::string many = "A";
  for (std::size_t i = 0; i < kMostSecretHeaders; ++i) many += ",A";
  EXPECT_FALSE(ParseHeaderNames(many));
}

}  // namespace
}  // namespace igloo::network
