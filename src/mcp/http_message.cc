#include "mcp/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Parser = http::request_parser<http::string_body>;

namespace {

/// The headers that decide anything. SECURITY: of two with the same name, what stands between might
/// have looked at the other one.
constexpr std::string_view kDeciding[] = {
    "Host",       "Origin",   "Authorization", "Content-Type", "MCP-Protocol-Version",
    "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"};

std::string Field(const Parser& parser, std::string_view name) {
  const auto found = parser.get().find(name);
  return found != parser.get().end() ? std::string(found->value()) : std::string();
}

HttpFailure FailureOf(const boost::system::error_code& error) {
  if (error == http::error::body_limit) {
    return {413, "the message is too long; send less at once"};
  }
  if (error == http::error::header_limit) return {431, "the headers are too long"};
  if (error.category() == make_error_code(http::error::bad_method).category()) {
    return {400, "this is not HTTP: " + error.message()};
  }
  return {};
}

HttpHead HeadOf(const Parser& parser) {
  return {.method = std::string(parser.get().method_string()),
          .target = std::string(parser.get().target()),
          .headers = {.host = Field(parser, "Host"),
                      .origin = Field(parser, "Origin"),
                      .authorization = Field(parser, "Authorization"),
                      .content_type = Field(parser, "Content-Type"),
                      .version = Field(parser, "MCP-Protocol-Version"),
                      .method = Field(parser, "Mcp-Method"),
                      .name = Field(parser, "Mcp-Name"),
                      .session = Field(parser, "Mcp-Session-Id")},
          .version = parser.get().version(),
          .keep_alive = parser.get().keep_alive(),
          .expects_continue = Field(parser, "Expect") == "100-continue"};
}

/// `http://localhost:80/mcp`: the form that proxies are asked in. What it names counts instead of
/// the Host header.
void ResolveTarget(HttpHead& head) {
  const std::string_view target(head.target);
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return;
  const std::string_view rest = target.substr(scheme + 3);
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  head.headers.host = std::string(rest.substr(0, path));
  head.target = std::string(rest.substr(path));
}

/// On every answer. No browser is a client of this server; if one is led here all the same, it
/// must not guess a type, show the answer as a page or in a frame, tell others of it, or keep it.
constexpr std::string_view kForBrowsers =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

std::string_view ConnectionField(After after) {
  return after == After::kClose ? "Connection: close\r\n" : "";
}

}  // namespace

struct HttpParser::State {
  /// True when `done` says so; false when more bytes are needed.
  template <class Done>
  std::expected<bool, HttpFailure> Feed(std::string& bytes, const Done& done) {
    while (!done()) {
      boost::system::error_code error;
      const std::size_t used = parser.put(asio::buffer(bytes), error);
      bytes.erase(0, used);
      if (error && error != http::error::need_more) return std::unexpected(FailureOf(error));
      if (!done() && (used == 0 || bytes.empty())) return false;
    }
    return true;
  }

  Parser parser = {};
};

HttpParser::HttpParser(std::size_t longest_head, std::size_t longest_body)
    : state_(std::make_unique<State>()) {
  state_->parser.header_limit(static_cast<std::uint32_t>(longest_head));
  state_->parser.body_limit(longest_body);
}

HttpParser::~HttpParser() = default;

std::expected<std::optional<HttpHead>, HttpFailure> HttpParser::Head(std::string& bytes) {
  const Parser& parser = state_->parser;
  const auto done = state_->Feed(bytes, [&] { return parser.is_header_done(); });
  if (!done) return std::unexpected(done.error());
  if (!*done) return std::nullopt;
  for (const std::string_view name : kDeciding) {
    if (parser.get().count(name) > 1) {
      return std::unexpected(HttpFailure{400, fmt::format("the header {} is there twice", name)});
    }
  }
  HttpHead head = HeadOf(parser);
  ResolveTarget(head);
  return head;
}

std::expected<std::optional<std::string>, HttpFailure> HttpParser::Body(std::string& bytes) {
  // Beast asserts that the last chunk is looked at in no smaller pieces; this much is always still
  // to come.
  constexpr std::string_view kLastChunk = "0\r\n\r\n";
  const bool chunked = !state_->parser.is_done() && state_->parser.chunked();
  if (chunked && bytes.size() < kLastChunk.size()) return std::nullopt;
  const auto done = state_->Feed(bytes, [&] { return state_->parser.is_done(); });
  if (!done) return std::unexpected(done.error());
  return *done ? std::optional(std::move(state_->parser.get().body())) : std::nullopt;
}

std::string ResponseHead(const HttpResponse& response, After after) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\n{}{}", response.status,
      std::string_view(http::obsolete_reason(static_cast<http::status>(response.status))),
      ConnectionField(after), kForBrowsers);
  if (!response.body.empty()) bytes += "Content-Type: application/json\r\n";
  for (const auto& [name, value] : response.fields) bytes += fmt::format("{}: {}\r\n", name, value);
  bytes += fmt::format("Content-Length: {}\r\n\r\n", response.body.size());
  return bytes;
}

std::string EventsHead(After after) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\n{}{}Content-Type: text/event-stream\r\n"
      "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n",
      ConnectionField(after), kForBrowsers);
}

std::vector<std::string> EventChunk(std::string message) {
  constexpr std::string_view kBefore = "event: message\ndata: ", kAfter = "\n\n";
  if (message.empty()) return {"4\r\n: \n\n\r\n"};
  const std::size_t size = kBefore.size() + message.size() + kAfter.size();
  std::vector<std::string> parts;
  parts.push_back(fmt::format("{:x}\r\n{}", size, kBefore));
  parts.push_back(std::move(message));
  parts.push_back(fmt::format("{}\r\n", kAfter));
  return parts;
}

std::string EventsEnd() { return "0\r\n\r\n"; }

}  // namespace igloo::mcp
