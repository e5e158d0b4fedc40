#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::service::changes {

/// The lines of a text, each with its newline; the last one may have none.
std::vector<std::string_view> LinesOf(std::string_view text);

/// Whether git would call it binary: a zero byte among the first 8000.
bool IsBinary(std::string_view bytes);

/// Some lines of one text that stand where some lines of another stood. Either may be none.
struct Edit {
  std::size_t old_begin = 0, old_end = 0;
  std::size_t new_begin = 0, new_end = 0;
  bool operator==(const Edit&) const = default;
};

/// What leads from one text to the other, in order; between two edits is at least one line that
/// stayed. The shortest there is, unless the texts have very little in common: then what differs in
/// the middle is one edit.
std::vector<Edit> Compare(const std::vector<std::string_view>& before,
                          const std::vector<std::string_view>& after);

/// Edits that a person decides about together: git's hunks, with three lines around them.
struct Hunk {
  std::vector<Edit> edits = {};
  std::size_t old_begin = 0, old_end = 0, new_begin = 0, new_end = 0;  ///< with what is around them
};
std::vector<Hunk> HunksOf(const std::vector<Edit>& edits, std::size_t before, std::size_t after);

/// "@@ -1,3 +1,4 @@" and the lines.
std::string TextOf(const Hunk& hunk, const std::vector<std::string_view>& before,
                   const std::vector<std::string_view>& after);

/// `before` with some of the hunks.
std::string WithHunks(const std::vector<std::string_view>& before,
                      const std::vector<std::string_view>& after, const std::vector<Hunk>& hunks,
                      const std::vector<bool>& chosen);

}  // namespace igloo::service::changes
