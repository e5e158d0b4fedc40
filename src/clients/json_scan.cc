#include "clients/json_scan.h"

#include <fmt/format.h>

#include "base/text.h"

namespace igloo::clients {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// The end of a comment that begins at `at`; kNowhere when it has none, `at` when there is none.
std::size_t EndOfComment(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    if (text[end - 1] == '\r') --end;
    return end;
  }
  if (text.substr(at, 2) == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? kNowhere : end + 2;
  }
  return at;
}

class Scanner {
 public:
  Scanner(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {}

  Scanned<JsonText> Scan() {
    IGLOO_TRY(CheckUtf8(text_));
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    IGLOO_TRY(Skip());
    JsonText out;
    if (at_ == text_.size()) {
      out.empty = true;
      return out;
    }
    IGLOO_TRY(Value(out.root, 0));
    IGLOO_TRY(Skip());
    if (at_ != text_.size()) return Wrong("something stands behind the end of the document");
    return out;
  }

 private:
  std::unexpected<Mistake> Wrong(std::string what, std::string hint = "correct the file first") {
    return std::unexpected(Mistake{at_, std::move(what), std::move(hint)});
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Scanned<void> Skip() {
    for (;;) {
      while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
      if (Peek() != '/') return {};
      const std::size_t end = EndOfComment(text_, at_);
      if (end == at_) return Wrong("'/' begins nothing here");
      if (end == kNowhere) return Wrong("this comment has no end");
      if (dialect_ == Dialect::kJson) {
        return Wrong("this file is JSON, which has no comments", "remove the comment");
      }
      at_ = end;
    }
  }

  Scanned<void> Value(Node& node, int depth) {
    if (depth > kMaxDepth) return Wrong(fmt::format("nested more than {} deep", kMaxDepth));
    node.begin = at_;
    switch (Peek()) {
      case '{':
        IGLOO_TRY(Object(node, depth));
        break;
      case '[':
        IGLOO_TRY(Array(node, depth));
        break;
      case '"':
        node.type = Node::Type::kString;
        IGLOO_TRY(String(node.text));
        break;
      default:
        IGLOO_TRY(Other());
    }
    node.end = at_;
    return {};
  }

  /// Behind a member or an item: true when another one follows.
  Scanned<bool> Comma(char close, std::size_t& comma) {
    IGLOO_TRY(Skip());
    if (Peek() == ',') {
      comma = at_++;
      IGLOO_TRY(Skip());
      if (Peek() != close) return true;
      if (dialect_ == Dialect::kJson) {
        at_ = comma;
        return Wrong("JSON has no comma behind the last one", "remove the comma");
      }
    }
    if (at_ == text_.size()) return Wrong("the file ends here, in the middle of something");
    if (Peek() != close) return Wrong(fmt::format("',' or '{}' should stand here", close));
    ++at_;
    return false;
  }

  Scanned<void> Object(Node& node, int depth) {
    node.type = Node::Type::kObject;
    ++at_;
    IGLOO_TRY(Skip());
    if (Peek() == '}') {
      ++at_;
      return {};
    }
    for (bool more = true; more;) {
      Member member;
      if (at_ == text_.size()) return Wrong("the file ends here, in the middle of something");
      if (Peek() != '"') return Wrong("a name in double quotes should stand here");
      member.key_begin = at_;
      IGLOO_TRY(String(member.key));
      member.key_end = at_;
      IGLOO_TRY(Skip());
      if (Peek() != ':') return Wrong("':' should stand here");
      ++at_;
      IGLOO_TRY(Skip());
      IGLOO_TRY(Value(member.value, depth + 1));
      IGLOO_ASSIGN(more, Comma('}', member.comma));
      node.members.push_back(std::move(member));
    }
    return {};
  }

  Scanned<void> Array(Node& node, int depth) {
    node.type = Node::Type::kArray;
    ++at_;
    IGLOO_TRY(Skip());
    if (Peek() == ']') {
      ++at_;
      return {};
    }
    for (bool more = true; more;) {
      std::size_t comma = kNowhere;
      IGLOO_TRY(Value(node.items.emplace_back(), depth + 1));
      IGLOO_ASSIGN(more, Comma(']', comma));
    }
    return {};
  }

  Scanned<void> String(std::string& out) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20) {
        if (c == '\n' || c == '\r') at_ = begin;
        return Wrong(at_ == begin ? "this text in quotes has no end on its line"
                                  : "a control character stands in a text");
      }
      if (c == '\\') {
        IGLOO_TRY(Escape(out));
      } else {
        out += text_[at_++];
      }
    }
    if (at_ == text_.size()) {
      at_ = begin;
      return Wrong("this text in quotes has no end");
    }
    ++at_;
    return {};
  }

  Scanned<void> Escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (const std::size_t found = kNames.find(name); name != '\0' && found < kNames.size()) {
      out += kMeanings[found];
      at_ += 2;
      return {};
    }
    const long unit = name == 'u' ? ReadHex(text_, at_ + 2, 4) : -1;
    if (unit < 0) return Wrong("JSON knows no such escape");
    at_ += 6;
    char32_t character = static_cast<char32_t>(unit);
    if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const long low = ReadHex(text_, at_ + 2, 4);
      if (low >= 0xDC00 && low < 0xE000) {
        character = 0x10000 + ((character - 0xD800) << 10U) + static_cast<char32_t>(low - 0xDC00);
        at_ += 6;
      }
    }
    // Half of a pair is allowed by JSON and is no character.
    AppendUtf8(out, character >= 0xD800 && character < 0xE000 ? U'\uFFFD' : character);
    return {};
  }

  void Digits() {
    while (IsDigit(Peek())) ++at_;
  }

  /// A number, true, false or null.
  Scanned<void> Other() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return {};
      }
    }
    const std::size_t begin = at_;
    if (Peek() == '-') ++at_;
    if (!IsDigit(Peek())) {
      at_ = begin;
      return at_ == text_.size() ? Wrong("the file ends here, in the middle of something")
                                 : Wrong("no JSON value begins like this");
    }
    if (Peek() == '0') {
      ++at_;
    } else {
      Digits();
    }
    if (Peek() == '.') {
      ++at_;
      if (!IsDigit(Peek())) return Wrong("a digit should stand here");
      Digits();
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!IsDigit(Peek())) return Wrong("a digit should stand here");
      Digits();
    }
    return {};
  }

  std::string_view text_;
  Dialect dialect_;
  std::size_t at_ = 0;
};

}  // namespace

Scanned<JsonText> ScanJson(std::string_view text, Dialect dialect) {
  return Scanner(text, dialect).Scan();
}

std::size_t EndOfLineComments(std::string_view text, std::size_t at) {
  for (std::size_t found = at;;) {
    std::size_t next = found;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    if (next == text.size() || text[next] != '/') return found;
    const std::size_t end = EndOfComment(text, next);
    if (text.substr(next, end - next).find('\n') != std::string_view::npos) return found;
    found = end;
  }
}

}  // namespace igloo::clients
