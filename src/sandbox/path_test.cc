#include "sandbox/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckTargetTest, AcceptsPlainAbsolutePaths) {
  for (const char* path : {"/a", "/a/b", "/.hidden", "/a/..b", "/a/b..", "/...", "/a b", "/a\nb"}) {
    EXPECT_TRUE(CheckTarget(path)) << path;
  }
}

TEST(CheckTargetTest, RefusesEverythingElseAndSaysWhy) {
  using namespace std::string_view_literals;
  const struct {
    std::string_view path;
    const char* why;
  } rows[] = {
      {""sv, "is not absolute"},
      {"a"sv, "is not absolute"},
      {"./a"sv, "is not absolute"},
      {"../a"sv, "is not absolute"},
      {"/"sv, "has an empty part"},
      {"//"sv, "has an empty part"},
      {"//a"sv, "has an empty part"},
      {"/a/"sv, "has an empty part"},
      {"/a//b"sv, "has an empty part"},
      {"/."sv, "has a '.' or '..' part"},
      {"/.."sv, "has a '.' or '..' part"},
      {"/a/../b"sv, "has a '.' or '..' part"},
      {"/a/./b"sv, "has a '.' or '..' part"},
      {"/a/.."sv, "has a '.' or '..' part"},
      {"/a\0/b"sv, "holds a NUL byte"},
      {"/a\0"sv, "holds a NUL byte"},
  };
  for (const auto& row : rows) {
    const auto checked = CheckTarget(row.path);
    ASSERT_FALSE(checked) << row.path;
    EXPECT_EQ(checked.error().code, Errc::kInvalidArgument) << row.path;
    EXPECT_THAT(checked.error().what, HasSubstr(row.why)) << row.path;
    EXPECT_NE(checked.error().hint, "") << row.path;
  }
}

TEST(CheckTargetTest, RefusesPathsThatLeaveNoRoomBelowPathMax) {
  EXPECT_TRUE(CheckTarget("/" + std::string(3999, 'a')));
  EXPECT_FALSE(CheckTarget("/" + std::string(4000, 'a')));
}

TEST(AncestorsTest, AreEveryDirectoryAboveOuterFirst) {
  EXPECT_THAT(Ancestors("/a"), IsEmpty());
  EXPECT_THAT(Ancestors("/a/b"), ElementsAre("/a"));
  EXPECT_THAT(Ancestors("/a/b/c"), ElementsAre("/a", "/a/b"));
}

TEST(IsWithinTest, ComparesWholeParts) {
  EXPECT_TRUE(IsWithin("/a", "/a"));
  EXPECT_TRUE(IsWithin("/a/b", "/a"));
  EXPECT_TRUE(IsWithin("/a/b/c", "/a/b"));
  EXPECT_FALSE(IsWithin("/ab", "/a"));
  EXPECT_FALSE(IsWithin("/a", "/a/b"));
  EXPECT_FALSE(IsWithin("/b/a", "/a"));
}

}  // namespace
}  // namespace igloo::sandbox
