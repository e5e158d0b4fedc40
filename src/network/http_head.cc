#include "network/http_head.h"

#include <algorithm>

#include "base/text.h"
#include "network/http_fields.h"

namespace igloo::network {

namespace {

constexpr std::size_t kLongestMethod = 32;
constexpr unsigned kOldVersion = 10;

std::unexpected<HttpProblem> Bad(std::string reason) {
  return std::unexpected(HttpProblem{400, std::move(reason)});
}

/// Whether a byte may stand in a head; CR and LF are looked at apart.
bool IsHeadByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || c == '\t';
}

struct Authority {
  Host host = Address{};
  std::optional<std::uint16_t> port = {};
};

HttpResult<Authority> ParseAuthority(std::string_view text) {
  Authority authority;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const auto port = ParsePort(text.substr(colon + 1));
    if (!port) return Bad(port.error().what);
    authority.port = *port;
  }
  auto host = ParseHost(text.substr(0, colon));
  if (!host) return Bad(host.error().what);
  authority.host = *std::move(host);
  return authority;
}

struct RequestLine {
  std::string_view method = {}, target = {};
  unsigned version = 11;
};

HttpResult<unsigned> ParseVersion(std::string_view text) {
  if (text == "HTTP/1.1") return 11;
  if (text == "HTTP/1.0") return kOldVersion;
  return std::unexpected(HttpProblem{505, "the version is not HTTP/1.1"});
}

HttpResult<RequestLine> ParseRequestLine(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Bad("this is no request line");
  RequestLine parsed{line.substr(0, first), line.substr(first + 1, last - first - 1)};
  const bool visible = !parsed.target.empty() && std::ranges::all_of(parsed.target, [](char c) {
    return c > 0x20 && c < 0x7f;
  });
  if (!IsToken(parsed.method) || parsed.method.size() > kLongestMethod || !visible) {
    return Bad("this is no request line");
  }
  const auto version = ParseVersion(line.substr(last + 1));
  if (!version) return std::unexpected(version.error());
  parsed.version = *version;
  return parsed;
}

/// Scheme, authority, and path with query of a request.
struct Target {
  Scheme scheme = Scheme::kHttp;
  std::string_view authority = {}, rest = {};
  bool gateway = false;  ///< the base URL's form
};

HttpResult<Target> ParseTarget(std::string_view text) {
  const bool gateway = text.starts_with('/');
  for (const Scheme scheme : {Scheme::kHttp, Scheme::kHttps}) {
    const std::string name(ToText(scheme));
    const std::string start = gateway ? "/" + name + "/" : name + "://";
    if (!EqualIgnoringCase(text.substr(0, start.size()), start)) continue;
    text.remove_prefix(start.size());
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    return Target{scheme, text.substr(0, end), text.substr(end), gateway};
  }
  return Bad(gateway ? "this is a proxy: ask for a whole URL, or for /https/HOST/PATH"
                     : "the URL begins with neither http nor https");
}

HttpResult<void> FillTunnel(const RequestLine& line, const Fields& fields, RequestHead& head) {
  const auto authority = ParseAuthority(line.target);
  if (!authority) return std::unexpected(authority.error());
  if (!authority->port) return Bad("CONNECT names no port");
  if (head.body.kind == Framing::Kind::kChunked || head.body.length > 0) {
    return Bad("CONNECT has no body");
  }
  head.request = {.way = Request::Way::kTunnel, .host = authority->host, .port = *authority->port};
  if (!fields.host) return {};
  const auto host = ParseAuthority(*fields.host);
  // SECURITY: one of the two would be judged and somebody behind us could believe the other.
  if (!host || host->host != authority->host ||
      host->port.value_or(*authority->port) != *authority->port) {
    return Bad("the Host header names another place than CONNECT");
  }
  return {};
}

HttpResult<void> FillRequest(const RequestLine& line, const Fields& fields, RequestHead& head) {
  const auto target = ParseTarget(line.target);
  if (!target) return std::unexpected(target.error());
  if (target->rest.find('#') != std::string_view::npos) return Bad("the URL has a fragment");
  const auto authority = ParseAuthority(target->authority);
  if (!authority) return std::unexpected(authority.error());
  const std::uint16_t port = authority->port.value_or(DefaultPort(target->scheme));
  if (!fields.host && line.version > kOldVersion) return Bad("there is no Host header");
  // The gateway's own name stands there otherwise.
  if (fields.host && !target->gateway) {
    const auto host = ParseAuthority(*fields.host);
    if (!host || host->host != authority->host ||
        host->port.value_or(DefaultPort(target->scheme)) != port) {
      return Bad("the Host header names another place than the URL");
    }
  }
  head.target = target->rest;
  if (!head.target.starts_with('/')) head.target.insert(0, 1, '/');
  // SECURITY: TRACE sends back what it was sent, secrets too.
  if (line.method == "TRACE") return std::unexpected(HttpProblem{405, "TRACE is not served"});
  head.request = {
      .way = target->scheme == Scheme::kHttp ? Request::Way::kHttp : Request::Way::kHttps,
      .host = authority->host,
      .port = port,
      .method = std::string(line.method),
      .path = head.target};
  return {};
}

Framing FramingOf(const Fields& fields) {
  if (fields.chunked) return {Framing::Kind::kChunked};
  if (fields.content_length) return {Framing::Kind::kLength, *fields.content_length};
  return {};
}

bool KeepsAlive(const Fields& fields, unsigned version) {
  return !fields.close && (version > kOldVersion || fields.keep_alive);
}

}  // namespace

HttpResult<std::optional<std::size_t>> FindHeadEnd(std::string_view bytes, std::size_t& scanned,
                                                   std::size_t longest) {
  for (; scanned < bytes.size(); ++scanned) {
    if (scanned >= longest) return std::unexpected(HttpProblem{431, "the head is too long"});
    const char c = bytes[scanned];
    if (c == '\n') {
      // SECURITY: a line that ends with LF alone is one line to some servers and two to others.
      if (scanned == 0 || bytes[scanned - 1] != '\r') return Bad("a line ends without CR");
      if (scanned == 1) return Bad("the first line is empty");
      if (scanned >= 3 && bytes[scanned - 2] == '\n') return ++scanned;
      continue;
    }
    if (scanned > 0 && bytes[scanned - 1] == '\r') return Bad("a CR stands within a line");
    if (c != '\r' && !IsHeadByte(c)) return Bad("the head holds a control byte");
  }
  return std::nullopt;
}

HttpResult<RequestHead> ParseRequestHead(std::string_view head) {
  std::string_view lines = head.substr(0, head.size() - 2);
  const auto line = ParseRequestLine(TakeLine(lines));
  if (!line) return std::unexpected(line.error());
  auto fields = ParseFields(lines);
  if (!fields) return std::unexpected(fields.error());
  if (fields->chunked && line->version == kOldVersion) {
    return Bad("HTTP/1.0 has no Transfer-Encoding");
  }
  RequestHead parsed{.body = FramingOf(*fields),
                     .keep_alive = KeepsAlive(*fields, line->version),
                     .expects_continue = fields->expects_continue};
  const auto filled = line->method == "CONNECT" ? FillTunnel(*line, *fields, parsed)
                                                : FillRequest(*line, *fields, parsed);
  if (!filled) return std::unexpected(filled.error());
  parsed.headers = std::move(fields->headers);
  return parsed;
}

HttpResult<ResponseHead> ParseResponseHead(std::string_view head, std::string_view method) {
  std::string_view lines = head.substr(0, head.size() - 2);
  const std::string_view line = TakeLine(lines);
  const auto version = ParseVersion(line.substr(0, line.find(' ')));
  const bool digits =
      line.size() >= 12 && line[8] == ' ' && line[9] >= '1' && line[9] <= '9' &&
      std::ranges::all_of(line.substr(10, 2), [](char c) { return c >= '0' && c <= '9'; }) &&
      (line.size() == 12 || line[12] == ' ');
  if (!version || !digits) return Bad("the server's first line is no status line");
  auto fields = ParseFields(lines);
  if (!fields) return std::unexpected(fields.error());
  ResponseHead parsed{.status = static_cast<unsigned>((line[9] - '0') * 100 +
                                                      (line[10] - '0') * 10 + (line[11] - '0')),
                      .reason = std::string(line.size() > 13 ? line.substr(13) : ""),
                      .headers = std::move(fields->headers),
                      .body = FramingOf(*fields),
                      .keep_alive = KeepsAlive(*fields, *version)};
  const bool bodiless = parsed.status < 200 || parsed.status == 204 || parsed.status == 304;
  if (bodiless || method == "HEAD") {
    // A length that is told with HEAD or 304 is that of the body which does not come.
    if (fields->content_length && !(parsed.status < 200 || parsed.status == 204)) {
      parsed.headers.push_back({"Content-Length", std::to_string(*fields->content_length)});
    }
    parsed.body = {};
  } else if (parsed.body.kind == Framing::Kind::kNone) {
    parsed.body.kind = Framing::Kind::kUntilClose;
  }
  return parsed;
}

std::string ToText(const RequestHead& head) {
  const Request& request = head.request;
  const Scheme scheme = request.way == Request::Way::kHttps ? Scheme::kHttps : Scheme::kHttp;
  std::string text =
      request.method + " " + head.target + " HTTP/1.1\r\nHost: " + ToText(request.host);
  if (request.port != DefaultPort(scheme)) text += ":" + std::to_string(request.port);
  text += "\r\n";
  AppendFields(head.headers, head.body, text);
  if (head.expects_continue) text += "Expect: 100-continue\r\n";
  return text + "\r\n";
}

std::string ToText(const ResponseHead& head, After after) {
  std::string text = "HTTP/1.1 " + std::to_string(head.status) + " " + head.reason + "\r\n";
  AppendFields(head.headers, head.body, text);
  if (head.status >= 200 && after == After::kClose) text += "Connection: close\r\n";
  return text + "\r\n";
}

}  // namespace igloo::network
