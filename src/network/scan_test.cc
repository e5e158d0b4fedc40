#include "network/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "network/body.h"

namespace igloo::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kPlaceholder = "igloo-placeholder-KEY-0123456789abcdef0123456789abcdef";

Secret Of(std::string name, std::string value) {
  std::string placeholder = kPlaceholder;
  placeholder.replace(placeholder.find("KEY"), 3, name);
  return {.name = std::move(name),
          .value = std::move(value),
          .placeholder = std::move(placeholder),
          .domain = *Name::Parse("api.example.com"),
          .headers = {"Authorization"}};
}

/// The body as it is sent on, when it comes in pieces of this size.
std::string Scanned(const std::vector<Secret>& secrets, std::string_view body, std::size_t step,
                    std::vector<std::string>* found = nullptr) {
  const SecretPatterns patterns(secrets);
  SecretScan scan(patterns);
  std::string out;
  for (std::size_t at = 0; at < body.size(); at += step) scan.Take(body.substr(at, step), out);
  scan.Finish(out);
  if (found != nullptr) *found = scan.TakeFound();
  return out;
}

TEST(SecretScan, OverwritesAValueHoweverItIsCut) {
  const std::string value = "sk-real-value-1234", body = "{\"a\": \"" + value + "\", \"b\": 1}";
  for (std::size_t step = 1; step <= body.size(); ++step) {
    std::vector<std::string> found;
    const std::string out = Scanned({Of("KEY", value)}, body, step, &found);
    EXPECT_EQ(out, "{\"a\": \"" + std::string(value.size(), '*') + "\", \"b\": 1}") << step;
    EXPECT_THAT(found, ElementsAre("KEY")) << step;
  }
}

TEST(SecretScan, LeavesEverythingElseAsItIs) {
  const Secret key = Of("KEY", "abcabd");
  for (const char* body : {"", "abcab", "abcabcab", "abcabababcab", "bcabd", "ABCABD", "abc abd"}) {
    for (const std::size_t step : {1U, 2U, 3U, 100U}) {
      std::vector<std::string> found;
      EXPECT_EQ(Scanned({key}, body, step, &found), body);
      EXPECT_THAT(found, IsEmpty());
    }
  }
  // A beginning that is begun anew within itself.
  EXPECT_THAT(Scanned({key}, "abcabcabd", 2), Not(HasSubstr("abcabd")));
}

TEST(SecretScan, FindsValuesThatOverlapOrHoldEachOther) {
  const std::vector<Secret> secrets = {Of("ONE", "aaaaaa"), Of("TWO", "xaaaaaay"),
                                       Of("SIX", "aaybbbb")};
  std::vector<std::string> found;
  const std::string out = Scanned(secrets, "-xaaaaaaybbbb-aaaaaaaaaaaaaaaa-", 1, &found);
  for (const Secret& each : secrets) EXPECT_THAT(out, Not(HasSubstr(each.value)));
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("ONE", "TWO", "SIX"));
  EXPECT_EQ(out.size(), 31U);
}

TEST(SecretScan, FindsItsBase64WhateverStandsAroundIt) {
  const std::string value = "p>?~value-of-\x7e\x7e?";
  for (const std::string before : {"", "m", "me", "me:", "user:"}) {
    for (const std::string after : {"", "1", "12", "123"}) {
      std::string encoded = ToBase64(before + value + after);
      for (const bool safe : {false, true}) {
        if (safe) {
          std::ranges::replace(encoded, '+', '-');
          std::ranges::replace(encoded, '/', '_');
        }
        std::vector<std::string> found;
        const std::string out = Scanned({Of("KEY", value)}, encoded, 3, &found);
        EXPECT_THAT(found, ElementsAre("KEY")) << before << after << safe;
        EXPECT_EQ(out.size(), encoded.size());
      }
    }
  }
}

TEST(SecretScan, HoldsBackOnlyWhatMayBeTheBeginningOfAValue) {
  const SecretPatterns patterns({Of("KEY", "sk-real-value")});
  SecretScan scan(patterns);
  std::string out;
  scan.Take("data: 1\n\n", out);
  EXPECT_EQ(out, "data: 1\n\n");
  scan.Take("data: sk-", out);
  EXPECT_EQ(out, "data: 1\n\ndata: ");
  scan.Take("other", out);
  EXPECT_EQ(out, "data: 1\n\ndata: sk-other");
}

TEST(SecretScan, NamesASecretOnceInAnAnswer) {
  const SecretPatterns patterns({Of("KEY", "sk-real-value")});
  SecretScan scan(patterns);
  std::string head = "HTTP/1.1 200 sk-real-value\r\nX: sk-real-valuesk-real-value\r\n\r\n", out;
  scan.CleanHead(head);
  EXPECT_EQ(head,
            "HTTP/1.1 200 " + kPlaceholder + "\r\nX: " + kPlaceholder + kPlaceholder + "\r\n\r\n");
  EXPECT_THAT(scan.TakeFound(), ElementsAre("KEY"));
  scan.Take("sk-real-value", out);
  EXPECT_THAT(scan.TakeFound(), IsEmpty());
}

TEST(SecretScan, AsksSecretsDomainsForPlainText) {
  const std::vector<Secret> secrets = {Of("KEY", "sk-real-value")};
  const auto asked = [&](const char* host) {
    RequestHead head{.request = {.way = Request::Way::kHttps, .host = *ParseHost(host)},
                     .headers = {{"accept-encoding", "gzip"}, {"X", "y"}}};
    AskForPlainText(secrets, head);
    return head.headers;
  };
  EXPECT_EQ(asked("api.example.com"),
            (std::vector<Header>{{"X", "y"}, {"Accept-Encoding", "identity"}}));
  EXPECT_EQ(asked("example.com"), (std::vector<Header>{{"accept-encoding", "gzip"}, {"X", "y"}}));
  EXPECT_TRUE(IsEncoded({.headers = {{"content-encoding", "gzip"}}}));
  EXPECT_FALSE(IsEncoded({.headers = {{"Content-Encoding", "Identity"}, {"X", "gzip"}}}));
}

TEST(BodyContent, IsWhatChunksCarry) {
  Body body({Framing::Kind::kChunked});
  std::string content;
  const std::string_view bytes = "3;a=b\r\nabc\r\n1\r\nd\r\n0\r\nX: y\r\n\r\nnext";
  for (std::size_t at = 0; !body.ended(); ++at) {
    ASSERT_TRUE(body.Take(bytes.substr(at, 1), &content));
  }
  EXPECT_EQ(content, "abcd");
}

}  // namespace
}  // namespace igloo::network
