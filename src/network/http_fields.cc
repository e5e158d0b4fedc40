#include "network/http_fields.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace igloo::network {

namespace {

constexpr std::size_t kMostHeaders = 200;
/// 18 digits never overflow.
constexpr std::size_t kLongestNumber = 18;

/// Meant for the connection to the proxy, not for the server.
constexpr std::array<std::string_view, 9> kHopHeaders = {
    "connection", "proxy-connection",    "keep-alive",         "te",    "upgrade",
    "trailer",    "proxy-authorization", "proxy-authenticate", "expect"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::unexpected<HttpProblem> Bad(std::string reason) {
  return std::unexpected(HttpProblem{400, std::move(reason)});
}

bool IsTokenByte(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kOthers.find(c) != std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

HttpResult<std::uint64_t> ParseLength(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // SECURITY: "+5", "5, 5" and "0x5" are read differently by different servers.
  if (error != std::errc() || end != text.data() + text.size() || text.size() > kLongestNumber) {
    return Bad("the Content-Length is no number");
  }
  return value;
}

/// The words of a list header, in lower case.
std::vector<std::string> Words(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string word(Trimmed(list.substr(0, comma)));
    std::ranges::transform(word, word.begin(), Lower);
    if (!word.empty()) words.push_back(std::move(word));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return words;
}

HttpResult<Header> ParseField(std::string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t')) return Bad("a header is folded");
  const std::size_t colon = line.find(':');
  // SECURITY: with "Host : x" one reader sees a header and another sees none.
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    return Bad("'" + Printable(Quoted(line, 60)) + "' is no header");
  }
  return Header{std::string(line.substr(0, colon)), std::string(Trimmed(line.substr(colon + 1)))};
}

/// Takes what the reader itself needs; true when the header is not one to be sent on.
HttpResult<bool> Understand(const Header& header, Fields& fields,
                            std::vector<std::string>& hop_names) {
  const auto is = [&](std::string_view name) { return EqualIgnoringCase(header.name, name); };
  if (is("Host")) {
    if (fields.host) return Bad("there are two Host headers");
    fields.host = header.value;
    return true;
  }
  if (is("Content-Length")) {
    if (fields.content_length) return Bad("there are two Content-Length headers");
    const auto length = ParseLength(header.value);
    if (!length) return std::unexpected(length.error());
    fields.content_length = *length;
    return true;
  }
  if (is("Transfer-Encoding")) {
    if (fields.chunked) return Bad("there are two Transfer-Encoding headers");
    if (!EqualIgnoringCase(header.value, "chunked")) {
      return Bad("the Transfer-Encoding is not 'chunked'");
    }
    fields.chunked = true;
    return true;
  }
  if (is("Expect")) {
    if (!EqualIgnoringCase(header.value, "100-continue")) {
      return std::unexpected(HttpProblem{417, "the expectation is not '100-continue'"});
    }
    fields.expects_continue = true;
  }
  if (is("Connection") || is("Proxy-Connection")) {
    for (std::string& word : Words(header.value)) {
      fields.close = fields.close || word == "close";
      fields.keep_alive = fields.keep_alive || word == "keep-alive";
      hop_names.push_back(std::move(word));
    }
  }
  return false;
}

}  // namespace

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return Lower(x) == Lower(y); });
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenByte);
}

std::string_view TakeLine(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

HttpResult<Fields> ParseFields(std::string_view lines) {
  Fields fields;
  std::vector<std::string> hop_names(kHopHeaders.begin(), kHopHeaders.end());
  std::vector<Header> headers;
  while (!lines.empty()) {
    auto header = ParseField(TakeLine(lines));
    if (!header) return std::unexpected(header.error());
    const auto taken = Understand(*header, fields, hop_names);
    if (!taken) return std::unexpected(taken.error());
    if (*taken) continue;
    if (headers.size() == kMostHeaders) {
      return std::unexpected(HttpProblem{431, "there are more than 200 headers"});
    }
    headers.push_back(*std::move(header));
  }
  // SECURITY: the two together are how requests are smuggled past a reader that obeys the other.
  if (fields.chunked && fields.content_length) {
    return Bad("Transfer-Encoding and Content-Length stand together");
  }
  for (Header& header : headers) {
    const bool hop = std::ranges::any_of(
        hop_names, [&](const std::string& name) { return EqualIgnoringCase(header.name, name); });
    if (!hop) fields.headers.push_back(std::move(header));
  }
  return fields;
}

void AppendFields(const std::vector<Header>& headers, const Framing& body, std::string& text) {
  for (const Header& header : headers) text += header.name + ": " + header.value + "\r\n";
  if (body.kind == Framing::Kind::kLength) {
    text += "Content-Length: " + std::to_string(body.length) + "\r\n";
  }
  if (body.kind == Framing::Kind::kChunked) text += "Transfer-Encoding: chunked\r\n";
}

}  // namespace igloo::network
