#include "http/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/pch.h"

namespace igloo::http {

namespace asio = boost::asio;
namespace beast = boost::beast::http;
using BeastParser = beast::request_parser<beast::string_body>;

namespace {

/// SECURITY: of two with the same name, what stands between might have looked at the other one.
constexpr std::string_view kSingle[] = {"Host", "Origin", "Authorization", "Content-Type"};

Failure FailureOf(const boost::system::error_code& error) {
  if (error == beast::error::body_limit) {
    return {413, "the message is too long; send less at once"};
  }
  if (error == beast::error::header_limit) return {431, "the headers are too long"};
  if (error.category() == make_error_code(beast::error::bad_method).category()) {
    return {400, "this is not HTTP: " + error.message()};
  }
  return {};
}

Head HeadOf(const BeastParser& parser) {
  Head head{.method = std::string(parser.get().method_string()),
            .target = std::string(parser.get().target()),
            .version = parser.get().version(),
            .keep_alive = parser.get().keep_alive()};
  for (const auto& each : parser.get()) {
    head.fields.Add(std::string(each.name_string()), std::string(each.value()));
  }
  head.host = head.fields.Get("Host");
  head.expects_continue = head.fields.Get("Expect") == "100-continue";
  return head;
}

/// `http://localhost:80/mcp`: the form that proxies are asked in. What it names counts instead of
/// the Host header.
void ResolveTarget(Head& head) {
  const std::string_view target(head.target);
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return;
  const std::string_view rest = target.substr(scheme + 3);
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  head.host = std::string(rest.substr(0, path));
  head.target = std::string(rest.substr(path));
}

/// On every answer that does not say otherwise. A browser that is led here must not guess a type,
/// run the answer as a page or show it in a frame, tell others of it, or keep it.
constexpr std::pair<std::string_view, std::string_view> kForBrowsers[] = {
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"}};

std::string ForBrowsers(const Fields& own) {
  std::string bytes;
  for (const auto& [name, value] : kForBrowsers) {
    if (own.Count(name) == 0) bytes += fmt::format("{}: {}\r\n", name, value);
  }
  return bytes;
}

std::string Lines(const Fields& fields) {
  std::string bytes;
  for (const Field& each : fields) bytes += fmt::format("{}: {}\r\n", each.name, each.value);
  return bytes;
}

std::string_view ConnectionField(After after) {
  return after == After::kClose ? "Connection: close\r\n" : "";
}

}  // namespace

struct Parser::State {
  /// True when `done` says so; false when more bytes are needed.
  template <class Done>
  std::expected<bool, Failure> Feed(std::string& bytes, const Done& done) {
    while (!done()) {
      boost::system::error_code error;
      const std::size_t used = parser.put(asio::buffer(bytes), error);
      bytes.erase(0, used);
      if (error && error != beast::error::need_more) return std::unexpected(FailureOf(error));
      if (!done() && (used == 0 || bytes.empty())) return false;
    }
    return true;
  }

  BeastParser parser = {};
  std::vector<std::string> single = {};
};

Parser::Parser(std::size_t longest_head, std::size_t longest_body,
               const std::vector<std::string>& single)
    : state_(std::make_unique<State>()) {
  state_->parser.header_limit(static_cast<std::uint32_t>(longest_head));
  state_->parser.body_limit(longest_body);
  state_->single.assign(std::begin(kSingle), std::end(kSingle));
  state_->single.insert(state_->single.end(), single.begin(), single.end());
}

Parser::~Parser() = default;

std::expected<std::optional<Head>, Failure> Parser::ReadHead(std::string& bytes) {
  const BeastParser& parser = state_->parser;
  const auto done = state_->Feed(bytes, [&] { return parser.is_header_done(); });
  if (!done) return std::unexpected(done.error());
  if (!*done) return std::nullopt;
  for (const std::string& name : state_->single) {
    if (parser.get().count(name) > 1) {
      return std::unexpected(Failure{400, fmt::format("the header {} is there twice", name)});
    }
  }
  Head head = HeadOf(parser);
  ResolveTarget(head);
  return head;
}

std::expected<std::optional<std::string>, Failure> Parser::ReadBody(std::string& bytes) {
  // Beast asserts that the last chunk is looked at in no smaller pieces; this much is always still
  // to come.
  constexpr std::string_view kLastChunk = "0\r\n\r\n";
  const bool chunked = !state_->parser.is_done() && state_->parser.chunked();
  if (chunked && bytes.size() < kLastChunk.size()) return std::nullopt;
  const auto done = state_->Feed(bytes, [&] { return state_->parser.is_done(); });
  if (!done) return std::unexpected(done.error());
  return *done ? std::optional(std::move(state_->parser.get().body())) : std::nullopt;
}

std::string ResponseHead(const Response& response, After after) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\n{}{}", response.status,
      std::string_view(beast::obsolete_reason(static_cast<beast::status>(response.status))),
      ConnectionField(after), ForBrowsers(response.fields));
  if (!response.body.empty()) bytes += fmt::format("Content-Type: {}\r\n", response.type);
  return bytes + Lines(response.fields) +
         fmt::format("Content-Length: {}\r\n\r\n", response.body.size());
}

std::string EventsHead(After after) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\n{}{}Content-Type: text/event-stream\r\n"
      "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n",
      ConnectionField(after), ForBrowsers({}));
}

std::vector<std::string> EventChunk(Event event) {
  if (event.data.empty()) return {"4\r\n: \n\n\r\n"};
  constexpr std::string_view kAfter = "\n\n";
  const std::string before = fmt::format("event: {}\ndata: ", event.name);
  const std::size_t size = before.size() + event.data.size() + kAfter.size();
  std::vector<std::string> parts;
  parts.push_back(fmt::format("{:x}\r\n{}", size, before));
  parts.push_back(std::move(event.data));
  parts.push_back(fmt::format("{}\r\n", kAfter));
  return parts;
}

std::string EventsEnd() { return "0\r\n\r\n"; }

std::string UpgradeHead(const Fields& fields) {
  return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" + Lines(fields) + "\r\n";
}

}  // namespace igloo::http
