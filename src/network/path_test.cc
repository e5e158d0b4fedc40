#include "network/path.h"

#include <gtest/gtest.h>

namespace igloo::network {
namespace {

TEST(Path, IsWrittenInOneWay) {
  EXPECT_EQ(*CanonicalPath("/"), "/");
  EXPECT_EQ(*CanonicalPath("/a/b"), "/a/b");
  EXPECT_EQ(*CanonicalPath("/%41%7e"), "/A~");
  EXPECT_EQ(*CanonicalPath("/a%3ab"), "/a%3Ab");
  EXPECT_EQ(*CanonicalPath("/a%20b"), "/a%20b");
  EXPECT_EQ(*CanonicalPath("/b%c3%bc"), "/b%C3%BC");
  EXPECT_EQ(*CanonicalPath("/a*b"), *CanonicalPath("/a%2ab"));
  EXPECT_EQ(*CanonicalPath("/..."), "/...");
  EXPECT_EQ(*CanonicalPath("/a..b/.c"), "/a..b/.c");
}

TEST(Path, IsRefusedWhereServersDisagree) {
  for (const char* path : {"",
                           "a",
                           "/a/../b",
                           "/..",
                           "/.",
                           "/./a",
                           "/a/..",
                           "/%2e%2e/b",
                           "/%2E./b",
                           "/a%2fb",
                           "/a%2Fb",
                           "/a%5cb",
                           "/a\\b",
                           "/..;/admin",
                           "/..;a=b/admin",
                           "/.;/a",
                           "/%c0%ae%c0%ae/",
                           "/%e0%80%af",
                           "/%00",
                           "/a%0d%0a",
                           "/%7f",
                           "/%",
                           "/%4",
                           "/%zz",
                           "/%252e",
                           "/a?b",
                           "/a#b",
                           "/a b",
                           "/a\tb",
                           "/%ff"}) {
    EXPECT_FALSE(CanonicalPath(path)) << path;
  }
}

}  // namespace
}  // namespace igloo::network
