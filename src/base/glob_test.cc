#include "base/glob.h"

#include <gtest/gtest.h>

namespace igloo {
namespace {

bool Matches(const std::string& pattern, std::string_view path, bool directory = false,
             Letters letters = Letters::kExact) {
  return Globs({pattern}, letters).Find({.path = path, .directory = directory}).has_value();
}

TEST(Globs, APatternWithoutASlashIsForANameAnywhere) {
  for (const std::string pattern : {".env", ".env*", "*.env", ".e?v", ".[e]nv", "*", "**"}) {
    EXPECT_TRUE(Matches(pattern, ".env")) << pattern;
    EXPECT_TRUE(Matches(pattern, "a/b/.env")) << pattern;
  }
  for (const std::string pattern : {"env", ".en", ".env?", "*.envx", "x*.env", ".ENV", "a"}) {
    EXPECT_FALSE(Matches(pattern, "a/.env")) << pattern;
  }
}

TEST(Globs, APatternWithASlashIsForAPathFromTheTop) {
  EXPECT_TRUE(Matches("/.env", ".env"));
  EXPECT_FALSE(Matches("/.env", "a/.env"));
  EXPECT_TRUE(Matches("a/.env", "a/.env"));
  EXPECT_TRUE(Matches("/a/.env", "a/.env"));
  EXPECT_FALSE(Matches("a/.env", "b/a/.env"));
  EXPECT_TRUE(Matches("a/*", "a/x"));
  EXPECT_FALSE(Matches("a/*", "a/x/y"));
  EXPECT_FALSE(Matches("*/x", "a/b/x"));
}

TEST(Globs, TwoStarsStandForAnyNumberOfDirectories) {
  for (const char* path : {"x", "a/x", "a/b/x"}) EXPECT_TRUE(Matches("**/x", path)) << path;
  for (const char* path : {"a/x", "a/b/x", "a/b/c/x"}) EXPECT_TRUE(Matches("a/**/x", path)) << path;
  EXPECT_FALSE(Matches("a/**/x", "b/x"));
  EXPECT_TRUE(Matches("a/**", "a/x"));
  EXPECT_TRUE(Matches("a/**", "a/x/y"));
  EXPECT_FALSE(Matches("a/**", "a", true)) << "for what is in it";
  EXPECT_TRUE(Matches("**/.aws/credentials", "home/.aws/credentials"));
}

TEST(Globs, ASlashAtTheEndIsForDirectoriesOnly) {
  EXPECT_TRUE(Matches("secrets/", "a/secrets", true));
  EXPECT_FALSE(Matches("secrets/", "a/secrets", false));
  EXPECT_TRUE(Matches("a/secrets/", "a/secrets", true));
}

TEST(Globs, LettersAreTheSameOrNot) {
  EXPECT_TRUE(Matches("*.Pem", "A/KEY.PEM", false, Letters::kFold));
  EXPECT_TRUE(Matches("ID_[A-Z]*", "id_rsa", false, Letters::kFold));
  EXPECT_FALSE(Matches("*.pem", "key.PEM"));
}

TEST(Globs, FindsOneAfterTheOther) {
  const Globs globs({"nothing", "*.PEM", "*"}, Letters::kFold);
  EXPECT_EQ(globs.Find({.path = "key.pem"}), 1U);
  EXPECT_EQ(globs.Find({.path = "key.pem"}, 2), 2U);
  EXPECT_EQ(globs.Find({.path = "key.pem"}, 3), std::nullopt);
  EXPECT_EQ(globs.Find({.path = "key"}), 2U);
}

TEST(Globs, NothingAndSlashesAloneMatchNothing) {
  const Globs none({"", "/", "//"}, Letters::kExact);
  EXPECT_EQ(none.Find({.path = "a", .directory = true}), std::nullopt);
}

TEST(Globs, NamesMayHoldAnyByte) {
  EXPECT_TRUE(Matches("*.env", "a\n\xff.env"));
  EXPECT_TRUE(Matches("\xff*", "\xff\xfe"));
}

}  // namespace
}  // namespace igloo
