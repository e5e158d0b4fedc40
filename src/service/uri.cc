#include "service/uri.h"

#include <utility>

#include "service/given_path.h"

namespace igloo::service {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

std::optional<unsigned> DigitOf(char c) {
  const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::size_t at = kHex.find(lower);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(at);
}

}  // namespace

std::string EscapeForUri(std::string_view text, Slashes slashes) {
  std::string out;
  for (const char c : text) {
    if (IsPlain(c) || (c == '/' && slashes == Slashes::kKept)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

std::optional<std::string> UnescapeFromUri(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = DigitOf(text[i + 1]), low = DigitOf(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

std::string UriOf(const SessionFile& file) {
  return std::string(kSessionUris) + EscapeForUri(file.session, Slashes::kEscaped) + "/" +
         EscapeForUri(file.path, Slashes::kKept);
}

std::optional<SessionFile> ReadSessionUri(std::string_view uri) {
  if (!uri.starts_with(kSessionUris)) return std::nullopt;
  uri.remove_prefix(kSessionUris.size());
  const std::size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto session = UnescapeFromUri(uri.substr(0, slash));
  auto path = UnescapeFromUri(uri.substr(slash + 1));
  if (!session || !path || !CheckGivenPath(*path)) return std::nullopt;
  return SessionFile{.session = *std::move(session), .path = *std::move(path)};
}

}  // namespace igloo::service
