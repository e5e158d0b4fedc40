#include "base/base64.h"

#include <gtest/gtest.h>

namespace igloo {
namespace {

TEST(Base64, WritesTheVectorsOfItsStandard) {
  EXPECT_EQ(ToBase64(""), "");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToBase64("fo"), "Zm8=");
  EXPECT_EQ(ToBase64("foo"), "Zm9v");
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(ToBase64("\xff\xfe\xfd"), "//79");
}

TEST(Base64, ReadsWhatItWrites) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(FromBase64(ToBase64(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, RefusesWhatHasNoOneMeaning) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "====", "Z===", "Zm 9", "Zm-_"}) {
    EXPECT_EQ(FromBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace igloo
