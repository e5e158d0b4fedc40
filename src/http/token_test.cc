#include "http/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/temp_dir.h"

namespace igloo::http {
namespace {

class TokenFile : public ::testing::Test {
 protected:
  /// Of a file with one.
  static Result<std::string> ReadOrMakeToken(const std::string& path) {
    IGLOO_ASSIGN(const auto tokens, ReadOrMakeTokens(path));
    EXPECT_EQ(tokens.size(), 1U);
    EXPECT_EQ(tokens.front().label, "");
    return tokens.front().token;
  }
  Errc Refused() {
    const auto token = ReadOrMakeTokens(path_);
    if (token) return Errc::kInternal;
    EXPECT_NE(token.error().hint, "") << token.error().what;
    return token.error().code;
  }

  TempDir directory_ = TempDir::Make(::testing::TempDir()).value();
  std::string path_ = directory_.path() + "/token";
};

TEST_F(TokenFile, IsMadeOnceAndOnlyItsOwnerMayReadIt) {
  const std::string token = ReadOrMakeToken(path_).value();
  EXPECT_THAT(token, ::testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(ReadOrMakeToken(path_), token);
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  const auto begin = std::filesystem::directory_iterator(directory_.path());
  EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 1) << "nothing is left";
}

TEST_F(TokenFile, AllWhoMakeItAtOnceGetTheSame) {
  constexpr int kMany = 8;
  std::vector<std::string> tokens(kMany);
  {
    std::latch start(kMany);
    std::vector<std::jthread> threads;
    for (std::string& token : tokens) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        token = ReadOrMakeToken(path_).value_or("failed");
      });
    }
  }
  EXPECT_EQ(std::set(tokens.begin(), tokens.end()).size(), 1U);
  EXPECT_THAT(tokens.front(), ::testing::SizeIs(64));
}

TEST_F(TokenFile, OnesOwnIsTaken) {
  const std::string own(40, 'k');
  ASSERT_TRUE(ReplaceFile(path_, own + "\n"));
  EXPECT_EQ(ReadOrMakeToken(path_), own);
}

TEST_F(TokenFile, SeveralHaveNames) {
  const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
  ASSERT_TRUE(ReplaceFile(path_, "# clients\nalice " + a + "\n\nbob_2 " + b + "\r\n" + c));
  const auto tokens = ReadOrMakeTokens(path_);
  ASSERT_TRUE(tokens) << tokens.error().what;
  EXPECT_EQ(*tokens,
            (std::vector<Token>{{"alice", a}, {"bob_2", b}, {Sha256Hex(c).substr(0, 8), c}}));
  for (const std::string& bad :
       {"alice " + a + "\nalice " + b, "alice " + a + "\nbob " + a, "Alice " + a, "a/b " + a,
        "alice  " + a, "alice " + a + " more", std::string("# nobody\n")}) {
    ASSERT_TRUE(ReplaceFile(path_, bad));
    EXPECT_EQ(Refused(), Errc::kInvalidArgument) << bad;
  }
}

TEST_F(TokenFile, WhatOthersMayReadIsNoSecret) {
  for (const mode_t mode : {0640U, 0604U, 0602U}) {
    ASSERT_TRUE(ReplaceFile(path_, std::string(40, 'k'), {.mode = mode}));
    EXPECT_EQ(Refused(), Errc::kPermissionDenied);
  }
}

TEST_F(TokenFile, WhereOthersMayReplaceItThereIsNone) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0777), 0);
  EXPECT_EQ(Refused(), Errc::kPermissionDenied);
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  EXPECT_TRUE(ReadOrMakeToken(path_)) << "control: as in /tmp, nobody may";
}

TEST_F(TokenFile, LinksAreNotFollowed) {
  const std::string target = directory_.path() + "/target";
  ASSERT_TRUE(ReplaceFile(target, std::string(40, 'k')));
  EXPECT_TRUE(ReadOrMakeToken(target)) << "control";
  ASSERT_EQ(::symlink(target.c_str(), path_.c_str()), 0);
  EXPECT_EQ(Refused(), Errc::kPermissionDenied);
}

TEST_F(TokenFile, WhatCannotBeATokenIsRefused) {
  for (const std::string& text : {std::string(), std::string(31, 'k'), std::string(40, ' '),
                                  std::string(20, 'k') + "\n" + std::string(20, 'k')}) {
    ASSERT_TRUE(ReplaceFile(path_, text));
    EXPECT_EQ(Refused(), Errc::kInvalidArgument) << text;
  }
  ASSERT_TRUE(ReplaceFile(path_, std::string(513, 'k')));
  EXPECT_FALSE(ReadOrMakeToken(path_));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(Refused(), Errc::kInvalidArgument);
  path_ = directory_.path() + "/none/token";
  EXPECT_EQ(Refused(), Errc::kNotFound);
}

TEST(TokenMatchesTest, TheTokenMustBeTheWholeToken) {
  EXPECT_TRUE(TokenMatches("Bearer secret", "secret"));
  EXPECT_TRUE(TokenMatches("bearer secret", "secret"));
  for (const char* given : {"", "secret", "Bearer ", "Bearer secre", "Bearer secrets",
                            "Basic! secret", "Bearer Secret"}) {
    EXPECT_FALSE(TokenMatches(given, "secret")) << given;
  }
}

}  // namespace
}  // namespace igloo::http
