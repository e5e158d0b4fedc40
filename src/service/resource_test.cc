#include "service/resource.h"

#include <gtest/gtest.h>

#include "session/files/leftovers.h"

namespace igloo::service {
namespace {

TEST(MimeTypeTest, BytesCountMoreThanNames) {
  const auto type = [](std::string_view path, std::string_view bytes) {
    return MimeTypeOf(path, bytes, session::IsPlainText(bytes));
  };
  EXPECT_EQ(type("x.txt", "\x89PNG\r\n\x1a\n..."), "image/png");
  EXPECT_EQ(type("x", "\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(type("x", "RIFF1234WEBPVP8"), "image/webp");
  EXPECT_EQ(type("x.png", "no picture"), "text/plain");
  EXPECT_EQ(type("x.csv", "a,b\n"), "text/csv");
  EXPECT_EQ(type("x.csv", std::string("\0", 1)), "application/octet-stream");
  EXPECT_EQ(type("x.svg", "<svg/>"), "image/svg+xml");
}

}  // namespace
}  // namespace igloo::service
