#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/lines.h"
#include "mcp/outline.h"

namespace igloo::mcp {

/// The longest message that is taken in. A client that sends more is told so and goes on being
/// served.
inline constexpr std::size_t kLongestLine = 16U << 20;

/// A message as it comes over a pipe.
struct MessageLine {
  std::string text = {};  ///< empty when it was too long
  bool too_long = false;
  Outline outline = {};  ///< of one that was too long

  bool operator==(const MessageLine&) const = default;
};

/// Cuts a stream of bytes into messages. Of what is longer than the limit only the outline is kept,
/// which is complete at its end: clients write the id last.
class MessageLines {
 public:
  explicit MessageLines(std::size_t limit = kLongestLine)
      : lines_(limit, [this](std::string_view bytes) { dropped_.Read(bytes); }) {}
  MessageLines(const MessageLines&) = delete;
  MessageLines& operator=(const MessageLines&) = delete;

  void Append(std::string_view bytes) { lines_.Append(bytes); }
  /// The next message that has come whole. Call until it is empty before the next Append.
  std::optional<MessageLine> Next();

 private:
  OutlineReader dropped_ = {};
  LineBuffer lines_;
};

}  // namespace igloo::mcp
