#include "service/uri.h"

#include <gmock/gmock.h>

namespace igloo::service {
namespace {

TEST(UriTest, WhateverANameHoldsComesBack) {
  for (const SessionFile& file :
       {SessionFile{"data", "out.csv"}, SessionFile{"a/b c", "d/e f%.txt"},
        SessionFile{"\xc3\xa4", std::string("\x01\xff", 2)}, SessionFile{"..", "x/y/z"}}) {
    EXPECT_EQ(ReadSessionUri(UriOf(file)), file) << UriOf(file);
  }
  EXPECT_EQ(UriOf({"a/b c", "d/e f"}), "igloo://session/a%2fb%20c/d/e%20f");
  EXPECT_EQ(ReadSessionUri("igloo://session/%41/%2E%7e"), (SessionFile{"A", ".~"}));
}

TEST(UriTest, WhatLeadsNowhereIsNone) {
  for (const char* uri :
       {"", "igloo://run/x/y", "igloo://session/", "igloo://session/a", "igloo://session/a/",
        "igloo://session/a//etc/passwd", "igloo://session/a/../b", "igloo://session/a/%2e%2e/b",
        "igloo://session/a/b%2f..%2f..%2fc", "igloo://session/a/b%00", "igloo://session/a/b%4",
        "igloo://session/a/b%zz", "igloo://session/%/b"}) {
    EXPECT_FALSE(ReadSessionUri(uri)) << uri;
  }
}

}  // namespace
}  // namespace igloo::service
