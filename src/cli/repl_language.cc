#include "cli/repl_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace igloo::cli {
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
  Scanner(Language language, std::string_view text) : language_(language), text_(text) {}

  Bare Scan() {
    while (at_ < text_.size()) Step();
    return {.text = std::move(bare_),
            .open = open_ || (depth_ > 0 && language_ != Language::kShell)};
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
    } else if (text_.substr(at_).starts_with("/*") && language_ == Language::kNode) {
      SkipTo("*/", 2);
    } else if (c == '\'' || c == '"' || (c == '`' && language_ != Language::kPython)) {
      Quote(c);
    } else {
      if (std::string_view("([{").find(c) != std::string_view::npos) ++depth_;
      if (std::string_view(")]}").find(c) != std::string_view::npos) --depth_;
      bare_ += c;
      ++at_;
    }
  }

  bool IsComment() const {
    if (language_ == Language::kNode) return text_.substr(at_).starts_with("//");
    const bool begins = at_ == 0 || std::isspace(static_cast<unsigned char>(text_[at_ - 1])) != 0 ||
                        language_ == Language::kPython;
    return text_[at_] == '#' && begins;
  }

  void Quote(char quote) {
    const std::string three(3, quote);
    bare_ += '_';  // something stands here
    if (language_ == Language::kPython && text_.substr(at_).starts_with(three)) {
      SkipTo(three, 3);
      return;
    }
    const bool lines = language_ == Language::kShell || quote == '`';
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && !(quote == '\'' && language_ == Language::kShell)) {
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

  Language language_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::string bare_ = {};
  int depth_ = 0;
  bool open_ = false;
};

/// A block goes on until an empty line.
bool IsWholePython(std::string_view text, std::string_view bare) {
  const auto lines = LinesOf(bare);
  bool block = false;
  for (const std::string_view line : lines) {
    block = block || Trimmed(line).ends_with(':') || line.starts_with('@');
  }
  const auto all = LinesOf(text);
  return !block || (all.size() > 1 && Trimmed(all.back()).empty());
}

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
  const bool continued = end.ends_with('|') || end.ends_with("&&");
  if (const std::size_t here = text.find("<<"); here != std::string_view::npos) {
    std::string_view mark = text.substr(here + 2);
    mark.remove_prefix(std::min(mark.find_first_not_of("-'\" "), mark.size()));
    mark = mark.substr(0, mark.find_first_of("'\" \n;"));
    const auto lines = LinesOf(text);
    const bool ended =
        std::ranges::any_of(lines, [&](std::string_view line) { return Trimmed(line) == mark; });
    if (!mark.empty() && !mark.starts_with('<') && !ended) return false;
  }
  return depth <= 0 && !continued;
}

bool IsNamePart(Language language, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (std::isalnum(byte) != 0 || c == '_') return true;
  if (language == Language::kShell) return c == '/' || c == '-' || c == '.';
  return c == '.' || (c == '$' && language == Language::kNode);
}

}  // namespace

Language LanguageOf(std::string_view interpreter) {
  if (interpreter == "python") return Language::kPython;
  if (interpreter == "node") return Language::kNode;
  return interpreter == "bash" ? Language::kShell : Language::kOther;
}

bool IsWhole(Language language, std::string_view text) {
  if (language == Language::kOther) return text.ends_with("\n\n");
  const Bare bare = Scanner(language, text).Scan();
  if (bare.open) return false;
  if (language == Language::kPython) return IsWholePython(text, bare.text);
  return language != Language::kShell || IsWholeShell(text, bare.text);
}

std::string_view WordAtEnd(Language language, std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0 && IsNamePart(language, line[begin - 1])) --begin;
  return line.substr(begin);
}

std::string CompletionCode(Language language, std::string_view word) {
  // SECURITY: it holds nothing but what names are made of, so it needs no quoting.
  if (WordAtEnd(language, word) != word || word.empty()) return "";
  switch (language) {
    case Language::kPython:
      return fmt::format(
          "(lambda c: print(*iter(lambda n=__import__('itertools').count(): "
          "c.complete('{}', next(n)), None), sep='\\n'))"
          "(__import__('rlcompleter').Completer(globals()))",
          word);
    case Language::kNode: {
      const std::size_t dot = word.rfind('.');
      const bool member = dot != std::string_view::npos;
      const std::string_view of = member ? word.substr(0, dot) : std::string_view("globalThis");
      return fmt::format(
          "{{ for (let o = ({0}); o != null; o = Object.getPrototypeOf(o)) "
          "for (const n of Object.getOwnPropertyNames(Object(o))) console.log('{1}' + n) }}",
          of, member ? word.substr(0, dot + 1) : "");
    }
    case Language::kShell:
      return fmt::format(
          "builtin compgen -A function -A variable -A builtin -A command -A file -- {}", word);
    case Language::kOther:
      break;
  }
  return "";
}

}  // namespace igloo::cli
