#include "mcp/message_lines.h"

#include <utility>

namespace igloo::mcp {

std::optional<MessageLine> MessageLines::Next() {
  auto line = lines_.Next();
  if (!line) return std::nullopt;
  if (!line->too_long) return MessageLine{.text = std::move(line->text)};
  return MessageLine{.too_long = true, .outline = std::exchange(dropped_, {}).outline()};
}

}  // namespace igloo::mcp
