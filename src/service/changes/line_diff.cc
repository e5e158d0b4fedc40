#include "service/changes/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace igloo::service::changes {
namespace {

/// Above this many differing lines the search would take minutes and hundreds of megabytes.
constexpr std::ptrdiff_t kMostSteps = 2000;
constexpr std::size_t kAround = 3;

using Numbers = std::vector<std::size_t>;

/// Equal lines get equal numbers.
class Numbering {
 public:
  Numbers Of(const std::vector<std::string_view>& lines) {
    Numbers numbers;
    numbers.reserve(lines.size());
    for (const std::string_view line : lines) {
      numbers.push_back(known_.try_emplace(line, known_.size()).first->second);
    }
    return numbers;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> known_ = {};
};

/// Myers, "An O(ND) Difference Algorithm": the furthest place on each diagonal after d steps. What
/// was reached after every number of steps is kept, to walk back from the end.
class Search {
 public:
  Search(const std::size_t* before, std::ptrdiff_t before_size, const std::size_t* after,
         std::ptrdiff_t after_size)
      : before_(before), after_(after), before_size_(before_size), after_size_(after_size) {}

  /// False: too many steps.
  bool Run() {
    const std::ptrdiff_t most = std::min(before_size_ + after_size_, kMostSteps);
    std::vector<std::ptrdiff_t> reached(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::ptrdiff_t diagonal) -> std::ptrdiff_t& {
      return reached[static_cast<std::size_t>(diagonal + most + 1)];
    };
    for (std::ptrdiff_t steps = 0; steps <= most; ++steps) {
      for (std::ptrdiff_t diagonal = -steps; diagonal <= steps; diagonal += 2) {
        const bool down =
            diagonal == -steps || (diagonal != steps && at(diagonal - 1) < at(diagonal + 1));
        std::ptrdiff_t x = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
        std::ptrdiff_t y = x - diagonal;
        while (x < before_size_ && y < after_size_ && before_[x] == after_[y]) ++x, ++y;
        at(diagonal) = x;
        if (x >= before_size_ && y >= after_size_) {
          steps_ = steps;
          return true;
        }
      }
      // Diagonals -steps to steps, those of a later number of steps begin here.
      history_.emplace_back(reached.begin() + (most + 1 - steps),
                            reached.begin() + (most + 2 + steps));
    }
    return false;
  }

  /// Lines that went and came, from the end to the beginning.
  template <class Removed, class Added>
  void WalkBack(Removed removed, Added added) const {
    std::ptrdiff_t x = before_size_, y = after_size_;
    for (std::ptrdiff_t steps = steps_; steps > 0; --steps) {
      const auto& earlier = history_[static_cast<std::size_t>(steps - 1)];
      const auto at = [&](std::ptrdiff_t diagonal) {
        return earlier[static_cast<std::size_t>(diagonal + steps - 1)];
      };
      const std::ptrdiff_t diagonal = x - y;
      const bool down =
          diagonal == -steps || (diagonal != steps && Reached(earlier, diagonal - 1, steps) <
                                                          Reached(earlier, diagonal + 1, steps));
      const std::ptrdiff_t from = down ? diagonal + 1 : diagonal - 1;
      x = at(from);
      y = x - from;
      if (down) {
        added(static_cast<std::size_t>(y));
      } else {
        removed(static_cast<std::size_t>(x));
      }
    }
  }

 private:
  /// Diagonals out of reach are -1.
  static std::ptrdiff_t Reached(const std::vector<std::ptrdiff_t>& earlier, std::ptrdiff_t diagonal,
                                std::ptrdiff_t steps) {
    const std::ptrdiff_t index = diagonal + steps - 1;
    const bool known = index >= 0 && index < static_cast<std::ptrdiff_t>(earlier.size());
    return known ? earlier[static_cast<std::size_t>(index)] : -1;
  }

  const std::size_t *before_, *after_;
  std::ptrdiff_t before_size_, after_size_, steps_ = 0;
  std::vector<std::vector<std::ptrdiff_t>> history_ = {};
};

/// Which lines are not in both, as edits.
std::vector<Edit> EditsFrom(const std::vector<bool>& gone, const std::vector<bool>& come) {
  std::vector<Edit> edits;
  std::size_t x = 0, y = 0;
  while (x < gone.size() || y < come.size()) {
    Edit edit{x, x, y, y};
    while (edit.old_end < gone.size() && gone[edit.old_end]) ++edit.old_end;
    while (edit.new_end < come.size() && come[edit.new_end]) ++edit.new_end;
    x = edit.old_end + 1;
    y = edit.new_end + 1;
    const bool empty = edit.old_begin == edit.old_end && edit.new_begin == edit.new_end;
    if (!empty) edits.push_back(edit);
  }
  return edits;
}

}  // namespace

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

bool IsBinary(std::string_view bytes) {
  return bytes.substr(0, 8000).find('\0') != std::string_view::npos;
}

std::vector<Edit> Compare(const std::vector<std::string_view>& before,
                          const std::vector<std::string_view>& after) {
  Numbering numbering;
  const Numbers old_lines = numbering.Of(before), new_lines = numbering.Of(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  while (tail < shorter - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t old_size = old_lines.size() - head - tail;
  const std::size_t new_size = new_lines.size() - head - tail;
  std::vector<bool> gone(old_lines.size()), come(new_lines.size());
  Search search(old_lines.data() + head, static_cast<std::ptrdiff_t>(old_size),
                new_lines.data() + head, static_cast<std::ptrdiff_t>(new_size));
  if (search.Run()) {
    search.WalkBack([&](std::size_t line) { gone[head + line] = true; },
                    [&](std::size_t line) { come[head + line] = true; });
  } else {
    for (std::size_t i = 0; i < old_size; ++i) gone[head + i] = true;
    for (std::size_t i = 0; i < new_size; ++i) come[head + i] = true;
  }
  return EditsFrom(gone, come);
}

std::vector<Hunk> HunksOf(const std::vector<Edit>& edits, std::size_t before, std::size_t after) {
  std::vector<Hunk> hunks;
  for (const Edit& edit : edits) {
    const std::size_t lead = std::min(edit.old_begin, kAround);
    const bool joins = !hunks.empty() && edit.old_begin - lead <= hunks.back().old_end;
    if (!joins) {
      hunks.push_back({.old_begin = edit.old_begin - lead, .new_begin = edit.new_begin - lead});
    }
    Hunk& hunk = hunks.back();
    hunk.edits.push_back(edit);
    hunk.old_end = std::min(edit.old_end + kAround, before);
    hunk.new_end = std::min(edit.new_end + kAround, after);
  }
  return hunks;
}

std::string TextOf(const Hunk& hunk, const std::vector<std::string_view>& before,
                   const std::vector<std::string_view>& after) {
  // Of no lines, the number is that of the line before.
  const auto range = [](std::size_t begin, std::size_t end) {
    const std::size_t size = end - begin;
    const std::size_t first = size == 0 ? begin : begin + 1;
    return size == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, size);
  };
  std::string text = fmt::format("@@ -{} +{} @@\n", range(hunk.old_begin, hunk.old_end),
                                 range(hunk.new_begin, hunk.new_end));
  const auto put = [&](char sign, std::string_view line) {
    text += sign;
    text += line;
    if (!line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
  };
  std::size_t at = hunk.old_begin;
  for (const Edit& edit : hunk.edits) {
    for (; at < edit.old_begin; ++at) put(' ', before[at]);
    for (; at < edit.old_end; ++at) put('-', before[at]);
    for (std::size_t i = edit.new_begin; i < edit.new_end; ++i) put('+', after[i]);
  }
  for (; at < hunk.old_end; ++at) put(' ', before[at]);
  return text;
}

std::string WithHunks(const std::vector<std::string_view>& before,
                      const std::vector<std::string_view>& after, const std::vector<Hunk>& hunks,
                      const std::vector<bool>& chosen) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < hunks.size(); ++i) {
    if (i >= chosen.size() || !chosen[i]) continue;
    for (const Edit& edit : hunks[i].edits) {
      for (; at < edit.old_begin; ++at) text += before[at];
      for (std::size_t j = edit.new_begin; j < edit.new_end; ++j) text += after[j];
      at = edit.old_end;
    }
  }
  for (; at < before.size(); ++at) text += before[at];
  return text;
}

}  // namespace igloo::service::changes
