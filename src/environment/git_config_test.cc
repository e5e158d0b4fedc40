#include "environment/git_config.h"

#include <gtest/gtest.h>

namespace igloo::environment {
namespace {

std::string Clean(std::string_view config) {
  return WithoutCredentials(config).value_or("as it was");
}

TEST(GitConfig, AddressesLoseWhatStandsBeforeTheirHost) {
  EXPECT_EQ(
      Clean("[remote \"origin\"]\n\turl = https://me:s3cret@github.com/a/b.git\n\tfetch = x\n"),
      "[remote \"origin\"]\n\turl = https://github.com/a/b.git\n\tfetch = x\n");
  EXPECT_EQ(Clean("[remote \"o\"]\nurl=https://ghp_token@github.com/a\n"),
            "[remote \"o\"]\nurl=https://github.com/a\n")
      << "a user alone is a token";
  EXPECT_EQ(Clean("[url \"https://x:tok@github.com/\"]\n\tinsteadOf = gh:\n"),
            "[url \"https://github.com/\"]\n\tinsteadOf = gh:\n");
  EXPECT_EQ(Clean("[http]\nproxy = \"http://u:p@proxy:8080\" ; as http://a:b@c/ says\n"),
            "[http]\nproxy = \"http://proxy:8080\" ; as http://c/ says\n");
  EXPECT_EQ(Clean("[remote \"o\"]\nurl = HTTPS://a:b@c@host/x\n"),
            "[remote \"o\"]\nurl = HTTPS://host/x\n")
      << "a password may have a sign in it";
  EXPECT_EQ(Clean("[remote \"o\"]\nurl = ssh://git:pw@host/x"),
            "[remote \"o\"]\nurl = ssh://git@host/x");
  EXPECT_EQ(Clean("[core]\n[remote \"o\"]\nurl = https://a:b@"),
            "[core]\n[remote \"o\"]\nurl = https://");
}

TEST(GitConfig, LinesThatAreASecretGo) {
  EXPECT_EQ(
      Clean("[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic eDp5\n\tx = 1\n"),
      "[http \"https://github.com/\"]\n\tx = 1\n");
  EXPECT_EQ(Clean("[http]\n\tExtraHeader = Authorization: \\\n  Bearer abc\n\tx = 1\n"),
            "[http]\n\tx = 1\n")
      << "with the lines that it goes on in";
  EXPECT_EQ(Clean("[http] extraheader = x: y\n\tz = 1\n"), "[http]\n\tz = 1\n");
  EXPECT_EQ(Clean("[sendemail]\nsmtpPass = x\n[github]\n  oauth-token = y\n[user]\n name = me\n"),
            "[sendemail]\n[github]\n[user]\n name = me\n");
  EXPECT_EQ(Clean("[credential]\nhelper = \"!f() { echo password=x; }; f\"\n"), "[credential]\n");
  EXPECT_EQ(Clean("[http]\nproxy = me:pw@proxy:8080\n"), "[http]\n");
}

TEST(GitConfig, AnAddressOverTwoLinesIsOne) {
  EXPECT_EQ(Clean("[remote \"o\"]\nurl = https://a:b\\\nc@host/x\n"),
            "[remote \"o\"]\nurl = https://host/x\n");
  EXPECT_EQ(Clean("[remote \"o\"]\r\nurl = https://a:b\\\r\nc@host/x\r\n"),
            "[remote \"o\"]\r\nurl = https://host/x\r\n");
}

TEST(GitConfig, WithoutASecretStaysAsItIs) {
  for (const char* config :
       {"", "[core]\n\tbare = false\n", "[remote \"o\"]\nurl = git@github.com:a/b.git\n",
        "[remote \"o\"]\nurl = ssh://git@github.com/a/b\n",
        "[remote \"o\"]\nurl = https://github.com/a\n", "[core]\naskPass = /usr/bin/ask\n",
        "[credential]\nhelper = store\n", "[remote \"o\"]\nurl = https://github.com/a@b/c\n",
        "[core]\n\\\n", "[core"}) {
    EXPECT_EQ(Clean(config), "as it was") << config;
  }
}

TEST(GitConfig, AnotherProgramsFileStaysAsItIs) {
  EXPECT_EQ(Clean("token = abc\nurl = https://a:b@c/\n"), "as it was");
}

/// Whatever the text: what is left has no password in an address, and cleaning it again changes
/// nothing.
TEST(GitConfig, CleaningTwiceIsCleaningOnce) {
  const std::string parts[] = {"[core]\n", "[http] ", "url = ", "https://", "a:b@", "h/x",
                               "\n",       "\\\n",    "\r\n",   "token = ", "\"",   "]",
                               "[",        "@",       "://",    " # ",      "\\",   "ssh://"};
  unsigned state = 1;
  for (int round = 0; round < 4'000; ++round) {
    std::string text = "[core]\n";
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      text += parts[(state >> 16U) % std::size(parts)];
    }
    const auto once = WithoutCredentials(text);
    if (!once) continue;
    EXPECT_EQ(WithoutCredentials(*once).value_or(*once), *once) << text;
    EXPECT_EQ(once->find("https://a:b@"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace igloo::environment
