#include "config/toml_depth.h"

#include <algorithm>

namespace igloo::config {
namespace {

/// The bytes behind the string that begins at the front of `text` (a quote of either kind), or
/// nothing when it does not end: then the parser stops there, too.
std::string_view SkipString(std::string_view text) {
  const char quote = text[0];
  const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
  const bool multi_line = text.starts_with(three);
  text.remove_prefix(multi_line ? 3 : 1);
  while (!text.empty()) {
    if (text[0] == '\\' && quote == '"') {
      text.remove_prefix(std::min<std::size_t>(2, text.size()));
    } else if (multi_line && text.starts_with(three)) {
      text.remove_prefix(3);
      // Up to two quotes may stand directly before the closing three.
      for (int i = 0; i < 2 && text.starts_with(quote); ++i) text.remove_prefix(1);
      return text;
    } else if (!multi_line && (text[0] == quote || text[0] == '\n')) {
      text.remove_prefix(text[0] == quote ? 1 : 0);
      return text;
    } else {
      text.remove_prefix(1);
    }
  }
  return {};
}

Position PositionOf(std::string_view text, std::size_t offset) {
  Position where{1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      where = {where.line + 1, 1};
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++where.column;  // not in the middle of a character
    }
  }
  return where;
}

/// Where the first byte stands that `matches`, of those that are in no text and no comment.
template <class Matches>
std::optional<Position> FindOutsideText(std::string_view text, Matches matches) {
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // a byte order mark
  while (!rest.empty()) {
    if (rest[0] == '"' || rest[0] == '\'') {
      rest = SkipString(rest);
    } else if (rest[0] == '#') {
      const std::size_t end = rest.find('\n');
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
    } else {
      if (matches(rest[0])) return PositionOf(text, text.size() - rest.size());
      rest.remove_prefix(1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Position> FindDeepKey(std::string_view text) {
  constexpr std::string_view kEndOfKey = "\n=,[]{}";
  int dots = 0;
  return FindOutsideText(text, [&](char c) {
    if (kEndOfKey.find(c) != std::string_view::npos) dots = 0;
    return c == '.' && ++dots >= kMaxKeyParts;
  });
}

std::optional<Position> FindStrayCharacter(std::string_view text) {
  return FindOutsideText(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace igloo::config
