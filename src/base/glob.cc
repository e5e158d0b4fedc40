#include "base/glob.h"

#include <fnmatch.h>

#include <algorithm>
#include <span>

#include "base/text.h"

namespace igloo {
namespace {

constexpr std::string_view kAnyDirectories = "**";

std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t size = std::min(path.find('/'), path.size());
    if (size > 0) parts.emplace_back(path.substr(0, size));
    path.remove_prefix(std::min(size + 1, path.size()));
  }
  return parts;
}

/// Two characters from `at` on, as one number.
std::size_t Pair(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]) << 8U | static_cast<unsigned char>(text[at + 1]);
}

bool MatchesName(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool MatchesPath(std::span<const std::string> pattern, std::span<const std::string> path) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() == kAnyDirectories) {
    const auto rest = pattern.subspan(1);
    // "a/**" is for what is in 'a', not for 'a'.
    for (std::size_t skipped = rest.empty() ? 1 : 0; skipped <= path.size(); ++skipped) {
      if (rest.empty() || MatchesPath(rest, path.subspan(skipped))) return true;
    }
    return false;
  }
  return !path.empty() && MatchesName(pattern.front(), path.front()) &&
         MatchesPath(pattern.subspan(1), path.subspan(1));
}

}  // namespace

Globs::Row Globs::Compile(const std::string& pattern, Letters letters) {
  Row row;
  std::string text = letters == Letters::kFold ? AsciiLower(pattern) : pattern;
  row.directories_only = text.ends_with('/');
  while (text.ends_with('/')) text.pop_back();
  const bool from_top = text.contains('/');
  row.parts = Split(text);
  if (from_top && row.parts.size() == 1) row.parts.insert(row.parts.begin(), "");
  if (row.parts.empty()) return row;
  const std::string& last = row.parts.back();
  constexpr std::string_view kSpecial = "*?[\\";
  const std::size_t first = last.find_first_of(kSpecial);
  row.prefix = last.substr(0, first);
  row.exact = first == std::string::npos;
  if (!row.exact) {
    row.suffix = last.substr(last.find_last_of("*?[]\\") + 1);
    row.simple = last[first] == '*' && last.find_last_of("*?[]\\") == first;
  }
  return row;
}

Globs::Globs(const std::vector<std::string>& patterns, Letters letters) : letters_(letters) {
  for (const std::string& pattern : patterns) {
    Row row = Compile(pattern, letters);
    if (!row.parts.empty()) {
      directories_.Add(row);
      if (!row.directories_only) others_.Add(row);
    }
    rows_.push_back(std::move(row));
  }
}

void Globs::Filter::Add(const Row& row) {
  if (row.prefix.size() >= 2) {
    first.set(Pair(row.prefix, 0));
  } else if (row.suffix.size() >= 2) {
    last.set(Pair(row.suffix, row.suffix.size() - 2));
  } else {
    all = true;
  }
}

bool Globs::Could(std::string_view last, bool directory) const {
  const Filter& filter = directory ? directories_ : others_;
  if (filter.all) return true;
  if (last.size() < 2) return false;
  const auto pair = [&](std::size_t at) {
    const char two[] = {last[at], last[at + 1]};
    return letters_ == Letters::kExact ? Pair({two, 2}, 0)
                                       : Pair(AsciiLower({two, 2}), 0);  // no memory for two
  };
  return filter.first.test(pair(0)) || filter.last.test(pair(last.size() - 2));
}

bool Globs::CanBeLast(const Row& row, std::string_view last) {
  if (row.parts.empty()) return false;
  if (row.exact) return last == row.prefix;
  if (row.parts.back() == kAnyDirectories) return true;
  return last.size() >= row.prefix.size() + row.suffix.size() && last.starts_with(row.prefix) &&
         last.ends_with(row.suffix);
}

std::string Globs::Fold(std::string_view text) const {
  return letters_ == Letters::kFold ? AsciiLower(text) : std::string(text);
}

std::optional<std::size_t> Globs::Find(const Name& name, std::size_t first) const {
  const std::string_view given = name.path.substr(name.path.rfind('/') + 1);
  if (!Could(given, name.directory)) return std::nullopt;
  const std::string last = Fold(given);
  for (std::size_t i = first; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if ((row.directories_only && !name.directory) || !CanBeLast(row, last)) continue;
    const std::span<const std::string> parts(row.parts);
    if (parts.size() == 1) {
      if (row.exact || row.simple || MatchesName(parts.front(), last)) return i;
      continue;
    }
    // "/name" is for a name at the top.
    const auto from_top = parts.subspan(parts.front().empty() ? 1 : 0);
    if (MatchesPath(from_top, Split(Fold(name.path)))) return i;
  }
  return std::nullopt;
}

}  // namespace igloo
