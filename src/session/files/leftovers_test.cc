#include "session/files/leftovers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "base/unique_fd.h"
#include "support/igloo.h"

namespace igloo::session {
namespace {

using ::testing::ElementsAre;
using State = LeftFile::State;

class LeftoversTest : public ::testing::Test {
 protected:
  LeftoversTest() : handle_(::open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path full = dir_.path() + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  Leftovers Read(const std::vector<environment::GivenFile>& given = {},
                 const LeftLimits& limits = {}) {
    return ReadLeftovers(handle_.get(), given, limits);
  }
  static std::vector<std::string> Paths(const Leftovers& left) {
    std::vector<std::string> paths;
    for (const LeftFile& file : left.files) paths.push_back(file.path);
    return paths;
  }

  TempDir dir_ = TempDir::Make(igloo::testing::TempParent()).value();
  UniqueFd handle_;
};

TEST_F(LeftoversTest, FindsFilesInTheirOrderAndReadsThem) {
  Put("b.txt", "two");
  Put("a/deep/c.bin", std::string("\0\xff", 2));
  Put("a.txt", "");
  const Leftovers left = Read();
  EXPECT_THAT(Paths(left), ElementsAre("a.txt", "a/deep/c.bin", "b.txt"));
  EXPECT_EQ(left.files[1].bytes, std::string("\0\xff", 2));
  EXPECT_EQ(left.files[0].state, State::kRead) << "an empty file is one, too";
  EXPECT_TRUE(left.complete);
}

TEST_F(LeftoversTest, WhatWasGivenCountsOnlyWhenItChanged) {
  Put("same.txt", "x");
  Put("changed.txt", "new");
  EXPECT_THAT(Paths(Read({{"same.txt", "x"}, {"changed.txt", "old"}, {"gone.txt", "y"}})),
              ElementsAre("changed.txt"));
}

TEST_F(LeftoversTest, CachesAndHiddenNamesAreNotListed) {
  Put(".cache/go/x", "1");
  Put("__pycache__/m.pyc", "1");
  Put("node_modules/p/i.js", "1");
  Put("real", "1");
  EXPECT_THAT(Paths(Read()), ElementsAre("real"));
}

TEST_F(LeftoversTest, NothingLeadsOutAndNothingBlocks) {
  const TempDir outside = TempDir::Make(igloo::testing::TempParent()).value();
  std::ofstream(outside.path() + "/secret") << "secret";
  std::filesystem::create_symlink(outside.path() + "/secret", dir_.path() + "/file");
  std::filesystem::create_directory_symlink(outside.path(), dir_.path() + "/dir");
  ASSERT_EQ(::mkfifo((dir_.path() + "/pipe").c_str(), 0666), 0);
  Put("good", "1");
  // The control: a plain look would go through the link.
  EXPECT_TRUE(std::filesystem::exists(dir_.path() + "/dir/secret"));
  EXPECT_THAT(Paths(Read()), ElementsAre("good"));
}

TEST_F(LeftoversTest, TooMuchIsCountedAndNotRead) {
  for (int i = 0; i < 5; ++i) Put("f" + std::to_string(i), "1234");
  const Leftovers few = Read({}, {.files = 3});
  EXPECT_THAT(Paths(few), ElementsAre("f0", "f1", "f2"));
  EXPECT_FALSE(few.complete);
  const Leftovers small = Read({}, {.file_bytes = 3});
  EXPECT_EQ(small.files.size(), 5U);
  EXPECT_EQ(small.files[0].state, State::kTooLarge);
  EXPECT_EQ(small.files[0].size, 4U);
  const Leftovers total = Read({}, {.total_bytes = 9});
  EXPECT_EQ(total.files[1].state, State::kRead);
  EXPECT_EQ(total.files[2].state, State::kTooLarge);
}

TEST_F(LeftoversTest, WithStampsOnlyWhatChangedSinceIsNews) {
  Stamps stamps;
  const auto news = [&] { return Paths(ReadLeftovers(handle_.get(), {}, {}, &stamps)); };
  Put("a", "1");
  Put("b", "1");
  EXPECT_THAT(news(), ElementsAre("a", "b"));
  EXPECT_THAT(news(), ElementsAre());
  Put("b", "22");
  Put("c", "");
  EXPECT_THAT(news(), ElementsAre("b", "c"));
  std::filesystem::remove(dir_.path() + "/a");
  EXPECT_THAT(news(), ElementsAre());
  Put("a", "1");
  EXPECT_THAT(news(), ElementsAre("a")) << "the same bytes in a new file";
}

TEST_F(LeftoversTest, WhatCannotBeReadIsNotCalledTooLarge) {
  Put("ball.txt", "1");
  Put("closed/inside.txt", "1");
  using std::filesystem::perms;
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  std::filesystem::permissions(dir_.path() + "/ball.txt", perms::none);
  std::filesystem::permissions(dir_.path() + "/closed", perms::none);
  // Nothing is closed to root.
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Leftovers left = Read();
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  std::filesystem::permissions(dir_.path() + "/closed", perms::owner_all);
  ASSERT_THAT(Paths(left), ElementsAre("ball.txt"));
  EXPECT_EQ(left.files[0].state, State::kUnreadable);
  EXPECT_FALSE(left.complete) << "there is something behind the directory";
}

TEST_F(LeftoversTest, InSlicesItIsTheSame) {
  for (int i = 0; i < 5; ++i) Put("d/f" + std::to_string(i), std::string(1U << 20, 'x'));
  Put("z/small", "\x01");
  const std::vector<environment::GivenFile> given;
  LeftoversReader reader(handle_.get(), given);
  int slices = 1;
  while (reader.Step()) ++slices;
  EXPECT_GE(slices, 5) << "one for each large file at least";
  const Leftovers left = reader.Take();
  EXPECT_EQ(Paths(left), Paths(Read()));
  EXPECT_TRUE(left.files[0].text);
  EXPECT_FALSE(left.files[5].text);
  EXPECT_TRUE(left.complete);
}

TEST_F(LeftoversTest, TextIsToldInPiecesOfAnyCharacters) {
  std::string wide;
  while (wide.size() < (3U << 20)) wide += "\xe2\x82\xac";
  for (int shift = 0; shift < 3; ++shift) {
    Put("t" + std::to_string(shift), std::string(static_cast<std::size_t>(shift), 'x') + wide);
  }
  Put("u", wide + "\xe2\x82");
  Put("v", std::string(2U << 20, '\x80'));
  const Leftovers left = Read();
  ASSERT_THAT(Paths(left), ElementsAre("t0", "t1", "t2", "u", "v"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(left.files[static_cast<std::size_t>(i)].text) << i;
  EXPECT_FALSE(left.files[3].text) << "its last character is cut";
  EXPECT_FALSE(left.files[4].text);
}

TEST(IsPlainTextTest, ControlsAndBrokenBytesAreNone) {
  EXPECT_TRUE(IsPlainText("a\tb\r\n\xc3\xa4"));
  EXPECT_TRUE(IsPlainText(""));
  EXPECT_FALSE(IsPlainText("\x7f"));
  EXPECT_FALSE(IsPlainText("a\x1b"));
  EXPECT_FALSE(IsPlainText("\xff"));
}

TEST_F(LeftoversTest, DepthIsBounded) {
  Put("a/b/c/d/e", "1");
  const Leftovers left = Read({}, {.depth = 3});
  EXPECT_TRUE(left.files.empty());
  EXPECT_FALSE(left.complete);
}

TEST_F(LeftoversTest, ASparseGiantCostsNothing) {
  Put("giant", "");
  ASSERT_EQ(::truncate((dir_.path() + "/giant").c_str(), 1LL << 40), 0);
  const Leftovers left = Read();
  ASSERT_EQ(left.files.size(), 1U);
  EXPECT_EQ(left.files[0].size, 1ULL << 40);
  EXPECT_EQ(left.files[0].state, State::kTooLarge);
}

}  // namespace
}  // namespace igloo::session
