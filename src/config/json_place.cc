#include "config/json_place.h"

#include <algorithm>

namespace igloo::config {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// Steps over the values of a text that a parser has accepted. Never recurses: the text chooses how
/// deep it is.
class Walker {
 public:
  Walker(std::string_view text, std::size_t at) : text_(text), at_(at) { SkipSpace(); }

  std::size_t at() const { return at_; }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Step() {
    ++at_;
    SkipSpace();
  }
  /// The string that begins here as it is written, without its quotes.
  std::string_view TakeString() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view raw = text_.substr(begin, at_ - begin);
    Step();
    return raw;
  }
  void SkipValue() {
    int depth = 0;
    do {
      const char c = Peek();
      if (c == '"') {
        TakeString();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (std::string_view("{}[],:").contains(c)) {
        Step();
      } else {
        at_ = std::min(text_.find_first_of("{}[],: \t\r\n", at_), text_.size());
        SkipSpace();
      }
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  void SkipSpace() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  std::string_view text_;
  std::size_t at_;
};

constexpr std::size_t kNowhere = std::string_view::npos;

/// A child and where it is said to be.
struct Child {
  std::size_t place = kNowhere;
  std::size_t value = kNowhere;
};

Child FindMember(std::string_view text, std::size_t object, std::string_view key) {
  Child found;
  Walker walker(text, object);
  walker.Step();
  while (walker.Peek() == '"') {
    const std::size_t place = walker.at();
    const bool same = walker.TakeString() == key;
    walker.Step();  // ':'
    // Of two members with one key the last counts, as it does for the parser.
    if (same) found = {place, walker.at()};
    walker.SkipValue();
    if (walker.Peek() == ',') walker.Step();
  }
  return found;
}

Child FindItem(std::string_view text, std::size_t array, std::string_view index) {
  Walker walker(text, array);
  walker.Step();
  for (std::size_t i = 0; walker.Peek() != ']' && walker.Peek() != '\0'; ++i) {
    if (std::to_string(i) == index) return {walker.at(), walker.at()};
    walker.SkipValue();
    if (walker.Peek() == ',') walker.Step();
  }
  return {};
}

}  // namespace

Position PositionAt(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line = before.rfind('\n') + 1;  // npos + 1 is the first line's begin
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  return {static_cast<std::uint32_t>(1 + std::ranges::count(before, '\n')),
          static_cast<std::uint32_t>(1 + std::ranges::count_if(before.substr(line), is_start))};
}

Position FindInJson(std::string_view text, std::span<const std::string> path) {
  std::size_t value = Walker(text, 0).at(), place = value;
  for (const std::string& step : path) {
    const char kind = value < text.size() ? text[value] : '\0';
    const Child child = kind == '{'   ? FindMember(text, value, step)
                        : kind == '[' ? FindItem(text, value, step)
                                      : Child{};
    if (child.place == kNowhere) break;
    place = child.place;
    value = child.value;
  }
  return PositionAt(text, place);
}

}  // namespace igloo::config
