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

constexpr std::size_t kLongestSecret = 16U << 10, kShortestSecret = 6;
constexpr std::size_t kLongestName = 128, kShortestPlaceholder = 40;
constexpr std::string_view kBasic = "Basic ";

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

bool ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  std::string replaced;
  std::size_t from = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
    replaced.append(text, from, at - from).append(with);
    from = at + what.size();
  }
  if (from == 0) return false;
  replaced.append(text, from);
  text = std::move(replaced);
  return true;
}

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

Result<std::vector<std::string>> ParseHeaderNames(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!IsToken(name)) {
      return Fail(Errc::kInvalidArgument, "that is no name of a header",
                  "write one such as Authorization, or several with commas");
    }
    names.emplace_back(name);
    if (names.size() > kMostSecretHeaders) {
      return Fail(Errc::kInvalidArgument, "a secret has more than 16 headers", "name fewer");
    }
    if (comma == std::string_view::npos) return names;
    text.remove_prefix(comma + 1);
  }
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
  if (secret.value.size() < kShortestSecret) {
    return Fail(Errc::kInvalidArgument, who + " is shorter than 6 characters",
                "use a longer one: igloo takes it out of answers, where a text as short stands "
                "by chance");
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
  // SECURITY: without one, code could put the value into a header that the server repeats.
  if (secret.headers.empty()) {
    return Fail(Errc::kInvalidArgument, who + " names no header that it may stand in",
                "write --secret " + secret.name +
                    "=SOURCE@HOST:Authorization, or header = \"Authorization\" in its section");
  }
  if (!std::ranges::all_of(secret.headers, [](const auto& each) { return IsToken(each); })) {
    return Fail(Errc::kInvalidArgument, who + " names something that is no name of a header",
                "write one such as Authorization");
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
      const bool named = std::ranges::any_of(
          secret.headers, [&](const auto& each) { return EqualIgnoringCase(each, header.name); });
      if (!named) continue;
      found = ReplaceAll(header.value, secret.placeholder, secret.value) || found;
      found = ReplaceInBasic(header, secret) || found;
    }
    if (found) used.push_back(secret.name);
  }
  return used;
}

}  // namespace igloo::network
