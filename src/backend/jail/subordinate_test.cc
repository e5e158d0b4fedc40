#include "backend/jail/subordinate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/temp_dir.h"

namespace igloo::backend::jail {
namespace {

const std::vector<std::string> kMe = {"1001", "ann"};

TEST(LargestRange, IsOneOfTheUsersOwn) {
  EXPECT_EQ(LargestRange("bob:100000:65536\nann:165536:65536\n", kMe), (IdRange{165536, 65536}));
  EXPECT_EQ(LargestRange("1001:7000:300", kMe), (IdRange{7000, 300})) << "by number, no newline";
  EXPECT_EQ(LargestRange("ann:1000:256\nann:200000:512\nann:5000:300\n", kMe),
            (IdRange{200000, 512}));
  EXPECT_EQ(LargestRange("anna:100000:65536\n:1:1000\n", kMe), IdRange{});
  EXPECT_EQ(LargestRange("", kMe), IdRange{});
}

TEST(LargestRange, IsNeverWhatIsWrittenWrongly) {
  for (const char* line : {"ann:100000", "ann:100000:65536:1", "ann:-1:65536", "ann:1e5:65536",
                           "ann: 100000:65536", "ann:100000:", "ann:4294967295:1",
                           "ann:4294900000:70000", "ann:0:65536", "ann:99999999999:65536"}) {
    EXPECT_EQ(LargestRange(line, kMe), IdRange{}) << line;
  }
}

TEST(SubordinateIds, HaveAsManyBlocksAsBothRangesHaveRoomFor) {
  EXPECT_EQ((SubordinateIds{.users = {100000, 65536}, .groups = {100000, 65536}}.blocks()), 256U);
  EXPECT_EQ((SubordinateIds{.users = {100000, 1000}, .groups = {100000, 65536}}.blocks()), 3U);
  EXPECT_EQ((SubordinateIds{.users = {100000, 65536}, .groups = {100000, 255}}.blocks()), 0U);
}

/// A program in a directory, with modes of their own.
std::string FindWith(mode_t directory_mode, mode_t mode) {
  const TempDir place = TempDir::Make("/tmp").value();
  const std::string file = place.path() + "/newuidmap";
  std::ofstream(file) << "#!/bin/false\n";
  EXPECT_EQ(::chmod(file.c_str(), mode), 0);
  EXPECT_EQ(::chmod(place.path().c_str(), directory_mode), 0);
  const std::vector<std::string> places = {"/nowhere", place.path()};
  return FindTrusted("newuidmap", places);
}

TEST(FindTrusted, TakesWhatOnlyRootCouldHavePutThere) {
  // Started by a user, nothing that a test makes is root's: all are refused.
  const bool root = ::geteuid() == 0;
  EXPECT_EQ(!FindWith(0755, 04755).empty(), root);
  EXPECT_EQ(FindWith(0755, 0755), "") << "it could raise nothing";
  EXPECT_EQ(FindWith(0755, 04775), "");
  EXPECT_EQ(FindWith(0755, 04757), "");
  EXPECT_EQ(FindWith(0775, 04755), "");
  EXPECT_EQ(FindWith(01777, 04755), "");
  EXPECT_EQ(FindWith(0755, 04644), "") << "nobody can start it";
}

TEST(LeaseBlock, GivesNoBlockTwiceAndTakesItBack) {
  const TempDir place = TempDir::Make("/tmp").value();
  const std::string directory = place.path() + "/igloo/ids";
  const SubordinateIds ids{.users = {100000, 600}, .groups = {300000, 65536}};
  auto one = LeaseBlock(ids, directory);
  auto two = LeaseBlock(ids, directory);
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->first_uid, two->first_uid);
  for (const auto* each : {&*one, &*two}) {
    EXPECT_TRUE(each->first_uid == 100000 || each->first_uid == 100256) << each->first_uid;
    EXPECT_EQ(each->first_gid - 300000, each->first_uid - 100000);
  }
  const auto three = LeaseBlock(ids, directory);
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().code, Errc::kExhausted);
  const std::uint32_t freed = one->first_uid;
  // Whoever else holds the lease keeps the block.
  UniqueFd held(::dup(one->lease.get()));
  one = IdBlock{};
  EXPECT_FALSE(LeaseBlock(ids, directory));
  held.Reset();
  const auto again = LeaseBlock(ids, directory);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->first_uid, freed);
}

}  // namespace
}  // namespace igloo::backend::jail
