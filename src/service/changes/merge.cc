#include "service/changes/merge.h"

#include <algorithm>

#include "service/changes/line_diff.h"

namespace igloo::service::changes {
namespace {

using Lines = std::vector<std::string_view>;

std::string NewText(const Edit& edit, const Lines& lines) {
  std::string text;
  for (std::size_t i = edit.new_begin; i < edit.new_end; ++i) text += lines[i];
  return text;
}

/// Also when one ends where the other begins: nobody can tell which of them comes first.
bool Touch(const Edit& a, const Edit& b) {
  return a.old_begin <= b.old_end && b.old_begin <= a.old_end;
}

}  // namespace

std::optional<std::string> Merge(std::string_view base, std::string_view ours,
                                 std::string_view theirs) {
  const Lines lines = LinesOf(base), our_lines = LinesOf(ours), their_lines = LinesOf(theirs);
  const auto our_edits = Compare(lines, our_lines), their_edits = Compare(lines, their_lines);
  auto us = our_edits.begin();
  auto them = their_edits.begin();
  std::string merged;
  std::size_t at = 0;
  const auto take = [&](const Edit& edit, const Lines& from) {
    for (; at < edit.old_begin; ++at) merged += lines[at];
    merged += NewText(edit, from);
    at = edit.old_end;
  };
  while (us != our_edits.end() || them != their_edits.end()) {
    const bool both = us != our_edits.end() && them != their_edits.end();
    if (both && Touch(*us, *them)) {
      const bool same = us->old_begin == them->old_begin && us->old_end == them->old_end &&
                        NewText(*us, our_lines) == NewText(*them, their_lines);
      if (!same) return std::nullopt;
      take(*us++, our_lines);
      ++them;
    } else if (them == their_edits.end() || (both && us->old_begin < them->old_begin)) {
      take(*us++, our_lines);
    } else {
      take(*them++, their_lines);
    }
  }
  for (; at < lines.size(); ++at) merged += lines[at];
  return merged;
}

}  // namespace igloo::service::changes
