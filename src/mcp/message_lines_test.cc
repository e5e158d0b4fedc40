#include "mcp/message_lines.h"

#include <gtest/gtest.h>

namespace igloo::mcp {
namespace {

TEST(MessageLines, OfALineThatIsTooLongItsOutlineIsKnownHoweverItComes) {
  const std::string line = R"({"method":"m","params":{"id":1,"x":"\"id\":2"},"id":3})";
  const MessageLine expected{"", true, {.id = RequestId{3}, .call = true}};
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, line.size()}) {
    MessageLines buffer(4);
    for (std::size_t at = 0; at < line.size(); at += piece) {
      EXPECT_EQ(buffer.Next(), std::nullopt);
      buffer.Append(std::string_view(line).substr(at, piece));
    }
    buffer.Append("\n{}\n1234567\n");
    EXPECT_EQ(buffer.Next(), expected) << piece;
    EXPECT_EQ(buffer.Next(), MessageLine{"{}"});
    EXPECT_EQ(buffer.Next(), (MessageLine{"", true})) << "nothing is left of the one before";
    EXPECT_EQ(buffer.Next(), std::nullopt);
  }
}

}  // namespace
}  // namespace igloo::mcp
