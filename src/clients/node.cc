#include "clients/node.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace igloo::clients {
namespace {

/// Bytes that continue a UTF-8 character count for none.
std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string LineOf(std::string_view file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  return fmt::format("{}:{}", file, std::ranges::count(before, '\n') + 1);
}

Error ToError(std::string_view file, std::string_view text, const Mistake& mistake) {
  std::string_view before = text.substr(0, std::min(mistake.offset, text.size()));
  if (before.starts_with(kByteOrderMark)) before.remove_prefix(kByteOrderMark.size());
  const std::size_t newline = before.rfind('\n');
  const std::size_t begins = newline == std::string_view::npos ? 0 : newline + 1;
  return {Errc::kFailedPrecondition,
          fmt::format("{}:{}: {}", LineOf(file, text, mistake.offset),
                      Characters(before.substr(begins)) + 1, mistake.what),
          mistake.hint, 0};
}

void AppendUtf8(std::string& out, char32_t character) {
  const auto add = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0U | (character >> 6U));
    add(0x80U | (character & 0x3FU));
  } else if (character < 0x10000) {
    add(0xE0U | (character >> 12U));
    add(0x80U | ((character >> 6U) & 0x3FU));
    add(0x80U | (character & 0x3FU));
  } else {
    add(0xF0U | (character >> 18U));
    add(0x80U | ((character >> 12U) & 0x3FU));
    add(0x80U | ((character >> 6U) & 0x3FU));
    add(0x80U | (character & 0x3FU));
  }
}

long ReadHex(std::string_view text, std::size_t at, std::size_t digits) {
  if (at > text.size() || text.size() - at < digits) return -1;
  long value = 0;
  for (const char c : text.substr(at, digits)) {
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

std::string_view NewlineOf(std::string_view text) {
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos || newline == 0) return "\n";
  return text[newline - 1] == '\r' ? "\r\n" : "\n";
}

std::string Cut(std::string_view text, std::size_t begin, std::size_t end) {
  std::string out(text.substr(0, begin));
  out += text.substr(end);
  return out;
}

Scanned<void> CheckUtf8(std::string_view text) {
  const std::string valid = ToUtf8(text);
  if (valid == text) return {};
  const auto difference = std::ranges::mismatch(text, valid).in1;
  return std::unexpected(Mistake{static_cast<std::size_t>(difference - text.begin()),
                                 "this is not UTF-8", "save the file as UTF-8"});
}

}  // namespace igloo::clients
