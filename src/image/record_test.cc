#include "image/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::string kHex(64, 'b');

TEST(ImageRecord, IsReadAsFarAsItMakesSense) {
  const auto record =
      ParseRecord(R"({"schema":1,"digest":")" + kHex +
                  R"(","env":["A=1","B","=x","1C=2","D E=3","F=a=b"],"notes":["n"],)"
                  R"("entries":3,"bytes":-1,"user":7})");
  ASSERT_TRUE(record) << record.error().what;
  EXPECT_EQ(record->digest, kHex);
  EXPECT_THAT(record->variables, ElementsAre(Pair("A", "1"), Pair("F", "a=b")));
  EXPECT_EQ(record->entries, 3U);
  EXPECT_EQ(record->bytes, 0U);
}

TEST(ImageRecord, AnErrorOfTheUnpackerIsTheError) {
  const auto record = ParseRecord(R"({"error":{"what":"too \u001b[31m much","hint":"less"}})");
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().what, "too \\x1b[31m much");
  EXPECT_EQ(record.error().hint, "less");
}

TEST(ImageRecord, NonsenseIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"schema":2})", R"({"schema":1,"digest":"../x"})"}) {
    EXPECT_FALSE(ParseRecord(text)) << text;
  }
}

TEST(ImageNames, AreReadAsTheyWereWritten) {
  const Names names{{{"debian", {kHex, ""}}, {"oci:/a:b", {kHex, "1.2"}}}};
  EXPECT_EQ(ParseNames(ToJson(names)), names);
  // A digest becomes part of a path.
  EXPECT_EQ(ParseNames(R"({"schema":1,"names":{"x":{"digest":"../.."}}})"), Names{});
  EXPECT_FALSE(ParseNames(R"({"schema":9})"));
  EXPECT_FALSE(ParseNames("x"));
}

}  // namespace
}  // namespace igloo::image
