#include "tools/picture.h"

#include <gmock/gmock.h>

#include "tools/testing.h"

namespace igloo::tools {
namespace {

using namespace std::string_literals;

TEST(PictureTest, OnlyWholeOnesAreShown) {
  const std::string png = testing::Png("");
  EXPECT_TRUE(IsWholePicture("image/png", png));
  EXPECT_FALSE(IsWholePicture("image/jpeg", png));
  EXPECT_FALSE(IsWholePicture("image/png", png.substr(0, png.size() - 1)));
  EXPECT_FALSE(IsWholePicture("image/png", "\x89PNG\r\n\x1a\n rest"));
  EXPECT_TRUE(IsWholePicture("image/jpeg", "\xff\xd8\xff\xe0 data \xff\xd9"));
  EXPECT_FALSE(IsWholePicture("image/jpeg", "\xff\xd8\xff\xe0 data"));
  EXPECT_TRUE(IsWholePicture("image/gif", "GIF89a\1\0\1\0\0\0\0,;"s));
  EXPECT_FALSE(IsWholePicture("image/gif", "GIF89a;"));
  EXPECT_TRUE(IsWholePicture("image/webp", "RIFF\x0e\0\0\0WEBPVP8 123456"s));
  EXPECT_FALSE(IsWholePicture("image/webp", "RIFF\xff\0\0\0WEBPVP8 123456"s));
  EXPECT_FALSE(IsWholePicture("image/svg+xml", "<svg/>"));
}

TEST(PictureTest, ModelsCannotLookAtEveryKind) {
  EXPECT_FALSE(IsImage("image/svg+xml"));
  EXPECT_TRUE(IsImage("image/webp"));
}

}  // namespace
}  // namespace igloo::tools
