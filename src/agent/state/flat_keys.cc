#include "agent/state/flat_keys.h"

#include <algorithm>

#include "agent/state/json_text.h"
#include "base/text.h"
#include "clients/toml_scan.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMaxFlatFile = 4U << 20;

/// Reads what git-config(1) calls the syntax of its files.
class GitScanner {
 public:
  explicit GitScanner(std::string_view text) : text_(text) {}

  Result<std::vector<FlatKey>> Scan() {
    std::vector<FlatKey> keys;
    while (SkipBlank()) {
      if (text_[at_] == '[') {
        if (!Header()) return Wrong("the header of a section has no end");
        continue;
      }
      FlatKey& key = keys.emplace_back(FlatKey{.keys = section_});
      const std::size_t begin = at_;
      while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
      if (at_ == begin) return Wrong("the name of a key should stand here");
      key.keys.push_back(AsciiLower(text_.substr(begin, at_ - begin)));
      if (!Value(key.value)) return Wrong("this value has no end");
    }
    return keys;
  }

 private:
  static bool IsNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  }

  std::unexpected<Error> Wrong(const std::string& what) const {
    const auto line = std::ranges::count(text_.substr(0, at_), '\n') + 1;
    return Fail(Errc::kFailedPrecondition, "line " + std::to_string(line) + ": " + what);
  }

  /// To the next key or header; false at the end.
  bool SkipBlank() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#' || text_[at_] == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (at_ == text_.size()) return false;
      } else if (std::string_view(" \t\r\n").find(text_[at_]) == std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

  /// [section] or [section "subsection"]; the latter's letters count as they are.
  bool Header() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
    section_ = {AsciiLower(text_.substr(begin, at_ - begin))};
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      std::string& name = section_.emplace_back();
      for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\' && ++at_ == text_.size()) return false;
        name += text_[at_];
      }
      if (at_ == text_.size() || text_[at_] != '"') return false;
      ++at_;
    } else if (const std::size_t dot = section_[0].find('.'); dot != std::string::npos) {
      section_ = {section_[0].substr(0, dot), section_[0].substr(dot + 1)};  // [branch.main]
    }
    if (at_ == text_.size() || text_[at_] != ']') return false;
    ++at_;
    return true;
  }

  /// "= value" up to the end of the line, or nothing, which is true. A backslash takes the next
  /// character along, and a line that ends in one goes on.
  bool Value(std::string& out) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    bool quoted = false;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (!quoted && (c == '#' || c == ';')) {
        at_ = std::min(text_.find('\n', at_), text_.size());
        break;
      }
      if (c == '"') quoted = !quoted;
      out += c;
      if (c != '\\') continue;
      if (++at_ == text_.size()) return false;
      out += text_[at_];
    }
    while (!out.empty() && (out.back() == ' ' || out.back() == '\t' || out.back() == '\r')) {
      out.pop_back();
    }
    return !quoted;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> section_ = {};
};

Result<std::vector<FlatKey>> ReadToml(std::string_view file, std::string_view text) {
  const auto statements = clients::ScanToml(text);
  if (!statements) return std::unexpected(ToError(file, text, statements.error()));
  std::vector<FlatKey> keys;
  for (const clients::TomlStatement& statement : *statements) {
    // The header of a table alone says that it is there.
    const bool pair = statement.kind == clients::TomlStatement::Kind::kPair;
    const auto& value = statement.value;
    keys.push_back(
        {statement.path,
         pair ? std::string(text.substr(value.begin, value.end - value.begin)) : std::string()});
  }
  return keys;
}

}  // namespace

Result<std::vector<FlatKey>> ReadFlatKeys(const FileRule& rule, std::string_view text) {
  if (text.size() > kMaxFlatFile) {
    return Fail(Errc::kExhausted, "larger than " + HumanBytes(kMaxFlatFile));
  }
  if (rule.format == FileFormat::kToml) return ReadToml(rule.path, text);
  return GitScanner(text).Scan();
}

bool IsPlainValue(const FileRule& rule, const FlatKey& key) {
  return rule.format != FileFormat::kGitConfig || key.keys.back() != "remote" ||
         key.value.find_first_of(":/\\") == std::string::npos;
}

std::string NameOf(const FlatKey& key) {
  std::string name;
  for (const std::string& part : key.keys) name += (name.empty() ? "" : ".") + part;
  return Quoted(Printable(name));
}

}  // namespace igloo::agent
