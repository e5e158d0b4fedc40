#include "network/secret.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/base64.h"
#include "network/http_fields.h"

namespace igloo::network {

namespace {

constexpr std::size_t kLongestSecret = 16U << 10, kLongestName = 128, kShortestPlaceholder = 40;
constexpr std::string_view kBasic = "Basic ";

bool ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  bool found = false;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
    found = true;
  }
  return found;
}

/// "Basic" hides user and password in base64.
bool ReplaceInBasic(Header& header, const Secret& secret) {
  if (!EqualIgnoringCase(header.name, "Authorization") ||
      !EqualIgnoringCase(std::string_view(header.value).substr(0, kBasic.size()), kBasic)) {
    return false;
  }
  auto plain = FromBase64(std::string_view(header.value).substr(kBasic.size()));
  if (!plain || !ReplaceAll(*plain, secret.placeholder, secret.value)) return false;
  header.value = std::string(kBasic) + ToBase64(*plain);
  return true;
}

bool IsVisible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

Result<std::string> NewPlaceholder(std::string_view name) {
  std::array<unsigned char, 16> random = {};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a placeholder");
  }
  std::string text(kPlaceholderPrefix);
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += plain ? c : '-';
  }
  text += '-';
  constexpr char kDigits[] = "0123456789abcdef";
  for (const unsigned char byte : random) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

Result<void> CheckSecret(const Secret& secret) {
  const std::string who = "the secret '" + secret.name + "'";
  const bool named = !secret.name.empty() && secret.name.size() <= kLongestName;
  if (!named || !IsVisible(secret.name)) {
    return Fail(Errc::kInvalidArgument, "a secret has no proper name");
  }
  if (secret.value.empty() || secret.value.size() > kLongestSecret) {
    return Fail(Errc::kInvalidArgument, who + " is empty or longer than 16 KB");
  }
  // SECURITY: a line end would let the value write headers of its own.
  if (!IsVisible(secret.value)) {
    return Fail(Errc::kInvalidArgument, who + " holds a byte that no header may hold",
                "give it without a line end");
  }
  if (!secret.placeholder.starts_with(kPlaceholderPrefix) ||
      secret.placeholder.size() < kShortestPlaceholder || !IsVisible(secret.placeholder)) {
    return Fail(Errc::kInvalidArgument, who + " has a placeholder that could be guessed");
  }
  if (!secret.header.empty() && !IsToken(secret.header)) {
    return Fail(Errc::kInvalidArgument, "'" + secret.header + "' is no name of a header");
  }
  return {};
}

std::vector<std::string> UseSecrets(const std::vector<Secret>& secrets, RequestHead& head) {
  std::vector<std::string> used;
  // SECURITY: only what goes out encrypted to a server whose name is checked.
  const auto* host = std::get_if<Name>(&head.request.host);
  if (host == nullptr || head.request.way != Request::Way::kHttps) return used;
  for (const Secret& secret : secrets) {
    if (secret.domain != *host) continue;
    bool found = false;
    for (Header& header : head.headers) {
      if (!secret.header.empty() && !EqualIgnoringCase(secret.header, header.name)) continue;
      found = ReplaceAll(header.value, secret.placeholder, secret.value) || found;
      found = ReplaceInBasic(header, secret) || found;
    }
    if (found) used.push_back(secret.name);
  }
  return used;
}

}  // namespace igloo::network
