#include "language/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace igloo::language {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return text;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The text without strings and comments, and whether something is still open.
struct Bare {
  std::string text = {};
  bool open = false;
};

class Scanner {
 public:
  Scanner(const Prompt& prompt, std::string_view text) : prompt_(prompt), text_(text) {}

  Bare Scan() {
    while (at_ < text_.size()) Step();
    return {.text = std::move(bare_),
            .open = open_ || (depth_ > 0 && prompt_.whole != Whole::kShellWords)};
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '\\') {
      bare_ += c;
      open_ = open_ || Trimmed(text_.substr(at_ + 1)).empty();
      at_ += 2;
    } else if (IsComment()) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (prompt_.block_comments && text_.substr(at_).starts_with("/*")) {
      SkipTo("*/", 2);
    } else if (prompt_.quotes.contains(c)) {
      Quote(c);
    } else {
      if (std::string_view("([{").find(c) != std::string_view::npos) ++depth_;
      if (std::string_view(")]}").find(c) != std::string_view::npos) --depth_;
      bare_ += c;
      ++at_;
    }
  }

  bool IsComment() const {
    const bool begins = at_ == 0 || prompt_.comment_within_words ||
                        std::isspace(static_cast<unsigned char>(text_[at_ - 1])) != 0;
    return begins && text_.substr(at_).starts_with(prompt_.comment);
  }

  void Quote(char quote) {
    const std::string three(3, quote);
    bare_ += '_';  // something stands here
    if (prompt_.triple_quotes && text_.substr(at_).starts_with(three)) {
      SkipTo(three, 3);
      return;
    }
    const bool lines = prompt_.long_quotes.contains(quote);
    const bool plain = quote == '\'' && prompt_.plain_single_quotes;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && !plain) {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return;
      } else if (text_[at_] == '\n' && !lines) {
        return;  // an error, and the interpreter says so
      }
    }
    open_ = open_ || lines;
  }

  void SkipTo(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, at_ + from);
    open_ = open_ || found == std::string_view::npos;
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  const Prompt& prompt_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::string bare_ = {};
  int depth_ = 0;
  bool open_ = false;
};

/// A block goes on until an empty line.
bool IsWholeIndented(std::string_view text, std::string_view bare) {
  const auto lines = LinesOf(bare);
  bool block = false;
  for (const std::string_view line : lines) {
    block = block || Trimmed(line).ends_with(':') || line.starts_with('@');
  }
  const auto all = LinesOf(text);
  return !block || (all.size() > 1 && Trimmed(all.back()).empty());
}

/// How a language writes texts of several lines that begin with "<<MARK".
struct HereText {
  std::string_view skipped, end;  ///< letters before the mark, and those behind it
  bool (*is_first)(char);         ///< of a mark
};

/// Whether such a text has begun and not ended.
bool IsInside(const HereText& kind, std::string_view text) {
  const std::size_t here = text.find("<<");
  if (here == std::string_view::npos) return false;
  std::string_view mark = text.substr(here + 2);
  mark.remove_prefix(std::min(mark.find_first_not_of(kind.skipped), mark.size()));
  mark = mark.substr(0, mark.find_first_of(kind.end));
  if (mark.empty() || !kind.is_first(mark[0])) return false;
  return std::ranges::none_of(LinesOf(text),
                              [&](std::string_view line) { return Trimmed(line) == mark; });
}

constexpr HereText kShellText = {
    .skipped = "-'\" ", .end = "'\" \n;", .is_first = [](char c) { return c != '<'; }};
constexpr HereText kRubyText = {.skipped = "-~'\"", .end = "'\" \n;.,)", .is_first = [](char c) {
                                  return std::isupper(static_cast<unsigned char>(c)) != 0;
                                }};

bool IsWholeShell(std::string_view text, const std::string& bare) {
  constexpr std::pair<std::string_view, int> kWords[] = {{"if", 1},    {"fi", -1},  {"do", 1},
                                                         {"done", -1}, {"case", 1}, {"esac", -1},
                                                         {"{", 1},     {"}", -1}};
  int depth = 0;
  bool first = true;  // a word that begins a command
  std::string word;
  for (const char c : bare + "\n") {
    const bool end = std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';' || c == '&' ||
                     c == '|' || c == '(' || c == ')';
    if (!end) {
      word += c;
      continue;
    }
    bool begins = first && word.empty();
    for (const auto& [name, step] : kWords) {
      if (!first || word != name) continue;
      depth += step;
      begins = true;
    }
    begins = begins || word == "then" || word == "else" || word == "!";
    first = begins || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')';
    word.clear();
  }
  const std::string_view end = Trimmed(bare);
  return depth <= 0 && !end.ends_with('|') && !end.ends_with("&&") && !IsInside(kShellText, text);
}

/// Words that begin a block wherever they stand, and those that do so only where a command begins:
/// behind one they are conditions of it.
constexpr std::array<std::string_view, 5> kBlocks = {"def", "class", "module", "begin", "case"};
constexpr std::array<std::string_view, 5> kLoops = {"while", "until", "for", "if", "unless"};

/// The blocks of one line, less those that end in it.
int BlocksOf(std::string_view line) {
  int depth = 0;
  bool first = true, loop = false;  // a command begins here; its "do" belongs to a loop
  std::string word;
  char before = ' ', last = ' ';  // what stands before the word, and before this letter
  for (const char c : std::string(line) + "\n") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      if (word.empty()) before = last;
      word += c;
      last = c;
      continue;
    }
    // Not a method (x.end), a symbol or a name (:end, end:, @end), nor a part of one (end?).
    const bool plain = !word.empty() && !std::string_view(".:@$").contains(before) &&
                       !std::string_view(":?!").contains(c);
    const bool opens_first = plain && first && std::ranges::find(kLoops, word) != kLoops.end();
    if (plain && std::ranges::find(kBlocks, word) != kBlocks.end()) ++depth;
    if (opens_first) ++depth;
    if (plain && word == "do" && !std::exchange(loop, false)) ++depth;
    if (plain && word == "end") --depth;
    loop = loop || (opens_first && word != "if" && word != "unless");
    const bool leads = plain && (word == "then" || word == "else" || word == "do");
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    // Behind what ends a value or a name, `if` is a condition of it.
    const bool ends = std::string_view(")]}!?").contains(c);
    first = (blank && word.empty() && first) || leads || (!blank && !ends);
    if (c == ';') loop = false;
    word.clear();
    last = c;
  }
  return depth;
}

/// One that has no end of its own: "def name(x) = x + 1".
bool IsShortDefinition(std::string_view line) {
  const std::string_view code = Trimmed(line);
  if (!code.starts_with("def ")) return false;
  const std::size_t equals = code.find(" = ");
  return equals != std::string_view::npos && std::ranges::count(code.substr(0, equals), '(') ==
                                                 std::ranges::count(code.substr(0, equals), ')');
}

bool IsWholeWithEnds(std::string_view text, std::string_view bare) {
  int depth = 0;
  for (const std::string_view line : LinesOf(bare)) {
    depth += BlocksOf(line) - (IsShortDefinition(line) ? 1 : 0);
  }
  const std::string_view end = Trimmed(bare);
  const bool continued = end.ends_with(',') || end.ends_with('.') || end.ends_with("&&") ||
                         end.ends_with("||") || end.ends_with(" +") || end.ends_with(" =");
  return depth <= 0 && !continued && !IsInside(kRubyText, text);
}

bool IsNamePart(const Prompt& prompt, char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         prompt.name_letters.contains(c);
}

}  // namespace

bool IsWhole(const Prompt& prompt, std::string_view text) {
  if (prompt.whole == Whole::kEmptyLine) return text.ends_with("\n\n");
  const Bare bare = Scanner(prompt, text).Scan();
  if (bare.open) return false;
  switch (prompt.whole) {
    case Whole::kIndentation:
      return IsWholeIndented(text, bare.text);
    case Whole::kShellWords:
      return IsWholeShell(text, bare.text);
    case Whole::kEnds:
      return IsWholeWithEnds(text, bare.text);
    case Whole::kEmptyLine:
    case Whole::kBrackets:
      break;
  }
  return true;
}

std::string_view WordAtEnd(const Prompt& prompt, std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0 && IsNamePart(prompt, line[begin - 1])) --begin;
  return line.substr(begin);
}

std::string CompletionCode(const Prompt& prompt, std::string_view word) {
  // SECURITY: it holds nothing but what names are made of, so it needs no quoting.
  if (WordAtEnd(prompt, word) != word || word.empty() || prompt.completion.empty()) return "";
  const std::size_t dot = word.rfind('.');
  const bool member = dot != std::string_view::npos;
  return fmt::format(fmt::runtime(prompt.completion), fmt::arg("word", word),
                     fmt::arg("owner", member ? word.substr(0, dot) : prompt.world),
                     fmt::arg("before", member ? word.substr(0, dot + 1) : std::string_view()));
}

}  // namespace igloo::language
