#include "network/http_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::network {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

HttpResult<RequestHead> Parse(const std::string& bytes) {
  std::size_t scanned = 0;
  const auto end = FindHeadEnd(bytes, scanned);
  if (!end) return std::unexpected(end.error());
  if (!*end) return std::unexpected(HttpProblem{0, "incomplete"});
  return ParseRequestHead(std::string_view(bytes).substr(0, **end));
}

TEST(RequestHead, OfAnAbsoluteUrl) {
  const auto head = Parse(
      "GET http://Example.COM.:80/a/b?q=1 HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n"
      "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: Basic x\r\n"
      "Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Empty:\r\n\r\n");
  ASSERT_TRUE(head) << head.error().reason;
  EXPECT_EQ(ToText(*head),
            "GET /a/b?q=1 HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nX-Empty: \r\n\r\n");
  EXPECT_EQ(head->request.way, Request::Way::kHttp);
  EXPECT_EQ(head->request.port, 80);
  EXPECT_TRUE(head->keep_alive);
}

TEST(RequestHead, OfABaseUrl) {
  const auto head = Parse(
      "POST /https/api.example.com/v1/x?y HTTP/1.1\r\nHost: 127.0.0.1:3128\r\nContent-Length: "
      "5\r\n\r\n");
  ASSERT_TRUE(head) << head.error().reason;
  EXPECT_EQ(head->request.way, Request::Way::kHttps);
  EXPECT_EQ(head->request.port, 443);
  EXPECT_EQ(head->request.path, "/v1/x?y");
  EXPECT_EQ(ToText(*head),
            "POST /v1/x?y HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(ToText(*Parse("GET /http/[fd00::1]:8080 HTTP/1.1\r\nHost: x\r\n\r\n")),
            "GET / HTTP/1.1\r\nHost: [fd00::1]:8080\r\n\r\n");
}

TEST(RequestHead, OfATunnel) {
  for (const char* text : {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
                           "CONNECT EXAMPLE.com.:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
                           "CONNECT example.com:443 HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
                           "CONNECT example.com:443 HTTP/1.0\r\n\r\n"}) {
    const auto head = Parse(text);
    ASSERT_TRUE(head) << head.error().reason;
    EXPECT_EQ(head->request.way, Request::Way::kTunnel);
    EXPECT_EQ(ToText(head->request.host), "example.com");
    EXPECT_EQ(head->request.port, 443);
  }
}

TEST(RequestHead, IsTheSameInAnyPieces) {
  const std::string bytes = "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\nbody";
  std::size_t scanned = 0;
  for (std::size_t size = 0; size < bytes.size() - 4; ++size) {
    const auto end = FindHeadEnd(std::string_view(bytes).substr(0, size), scanned);
    ASSERT_TRUE(end);
    ASSERT_FALSE(*end) << size;
  }
  EXPECT_EQ(**FindHeadEnd(bytes, scanned), bytes.size() - 4);
}

struct Refused {
  std::string text;
  const char* why;
  unsigned status = 400;
};

std::string Get(const std::string& headers) {
  return "GET http://example.com/ HTTP/1.1\r\n" + headers + "\r\n";
}

TEST(RequestHead, IsRefusedWhereTwoReadersCouldDisagree) {
  const std::string host = "Host: example.com\r\n";
  const Refused rows[] = {
      // Line ends and control bytes.
      {"GET http://example.com/ HTTP/1.1\nHost: example.com\n\n", "without CR"},
      {Get(host + "A: b\nEvil: c\r\n"), "without CR"},
      {Get(host + "A: b\rEvil: c\r\n"), "CR stands within"},
      {Get(host + "A: b\0c\r\n"s), "control byte"},
      {Get(host + "A: b\x01\r\n"), "control byte"},
      {"\r\nGET http://example.com/ HTTP/1.1\r\n\r\n", "first line is empty"},
      {Get(host + "A: b\r\n folded\r\n"), "folded"},
      {Get(host + "\tfolded\r\n"), "folded"},
      {Get(" Host: example.com\r\n"), "folded"},
      {Get("Host : example.com\r\n"), "no header"},
      {Get(host + "no colon\r\n"), "no header"},
      {Get(host + ": empty\r\n"), "no header"},
      {Get(host + "X Y: z\r\n"), "no header"},
      // The request line.
      {"GET  http://example.com/ HTTP/1.1\r\n" + host + "\r\n", "no request line"},
      {"GET http://example.com/ a HTTP/1.1\r\n" + host + "\r\n", "no request line"},
      {"GET http://example.com/\r\n" + host + "\r\n", "no request line"},
      {"G@T http://example.com/ HTTP/1.1\r\n" + host + "\r\n", "no request line"},
      {"GET http://example.com/\xc3\xa4 HTTP/1.1\r\n" + host + "\r\n", "no request line"},
      {"GET http://example.com/ HTTP/2.0\r\n" + host + "\r\n", "version", 505},
      {"GET http://example.com/ http/1.1\r\n" + host + "\r\n", "version", 505},
      {"TRACE http://example.com/ HTTP/1.1\r\n" + host + "\r\n", "TRACE", 405},
      // Where it goes.
      {Get(""), "no Host"},
      {Get(host + host), "two Host"},
      {Get(host + "host: evil.org\r\n"), "two Host"},
      {Get("Host: evil.org\r\n"), "another place"},
      {Get("Host: example.com:81\r\n"), "another place"},
      {Get("Host: example.com@evil.org\r\n"), "another place"},
      {"GET / HTTP/1.1\r\n" + host + "\r\n", "this is a proxy"},
      {"GET /ftp/example.com/ HTTP/1.1\r\n" + host + "\r\n", "this is a proxy"},
      {"GET ftp://example.com/ HTTP/1.1\r\n" + host + "\r\n", "neither http nor https"},
      {"GET http://user@example.com/ HTTP/1.1\r\n" + host + "\r\n", "'@'"},
      {"GET http://example.com:80:80/ HTTP/1.1\r\n" + host + "\r\n", "port"},
      {"GET http://example.com:/ HTTP/1.1\r\n" + host + "\r\n", "port"},
      {"GET http:///x HTTP/1.1\r\n" + host + "\r\n", "empty"},
      {"GET http://example.com\\@evil.org/ HTTP/1.1\r\n" + host + "\r\n", "no host name"},
      {"GET http://example.com/#f HTTP/1.1\r\n" + host + "\r\n", "fragment"},
      {"GET http://0x7f000001/ HTTP/1.1\r\n" + host + "\r\n", "number"},
      {"GET http://2130706433/ HTTP/1.1\r\n" + host + "\r\n", "number"},
      {"GET http://0177.0.0.1/ HTTP/1.1\r\n" + host + "\r\n", "number"},
      {"GET http://127.1/ HTTP/1.1\r\n" + host + "\r\n", "number"},
      {"CONNECT example.com HTTP/1.1\r\n\r\n", "no port"},
      {"CONNECT http://example.com:443/ HTTP/1.1\r\n\r\n", "port"},
      {"CONNECT example.com:443 HTTP/1.1\r\nHost: evil.org:443\r\n\r\n", "another place"},
      {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:80\r\n\r\n", "another place"},
      {"CONNECT example.com:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "no body"},
      {"CONNECT example.com:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "no body"},
      {"CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n", "number"},
      // Where it ends.
      {Get(host + "Content-Length: 5\r\nContent-Length: 5\r\n"), "two Content-Length"},
      {Get(host + "Content-Length: 5, 5\r\n"), "no number"},
      {Get(host + "Content-Length: +5\r\n"), "no number"},
      {Get(host + "Content-Length: -5\r\n"), "no number"},
      {Get(host + "Content-Length: 0x5\r\n"), "no number"},
      {Get(host + "Content-Length: \r\n"), "no number"},
      {Get(host + "Content-Length: 9999999999999999999\r\n"), "no number"},
      {Get(host + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), "stand together"},
      {Get(host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "stand together"},
      {Get(host + "Transfer-Encoding: gzip, chunked\r\n"), "not 'chunked'"},
      {Get(host + "Transfer-Encoding: chunked, identity\r\n"), "not 'chunked'"},
      {Get(host + "Transfer-Encoding: xchunked\r\n"), "not 'chunked'"},
      {Get(host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "two Transfer"},
      {"POST http://example.com/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0"},
      {Get(host + "Expect: something\r\n"), "expectation", 417},
      {Get(host + "A: " + std::string(kLongestHead, 'x') + "\r\n"), "too long", 431},
  };
  for (const Refused& row : rows) {
    const auto head = Parse(row.text);
    ASSERT_FALSE(head) << row.text;
    EXPECT_THAT(head.error().reason, HasSubstr(row.why)) << row.text.substr(0, 200);
    EXPECT_EQ(head.error().status, row.status) << row.why;
  }
  std::string many;
  for (int i = 0; i < 300; ++i) many += "A: b\r\n";
  EXPECT_EQ(Parse(Get(host + many)).error().status, 431U);
}

TEST(RequestHead, HeadersThatAHopNamesAreNotSentOn) {
  // Not even those that would change where the request ends.
  const auto head = Parse(
      "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\n"
      "Connection: close, Content-Length, Host\r\nContent-Length: 3\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_FALSE(head->keep_alive);
  EXPECT_EQ(ToText(*head), "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\n");
}

HttpResult<ResponseHead> Answer(const std::string& text, const char* method = "GET") {
  std::size_t scanned = 0;
  const auto end = FindHeadEnd(text, scanned);
  if (!end || !*end) return std::unexpected(HttpProblem{400, "no head"});
  return ParseResponseHead(std::string_view(text).substr(0, **end), method);
}

TEST(ResponseHead, SaysHowItsBodyEnds) {
  using Kind = Framing::Kind;
  EXPECT_EQ(Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")->body,
            (Framing{Kind::kLength, 5}));
  EXPECT_EQ(Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")->body.kind,
            Kind::kChunked);
  EXPECT_EQ(Answer("HTTP/1.1 200\r\n\r\n")->body.kind, Kind::kUntilClose);
  EXPECT_EQ(Answer("HTTP/1.1 204 No Content\r\n\r\n")->body.kind, Kind::kNone);
  EXPECT_EQ(Answer("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n")->body.kind,
            Kind::kNone);
  EXPECT_EQ(Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD")->body.kind, Kind::kNone);
  EXPECT_EQ(Answer("HTTP/1.1 100 Continue\r\n\r\n")->body.kind, Kind::kNone);
  EXPECT_EQ(
      ToText(*Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD"), After::kKeepOpen),
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  EXPECT_FALSE(Answer("HTTP/1.0 200 OK\r\n\r\n")->keep_alive);
  EXPECT_EQ(ToText(*Answer("HTTP/1.0 200 OK\r\nA: b\r\n\r\n"), After::kClose),
            "HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n");
}

TEST(ResponseHead, IsReadStrictly) {
  for (const char* text :
       {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n"}) {
    EXPECT_FALSE(Answer(text)) << text;
  }
}

}  // namespace
}  // namespace igloo::network
