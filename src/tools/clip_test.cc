#include "tools/clip.h"

#include <gmock/gmock.h>

#include "base/text.h"

namespace igloo::tools {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

session::CappedText Stream(std::string_view text, std::size_t limit = 1U << 20) {
  session::CappedText stream(limit, session::Keep::kFirstAndLast);
  stream.Append(text);
  return stream;
}

TEST(CleanTest, ColoursGoAndTextStays) {
  EXPECT_EQ(Clean("\x1b[31mred\x1b[0m \x1b[1;38;5;4mblue"), "red blue");
  EXPECT_EQ(Clean("\x1b]0;title\atext"), "text");
  EXPECT_EQ(Clean("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(Clean("\x1b(Bplain\x1b=\x1b"), "plain");
  EXPECT_EQ(Clean("a\tb\r\nc"), "a\tb\r\nc");
  EXPECT_EQ(Clean("\x1b[31\nnext"), "\nnext") << "a broken sequence eats no line";
  EXPECT_EQ(Clean("\xff\xc3\xa4"), "\xef\xbf\xbd\xc3\xa4");
}

TEST(CleanTest, ControlsOfOneCharacterGoToo) {
  EXPECT_EQ(Clean("\xc2\x9b"
                  "31mred\xc2\x9b"
                  "0m"),
            "red");
  EXPECT_EQ(Clean("\xc2\x9d"
                  "0;title\xc2\x9ctext"),
            "text");
  EXPECT_EQ(Clean("a\xc2\x85"
                  "b\xc2\x80"),
            "ab");
  EXPECT_EQ(Clean("\xc2\xa0\xc2\xb5 \xc3\x9b"), "\xc2\xa0\xc2\xb5 \xc3\x9b") << "no controls";
  EXPECT_EQ(Clean("\xc2"), "\xef\xbf\xbd");
}

TEST(CleanTest, WhoWantsSequencesKeepsThemAndStillGetsText) {
  EXPECT_EQ(Clean("\x1b[31mred\xff", Sequences::kKeep), "\x1b[31mred\xef\xbf\xbd");
  EXPECT_EQ(Clean("a\xc2\x85", Sequences::kKeep), "a\xc2\x85");
  EXPECT_EQ(Clip(Stream("\x1b[1mbold\n"), 100, "", Sequences::kKeep).text, "\x1b[1mbold\n");
  const std::string many(100, '\x1b');
  EXPECT_THAT(Clip(Stream(many), 40, "", Sequences::kKeep).text, StartsWith("\x1b\x1b"));
}

TEST(CleanTest, WhateverComesIsValidAndFinite) {
  std::string odd;
  for (int i = 0; i < 5000; ++i) odd += static_cast<char>((i * 7919) >> 3);
  const std::string clean = Clean(odd);
  EXPECT_EQ(ToUtf8(clean), clean);
  EXPECT_LE(clean.size(), 3 * odd.size());
}

TEST(ClipTest, WhatFitsIsShownWhole) {
  const Shown shown = Clip(Stream("hello\n"), 6, "advice");
  EXPECT_EQ(shown.text, "hello\n");
  EXPECT_EQ(shown.omitted, 0U);
}

TEST(ClipTest, BeginningAndEndAreShownAndTheRestIsCountedExactly) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const Shown shown = Clip(Stream(text), 200, "all of it is in X");
  EXPECT_THAT(shown.text, StartsWith("line 0\nline 1\n"));
  EXPECT_THAT(shown.text, EndsWith("line 998\nline 999\n"));
  const std::string marker = "[... " + std::to_string(shown.omitted) + " of " +
                             std::to_string(text.size()) + " bytes left out; all of it is in X]\n";
  EXPECT_THAT(shown.text, HasSubstr("\n" + marker + "line "));
  EXPECT_EQ(shown.text.size() - marker.size() + shown.omitted, text.size());
}

TEST(ClipTest, NoCharacterIsCut) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xe2\x82\xac";  // three bytes each
  for (std::size_t room = 10; room < 40; ++room) {
    const Shown shown = Clip(Stream(text), room, "");
    EXPECT_THAT(shown.text, ::testing::Not(HasSubstr("\xef\xbf\xbd"))) << room;
    EXPECT_EQ((shown.omitted % 3), 0U) << room;
  }
}

TEST(ClipTest, WhatWasNotEvenCapturedIsCountedToo) {
  const Shown shown = Clip(Stream(std::string(1000, 'a') + "end", 100), 20, "");
  EXPECT_EQ(shown.omitted, 1003U - 20U);
  EXPECT_THAT(shown.text, StartsWith("aaaaaaaaaa\n[... 983 of 1003 bytes left out]\n"));
  EXPECT_THAT(shown.text, EndsWith("aaaaaaaend"));
}

TEST(ClipTest, BytesThatAreNoTextDoNoHarm) {
  const std::string odd(10'000, '\x80');
  const Shown shown = Clip(Stream(odd), 100, "");
  EXPECT_GE(shown.omitted, 9'900U);
  EXPECT_EQ(ToUtf8(shown.text), shown.text);
}

TEST(DivideTest, ErrorsGetAQuarterAndWhatOutputLeaves) {
  EXPECT_EQ(Divide(1000, 10, 10).error, 10U);
  EXPECT_EQ(Divide(1000, 5000, 5000).error, 250U);
  EXPECT_EQ(Divide(1000, 5000, 5000).output, 750U);
  EXPECT_EQ(Divide(1000, 100, 5000).error, 900U);
  EXPECT_EQ(Divide(1000, 5000, 0).output, 1000U);
}

}  // namespace
}  // namespace igloo::tools
