#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace igloo {

struct Line {
  std::string text = {};  ///< without its end; empty when it was too long
  bool too_long = false;

  bool operator==(const Line&) const = default;
};

/// Cuts a stream of bytes into lines. Holds one line and one read at most.
class LineBuffer {
 public:
  /// `dropped` gets every piece of a line that is longer than `limit`.
  explicit LineBuffer(std::size_t limit, std::function<void(std::string_view)> dropped = {})
      : limit_(limit), dropped_(std::move(dropped)) {}

  void Append(std::string_view bytes) { bytes_ += bytes; }
  /// The next line that has come whole. Blank lines are skipped, and so is the carriage return of
  /// CRLF. Call until it is empty before the next Append.
  std::optional<Line> Next();

 private:
  void Forget(std::size_t count);

  std::size_t limit_;
  std::function<void(std::string_view)> dropped_;
  std::string bytes_ = {};
  std::size_t begin_ = 0;     ///< where the line starts that comes next
  std::size_t searched_ = 0;  ///< up to here there is no line end
  bool dropping_ = false;     ///< inside a line that is too long
};

}  // namespace igloo
