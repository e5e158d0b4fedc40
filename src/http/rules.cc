#include "http/rules.h"

#include <algorithm>

#include "base/text.h"

namespace igloo::http {

namespace {

/// The name of `localhost:80` and its port, each empty when it is not there; both are when
/// something else than a port follows the name.
struct Authority {
  std::string_view host = {}, port = {};
};

Authority SplitAuthority(std::string_view authority) {
  const std::size_t from = authority.starts_with('[') ? authority.find(']') : 0;
  if (from == std::string_view::npos) return {};
  const std::size_t end = std::min(authority.find(':', from), authority.size());
  const std::string_view port = authority.substr(std::min(end + 1, authority.size()));
  const std::string_view host = authority.substr(0, end);
  const bool whole = from == 0 || host.ends_with(']');
  const bool number = std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return whole && number ? Authority{host, port} : Authority{};
}

}  // namespace

bool HostAllowed(std::string_view authority, const OwnNames& own) {
  const std::string host = AsciiLower(SplitAuthority(authority).host);
  return std::ranges::find(own.names, host) != own.names.end() ||
         (own.any_number && IsNumber(host));
}

bool OriginAllowed(std::string_view origin, const OwnNames& own) {
  if (origin.empty()) return true;  // not a browser
  const std::size_t end = origin.find("://");
  if (end == std::string_view::npos) return false;
  const std::string scheme = AsciiLower(origin.substr(0, end));
  if (scheme != "http" && scheme != "https") return false;
  const std::string_view authority = origin.substr(end + 3);
  if (!HostAllowed(authority, own)) return false;
  std::string_view port = SplitAuthority(authority).port;
  if (port.empty()) port = scheme == "http" ? "80" : "443";
  return own.port == 0 || port == std::to_string(own.port);
}

bool IsJson(std::string_view content_type) {
  std::string type = AsciiLower(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ') || type.ends_with('\t')) type.pop_back();
  return type == "application/json";
}

}  // namespace igloo::http
