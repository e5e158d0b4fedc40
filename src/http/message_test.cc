#include "http/message.h"

#include <gtest/gtest.h>

namespace igloo::http {
namespace {

constexpr std::string_view kRequest =
    "POST /mcp?x HTTP/1.1\r\nhost: localhost\r\nMCP-Name:  run \r\n"
    "Content-Length: 5\r\n\r\nhello";

TEST(HttpParser, ReadsARequestHoweverItsBytesCome) {
  for (std::size_t step = 1; step <= kRequest.size(); ++step) {
    Parser parser(1000, 1000);
    std::string bytes;
    std::optional<Head> head;
    std::optional<std::string> body;
    for (std::size_t at = 0; at < kRequest.size(); at += step) {
      bytes += kRequest.substr(at, step);
      if (!head) head = parser.ReadHead(bytes).value();
      if (head && !body) body = parser.ReadBody(bytes).value();
    }
    ASSERT_TRUE(head && body) << step;
    EXPECT_EQ(head->method, "POST");
    EXPECT_EQ(head->target, "/mcp?x");
    EXPECT_EQ(head->host, "localhost");
    EXPECT_EQ(head->path(), "/mcp");
    EXPECT_EQ(head->fields.Get("mcp-name"), "run");
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
      Parser parser(1000, 1000);
      std::string bytes;
      bool headed = false;
      std::optional<std::string> body;
      for (std::size_t at = 0; at < request.size(); at += step) {
        bytes += request.substr(at, step);
        headed = headed || parser.ReadHead(bytes).value();
        if (headed && !body) body = parser.ReadBody(bytes).value();
      }
      EXPECT_EQ(body, request == kChunks ? "hello" : "") << step;
      EXPECT_EQ(bytes, "");
    }
  }
}

TEST(HttpParser, LeavesTheNextRequestAlone) {
  Parser parser(1000, 1000);
  std::string bytes = std::string(kRequest) + "GET ";
  ASSERT_TRUE(parser.ReadHead(bytes).value());
  EXPECT_EQ(parser.ReadBody(bytes).value(), "hello");
  EXPECT_EQ(bytes, "GET ");
}

TEST(HttpParser, WhatIsTooLongOrNotHttpHasItsStatus) {
  const auto status = [](std::string bytes, std::size_t longest_body) -> unsigned {
    Parser parser(100, longest_body);
    auto head = parser.ReadHead(bytes);
    if (!head) return head.error().status;
    const auto body = parser.ReadBody(bytes);
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
    Parser parser(1000, 0);
    std::string bytes = "GET " + std::string(target) + " HTTP/1.1\r\nHost: other\r\n\r\n";
    const Head head = parser.ReadHead(bytes).value().value();
    return head.host + " " + head.target;
  };
  EXPECT_EQ(read("/mcp?a=b://c"), "other /mcp?a=b://c");
  EXPECT_EQ(read("http://localhost:80/mcp?x"), "localhost:80 /mcp?x");
  EXPECT_EQ(read("http://evil.example"), "evil.example ");
}

TEST(HttpParser, AHeaderThatDecidesIsThereOnce) {
  const std::vector<std::string> own = {"X-Decides"};
  for (const char* name : {"Host", "Origin", "Authorization", "content-type", "x-decides"}) {
    Parser parser(1000, 0, own);
    const std::string field = std::string(name) + ": localhost\r\n";
    std::string bytes = "POST / HTTP/1.1\r\n" + field + "X: y\r\nX: z\r\n" + field + "\r\n";
    const auto head = parser.ReadHead(bytes);
    ASSERT_FALSE(head) << name;
    EXPECT_EQ(head.error().status, 400U);
  }
}

TEST(HttpParser, EveryFieldCanBeRead) {
  Parser parser(1000, 0);
  std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nX: 1\r\nx: 2\r\n\r\n";
  const Head head = parser.ReadHead(bytes).value().value();
  EXPECT_EQ(head.fields.Get("ACCEPT"), "text/html");
  EXPECT_EQ(head.fields.Get("X"), "1");
  EXPECT_EQ(head.fields.Count("X"), 2U);
  EXPECT_EQ(head.fields.Get("Cookie"), "");
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

TEST(ResponseHead, ItsOwnFieldsTakeThePlaceOfWhatBrowsersAreToldOtherwise) {
  const std::string head =
      ResponseHead({.body = "<p>", .type = "text/html", .fields = {{"cache-control", "max-age=1"}}},
                   After::kKeepOpen);
  EXPECT_NE(head.find("cache-control: max-age=1\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("no-store"), std::string::npos) << head;
  EXPECT_NE(head.find("nosniff"), std::string::npos) << head;
  EXPECT_NE(head.find("Content-Type: text/html\r\n"), std::string::npos) << head;
}

}  // namespace
}  // namespace igloo::http
