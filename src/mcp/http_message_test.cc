#include "mcp/http_message.h"

#include <gtest/gtest.h>

namespace igloo::mcp {
namespace {

constexpr std::string_view kRequest =
    "POST /mcp?x HTTP/1.1\r\nhost: localhost\r\nMCP-Name:  run \r\n"
    "Content-Length: 5\r\n\r\nhello";

TEST(HttpParser, ReadsARequestHoweverItsBytesCome) {
  for (std::size_t step = 1; step <= kRequest.size(); ++step) {
    HttpParser parser(1000, 1000);
    std::string bytes;
    std::optional<HttpHead> head;
    std::optional<std::string> body;
    for (std::size_t at = 0; at < kRequest.size(); at += step) {
      bytes += kRequest.substr(at, step);
      if (!head) head = parser.Head(bytes).value();
      if (head && !body) body = parser.Body(bytes).value();
    }
    ASSERT_TRUE(head && body) << step;
    EXPECT_EQ(head->method, "POST");
    EXPECT_EQ(head->target, "/mcp?x");
    EXPECT_EQ(head->headers.host, "localhost");
    EXPECT_EQ(head->headers.name, "run");
    EXPECT_TRUE(head->keep_alive);
    EXPECT_EQ(body, "hello");
    EXPECT_EQ(bytes, "");
  }
}

TEST(HttpParser, ReadsChunksHoweverTheirBytesCome) {
  constexpr std::string_view kChunks =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
  constexpr std::string_view kEmpty =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n";
  for (const std::string_view request : {kChunks, kEmpty}) {
    for (std::size_t step = 1; step <= request.size(); ++step) {
      HttpParser parser(1000, 1000);
      std::string bytes;
      bool headed = false;
      std::optional<std::string> body;
      for (std::size_t at = 0; at < request.size(); at += step) {
        bytes += request.substr(at, step);
        headed = headed || parser.Head(bytes).value();
        if (headed && !body) body = parser.Body(bytes).value();
      }
      EXPECT_EQ(body, request == kChunks ? "hello" : "") << step;
      EXPECT_EQ(bytes, "");
    }
  }
}

TEST(HttpParser, LeavesTheNextRequestAlone) {
  HttpParser parser(1000, 1000);
  std::string bytes = std::string(kRequest) + "GET ";
  ASSERT_TRUE(parser.Head(bytes).value());
  EXPECT_EQ(parser.Body(bytes).value(), "hello");
  EXPECT_EQ(bytes, "GET ");
}

TEST(HttpParser, WhatIsTooLongOrNotHttpHasItsStatus) {
  const auto status = [](std::string bytes, std::size_t longest_body) -> unsigned {
    HttpParser parser(100, longest_body);
    auto head = parser.Head(bytes);
    if (!head) return head.error().status;
    const auto body = parser.Body(bytes);
    return body ? 200 : body.error().status;
  };
  const std::string begin = "POST / HTTP/1.1\r\n";
  EXPECT_EQ(status(begin + "Content-Length: 5\r\n\r\nhello", 5), 200U) << "control";
  EXPECT_EQ(status(begin + "Content-Length: 5\r\n\r\nhello", 4), 413U);
  EXPECT_EQ(status(begin + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 4), 413U);
  EXPECT_EQ(status(begin + "X: " + std::string(100, 'x'), 5), 431U);
  EXPECT_EQ(status(begin + "Content-Length: -5\r\n\r\n", 5), 400U);
  // Two lengths would let what stands between read another request than this server.
  EXPECT_EQ(status(begin + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 5), 400U);
  EXPECT_EQ(status(begin + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", 5), 400U);
}

TEST(HttpParser, WhatATargetNamesCountsInsteadOfTheHost) {
  const auto read = [](std::string_view target) {
    HttpParser parser(1000, 0);
    std::string bytes = "GET " + std::string(target) + " HTTP/1.1\r\nHost: other\r\n\r\n";
    const HttpHead head = parser.Head(bytes).value().value();
    return head.headers.host + " " + head.target;
  };
  EXPECT_EQ(read("/mcp?a=b://c"), "other /mcp?a=b://c");
  EXPECT_EQ(read("http://localhost:80/mcp?x"), "localhost:80 /mcp?x");
  EXPECT_EQ(read("http://evil.example"), "evil.example ");
}

TEST(HttpParser, AHeaderThatDecidesIsThereOnce) {
  for (const char* name : {"Host", "Origin", "Authorization", "content-type",
                           "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"}) {
    HttpParser parser(1000, 0);
    const std::string field = std::string(name) + ": localhost\r\n";
    std::string bytes = "POST / HTTP/1.1\r\n" + field + "X: y\r\nX: z\r\n" + field + "\r\n";
    const auto head = parser.Head(bytes);
    ASSERT_FALSE(head) << name;
    EXPECT_EQ(head.error().status, 400U);
  }
}

TEST(ResponseHead, SaysWhetherItGoesOn) {
  const std::string for_browsers =
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
      "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n";
  EXPECT_EQ(ResponseHead({.status = 202}, After::kKeepOpen),
            "HTTP/1.1 202 Accepted\r\n" + for_browsers + "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(ResponseHead({.body = "{}", .fields = {{"A", "b"}}}, After::kClose),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n" + for_browsers +
                "Content-Type: application/json\r\nA: b\r\nContent-Length: 2\r\n\r\n");
}

}  // namespace
}  // namespace igloo::mcp
