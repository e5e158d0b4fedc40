#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/outline.h"

namespace igloo::mcp {

/// The longest message that is taken in. A client that sends more is told so and goes on being
/// served.
inline constexpr std::size_t kLongestLine = 16U << 20;

struct Line {
  std::string text = {};  ///< without its end; empty when it was too long
  bool too_long = false;
  Outline outline = {};  ///< of one that was too long

  bool operator==(const Line&) const = default;
};

/// Cuts a stream of bytes into lines. Holds one line and one read at most: of what is longer than
/// the limit only the outline is kept, which is complete at its end: clients write the id last.
class LineBuffer {
 public:
  explicit LineBuffer(std::size_t limit = kLongestLine) : limit_(limit) {}

  void Append(std::string_view bytes) { bytes_ += bytes; }
  /// The next line that has come whole. Blank lines are skipped, and so is the carriage return of
  /// CRLF. Call until it is empty before the next Append.
  std::optional<Line> Next();

 private:
  void Forget(std::size_t count);

  std::size_t limit_;
  std::string bytes_ = {};
  std::size_t begin_ = 0;                       ///< where the line starts that comes next
  std::size_t searched_ = 0;                    ///< up to here there is no line end
  std::optional<OutlineReader> dropping_ = {};  ///< inside a line that is too long
};

}  // namespace igloo::mcp
