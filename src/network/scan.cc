#include "network/scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/base64.h"
#include "network/http_fields.h"

namespace igloo::network {

namespace {

/// A character of base64 stands for six bits, a byte has eight.
constexpr std::size_t kBitsPerByte = 8, kBitsPerCharacter = 6, kBytesPerGroup = 3;

/// The characters of base64 that stand for bits of `value` alone, where `before` bytes precede it
/// in its group.
std::string Base64Within(std::string_view value, std::size_t before) {
  const std::string encoded = ToBase64(std::string(before, '\0') + std::string(value));
  const std::size_t first = (before * kBitsPerByte + kBitsPerCharacter - 1) / kBitsPerCharacter;
  const std::size_t end = (before + value.size()) * kBitsPerByte / kBitsPerCharacter;
  return encoded.substr(first, end - first);
}

std::vector<std::uint32_t> BordersOf(std::string_view text) {
  std::vector<std::uint32_t> border(text.size(), 0);
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    while (length > 0 && text[i] != text[length]) length = border[length - 1];
    if (text[i] == text[length]) ++length;
    border[i] = length;
  }
  return border;
}

bool GoesToASecretsDomain(const std::vector<Secret>& secrets, const Request& request) {
  const auto* host = std::get_if<Name>(&request.host);
  return host != nullptr &&
         std::ranges::any_of(secrets, [&](const Secret& each) { return each.domain == *host; });
}

}  // namespace

SecretPatterns::SecretPatterns(const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    Add(secret, secret.value);
    for (std::size_t before = 0; before < kBytesPerGroup; ++before) {
      const std::string encoded = Base64Within(secret.value, before);
      Add(secret, encoded);
      // The alphabet that is safe in URLs.
      std::string safe = encoded;
      std::ranges::replace(safe, '+', '-');
      std::ranges::replace(safe, '/', '_');
      Add(secret, std::move(safe));
    }
  }
  std::ranges::sort(patterns_, std::ranges::greater{},
                    [](const Pattern& each) { return each.text.size(); });
}

void SecretPatterns::Add(const Secret& secret, std::string text) {
  const bool known = std::ranges::any_of(patterns_, [&](const Pattern& each) {
    return each.text == text && each.name == secret.name;
  });
  if (known) return;  // a secret of several hosts, or base64 that is the same in both alphabets
  auto border = BordersOf(text);
  patterns_.push_back({.text = std::move(text),
                       .placeholder = secret.placeholder,
                       .name = secret.name,
                       .border = std::move(border)});
}

SecretScan::SecretScan(const SecretPatterns& patterns)
    : patterns_(patterns), matched_(patterns.list().size(), 0) {}

void SecretScan::CleanHead(std::string& head) {
  for (const SecretPatterns::Pattern& pattern : patterns_.list()) {
    if (!ReplaceAll(head, pattern.text, pattern.placeholder)) continue;
    if (found_.insert(pattern.name).second) untold_.push_back(pattern.name);
  }
}

void SecretScan::Follow(std::size_t index, std::string_view content) {
  const SecretPatterns::Pattern& pattern = patterns_.list()[index];
  const std::string_view text = pattern.text;
  const std::size_t before = held_.size() - content.size();
  std::size_t matched = matched_[index];
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (matched == 0) {
      // Most bytes begin nothing.
      const void* next = std::memchr(content.data() + i, text.front(), content.size() - i);
      if (next == nullptr) break;
      i = static_cast<std::size_t>(static_cast<const char*>(next) - content.data());
    }
    while (matched > 0 && text[matched] != content[i]) matched = pattern.border[matched - 1];
    if (text[matched] == content[i]) ++matched;
    if (matched < text.size()) continue;
    hits_.push_back({index, before + i + 1 - matched});
    matched = 0;  // what overlaps with it is not whole any more once it is masked
  }
  matched_[index] = matched;
}

void SecretScan::Take(std::string_view content, std::string& out) {
  held_ += content;
  const std::string_view added = std::string_view(held_).substr(held_.size() - content.size());
  std::size_t open = 0;
  for (std::size_t i = 0; i < matched_.size(); ++i) {
    Follow(i, added);
    open = std::max(open, matched_[i]);
  }
  // After all have looked: a mask must not hide the value of another secret from its pattern.
  for (const Hit& hit : hits_) {
    const SecretPatterns::Pattern& pattern = patterns_.list()[hit.pattern];
    held_.replace(hit.at, pattern.text.size(), pattern.text.size(), '*');
    if (found_.insert(pattern.name).second) untold_.push_back(pattern.name);
  }
  hits_.clear();
  out.append(held_, 0, held_.size() - open);
  held_.erase(0, held_.size() - open);
}

void SecretScan::Finish(std::string& out) {
  out += std::exchange(held_, {});
  std::ranges::fill(matched_, 0);
}

std::vector<std::string> SecretScan::TakeFound() { return std::exchange(untold_, {}); }

void AskForPlainText(const std::vector<Secret>& secrets, RequestHead& head) {
  if (!GoesToASecretsDomain(secrets, head.request)) return;
  std::erase_if(head.headers,
                [](const Header& each) { return EqualIgnoringCase(each.name, "Accept-Encoding"); });
  head.headers.push_back({"Accept-Encoding", "identity"});
}

bool IsEncoded(const ResponseHead& head) {
  return std::ranges::any_of(head.headers, [](const Header& each) {
    return EqualIgnoringCase(each.name, "Content-Encoding") && !each.value.empty() &&
           !EqualIgnoringCase(each.value, "identity");
  });
}

}  // namespace igloo::network
