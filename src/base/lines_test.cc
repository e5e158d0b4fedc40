#include "base/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace igloo {
namespace {

using ::testing::ElementsAre;

std::vector<Line> All(LineBuffer& buffer) {
  std::vector<Line> lines;
  while (auto line = buffer.Next()) lines.push_back(*std::move(line));
  return lines;
}

TEST(LineBuffer, ALineIsGivenOnceItsEndHasCome) {
  LineBuffer buffer(100);
  buffer.Append("{\"a\"");
  EXPECT_THAT(All(buffer), ElementsAre());
  buffer.Append(":1}\n{");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"{\"a\":1}"}));
  buffer.Append("}\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"{}"}));
}

TEST(LineBuffer, ManyLinesOfOneReadComeInOrder) {
  LineBuffer buffer(100);
  buffer.Append("a\nb\nc\nd");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"a"}, Line{"b"}, Line{"c"}));
  buffer.Append("\n");
  EXPECT_THAT(All(buffer), ElementsAre(Line{"d"}));
}

TEST(LineBuffer, CarriageReturnsAndBlankLinesMeanNothing) {
  LineBuffer buffer(100);
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

TEST(LineBuffer, WhatIsDroppedCanBeHeardHoweverItComes) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{100}}) {
    std::string heard;
    LineBuffer buffer(4, [&](std::string_view bytes) { heard += bytes; });
    const std::string bytes = "kept\nmuch too long\nkept\n";
    std::vector<Line> lines;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      buffer.Append(std::string_view(bytes).substr(at, piece));
      for (Line& line : All(buffer)) lines.push_back(std::move(line));
    }
    EXPECT_THAT(lines, ElementsAre(Line{"kept"}, Line{"", true}, Line{"kept"})) << piece;
    EXPECT_EQ(heard, "much too long") << piece;
  }
}

TEST(LineBuffer, ALineWithoutEndIsNoLine) {
  LineBuffer buffer(100);
  buffer.Append("{}");
  EXPECT_EQ(buffer.Next(), std::nullopt);
}

}  // namespace
}  // namespace igloo
