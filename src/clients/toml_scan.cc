#include "clients/toml_scan.h"

#include <fmt/format.h>

namespace igloo::clients {
namespace {

constexpr std::string_view kHint = "correct the file first; see https://toml.io";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsBareKey(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Scanned<std::vector<TomlStatement>> Scan() {
    IGLOO_TRY(CheckUtf8(text_));
    IGLOO_TRY(CheckControls());
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    std::vector<TomlStatement> out;
    for (;;) {
      SkipLines();
      if (at_ == text_.size()) return out;
      IGLOO_TRY(Statement(out.emplace_back()));
    }
  }

 private:
  std::unexpected<Mistake> Wrong(std::string what) const {
    return std::unexpected(Mistake{at_, std::move(what), std::string(kHint)});
  }
  /// TOML allows tabs and newlines alone, wherever they stand.
  Scanned<void> CheckControls() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      const bool newline = c == '\n' || (c == '\r' && text_.substr(at_ + 1, 1) == "\n");
      if ((c < 0x20 || c == 0x7f) && !newline && c != '\t') {
        return Wrong("TOML allows no such control character");
      }
    }
    at_ = 0;
    return {};
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  bool TakeNewline() { return Take("\n") || Take("\r\n"); }
  void SkipComment() {
    if (Peek() != '#') return;
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (text_[at_ - 1] == '\r') --at_;
  }
  /// Blanks, comments and newlines: between statements and inside arrays.
  void SkipLines() {
    do {
      SkipBlanks();
      SkipComment();
    } while (TakeNewline());
  }

  Scanned<void> Statement(TomlStatement& out) {
    out.begin = at_;
    if (Peek() == '[') {
      const bool array = Take("[[");
      if (!array) ++at_;
      out.kind = array ? TomlStatement::Kind::kTableArray : TomlStatement::Kind::kTable;
      IGLOO_TRY(Key(out.path));
      if (!Take(array ? "]]" : "]")) return Wrong("']' should stand here");
      table_ = out.path;
    } else {
      out.path = table_;
      IGLOO_TRY(Key(out.path));
      if (Peek() != '=') return Wrong("'=' should stand here");
      ++at_;
      SkipBlanks();
      IGLOO_TRY(Value(out.value, 0));
    }
    out.content_end = at_;
    SkipBlanks();
    SkipComment();
    if (at_ != text_.size() && !TakeNewline()) return Wrong("the line should end here");
    out.end = at_;
    return {};
  }

  /// One or more parts with dots between, and the blanks around them.
  Scanned<void> Key(std::vector<std::string>& path) {
    do {
      SkipBlanks();
      std::string part;
      if (Peek() == '"' || Peek() == '\'') {
        if (text_.substr(at_, 3) == "\"\"\"" || text_.substr(at_, 3) == "'''") {
          return Wrong("a key stands on one line");
        }
        IGLOO_TRY(String(part));
      } else {
        while (IsBareKey(Peek())) part += text_[at_++];
        if (part.empty()) return Wrong("a key should stand here");
      }
      path.push_back(std::move(part));
      if (path.size() > kMaxDepth) return Wrong("a key with too many parts");
      SkipBlanks();
    } while (Take("."));
    return {};
  }

  Scanned<void> Value(Node& node, int depth) {
    if (depth > kMaxDepth) return Wrong(fmt::format("nested more than {} deep", kMaxDepth));
    node.begin = at_;
    switch (Peek()) {
      case '"':
      case '\'':
        node.type = Node::Type::kString;
        IGLOO_TRY(String(node.text));
        break;
      case '[':
        IGLOO_TRY(Array(node, depth));
        break;
      case '{':
        IGLOO_TRY(InlineTable(node, depth));
        break;
      default:
        IGLOO_TRY(Other());
    }
    node.end = at_;
    return {};
  }

  Scanned<void> Array(Node& node, int depth) {
    node.type = Node::Type::kArray;
    ++at_;
    for (;;) {
      SkipLines();
      if (Take("]")) return {};
      IGLOO_TRY(Value(node.items.emplace_back(), depth + 1));
      SkipLines();
      if (Take(",")) continue;
      if (!Take("]")) return Wrong("',' or ']' should stand here");
      return {};
    }
  }

  /// Newlines are taken, too: newer TOML has them here.
  Scanned<void> InlineTable(Node& node, int depth) {
    node.type = Node::Type::kObject;
    ++at_;
    for (;;) {
      SkipLines();
      if (Take("}")) return {};
      Member member;
      member.key_begin = at_;
      std::vector<std::string> path;
      IGLOO_TRY(Key(path));
      member.key_end = at_;
      member.key = path.front();
      if (!Take("=")) return Wrong("'=' should stand here");
      SkipBlanks();
      IGLOO_TRY(Value(member.value, depth + 1));
      node.members.push_back(std::move(member));
      SkipLines();
      if (Take(",")) continue;
      if (!Take("}")) return Wrong("',' or '}' should stand here");
      return {};
    }
  }

  Scanned<void> String(std::string& out) {
    const std::size_t begin = at_;
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool lines = Take(three);
    if (!lines) ++at_;
    if (lines) TakeNewline();
    for (;;) {
      if (at_ == text_.size() || (!lines && text_[at_] == '\n')) {
        at_ = begin;
        return Wrong("this text in quotes has no end");
      }
      if (lines ? text_.substr(at_, 3) == three : text_[at_] == quote) break;
      if (quote == '"' && text_[at_] == '\\') {
        IGLOO_TRY(Escape(out, lines));
      } else {
        out += text_[at_++];
      }
    }
    at_ += lines ? 3 : 1;
    // Up to two more quotes belong to the text itself.
    for (int i = 0; lines && i < 2 && Peek() == quote; ++i, ++at_) out += quote;
    return {};
  }

  Scanned<void> Escape(std::string& out, bool lines) {
    constexpr std::string_view kNames = "\"\\bfnrte", kMeanings = "\"\\\b\f\n\r\t\x1b";
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (const std::size_t found = kNames.find(name); name != '\0' && found < kNames.size()) {
      out += kMeanings[found];
      at_ += 2;
      return {};
    }
    if (name == 'u' || name == 'U' || name == 'x') {
      const std::size_t digits = name == 'u' ? 4 : name == 'U' ? 8 : 2;
      const long value = ReadHex(text_, at_ + 2, digits);
      if (value < 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        return Wrong("this escape stands for no character");
      }
      AppendUtf8(out, static_cast<char32_t>(value));
      at_ += 2 + digits;
      return {};
    }
    // A backslash at the end of a line swallows it and the blanks that follow.
    const std::size_t escape = at_++;
    SkipBlanks();
    if (lines && TakeNewline()) {
      do {
        SkipBlanks();
      } while (TakeNewline());
      return {};
    }
    at_ = escape;
    return Wrong("TOML knows no such escape");
  }

  /// A number, a date, true or false.
  Scanned<void> Other() {
    const std::size_t begin = at_;
    while (IsBareKey(Peek()) || Peek() == '+' || Peek() == '.' || Peek() == ':') ++at_;
    // A date and a time may have a blank between them.
    if (at_ - begin == 10 && text_[begin + 4] == '-' && Peek() == ' ' && at_ + 1 < text_.size() &&
        text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9') {
      ++at_;
      while (IsBareKey(Peek()) || Peek() == '+' || Peek() == '.' || Peek() == ':') ++at_;
    }
    if (at_ == begin) return Wrong("a value should stand here");
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> table_;
};

}  // namespace

Scanned<std::vector<TomlStatement>> ScanToml(std::string_view text) { return Scanner(text).Scan(); }

}  // namespace igloo::clients
