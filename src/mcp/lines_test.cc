#include "mcp/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace igloo::mcp {
namespace {

using ::testing::ElementsAre;

std::vector<Line> All(LineBuffer& buffer) {
  std::vector<Line> lines;
  while (auto line = buffer.Next()) lines.push_back(*std::move(line));
  return lines;
}

TEST(LineBuffer, ALineIsGivenOnceItsEndHasCome) {
  LineBuffer buffer;
  buffer.Append("{\"a\"");
  EXPECT_THAT(All(buffer), ElementsAre());
  buffer.Append(":1}\n{");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"{\"a\":1}"}));
  buffer.Append("}\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"{}"}));
}

TEST(LineBuffer, ManyLinesOfOneReadComeInOrder) {
  LineBuffer buffer;
  buffer.Append("a\nb\nc\nd");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"a"}, Line{"b"}, Line{"c"}));
  buffer.Append("\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"d"}));
}

TEST(LineBuffer, CarriageReturnsAndBlankLinesMeanNothing) {
  LineBuffer buffer;
  buffer.Append("\r\n\n  \t\n{}\r\n\r\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"{}"}));
}

TEST(LineBuffer, ALineThatIsTooLongIsReportedAtItsEndAndTheNextOneIsServed) {
  LineBuffer buffer(4);
  buffer.Append("12345");
  EXPECT_THAT(All(buffer), ElementsAre());
  buffer.Append("6789");
  EXPECT_THAT(All(buffer), ElementsAre());
  buffer.Append("0\nnext\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"", true}, Line{"next"}));
}

TEST(LineBuffer, ALineThatIsTooLongAndWholeIsReportedOnce) {
  LineBuffer buffer(4);
  buffer.Append("12345\n1234\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"", true}, Line{"1234"}));
}

TEST(LineBuffer, OfALineThatIsTooLongItsOutlineIsKnownHoweverItComes) {
  const std::string line = R"({"method":"m","params":{"id":1,"x":"\"id\":2"},"id":3})";
  const Line expected{"", true, {.id = RequestId{3}, .call = true}};
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, line.size()}) {
    LineBuffer buffer(4);
    for (std::size_t at = 0; at < line.size(); at += piece) {
      EXPECT_THAT(All(buffer), ElementsAre());
      buffer.Append(std::string_view(line).substr(at, piece));
    }
    buffer.Append("\n");
    EXPECT_THAT(All(buffer), ElementsAre(expected)) << piece;
  }
}

TEST(LineBuffer, ALineWithoutEndIsNoLine) {
  LineBuffer buffer;
  buffer.Append("{}");
  EXPECT_EQ(buffer.Next(), std::nullopt);
}

}  // namespace
}  // namespace igloo::mcp
