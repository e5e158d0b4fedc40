#include "base/remove_tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo {
namespace {

namespace fs = std::filesystem;

TEST(RemoveTree, TakesDirectoriesThatAreClosedToEverybody) {
  const TempDir place = TempDir::Make(::testing::TempDir()).value();
  const std::string top = place.path() + "/tree";
  fs::create_directories(top + "/cache/module@v1");
  std::ofstream(top + "/cache/module@v1/file") << "x";
  ::chmod((top + "/cache/module@v1").c_str(), 0555);
  ::chmod((top + "/cache").c_str(), 0);
  EXPECT_TRUE(RemoveTree(top));
  EXPECT_FALSE(fs::exists(top));
}

TEST(RemoveTree, FollowsNoLink) {
  const TempDir place = TempDir::Make(::testing::TempDir()).value();
  fs::create_directories(place.path() + "/kept");
  std::ofstream(place.path() + "/kept/file") << "x";
  fs::create_directories(place.path() + "/tree/below");
  fs::create_directory_symlink("../../kept", place.path() + "/tree/below/link");
  EXPECT_TRUE(RemoveTree(place.path() + "/tree"));
  EXPECT_TRUE(fs::exists(place.path() + "/kept/file"));
}

TEST(RemoveTree, TakesAnyDepth) {
  const TempDir place = TempDir::Make(::testing::TempDir()).value();
  const std::string top = place.path() + "/tree";
  ASSERT_EQ(::mkdir(top.c_str(), 0700), 0);
  const std::string before = fs::current_path().string();
  fs::current_path(top);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(::mkdir("d", 0700), 0);
    ASSERT_EQ(::chdir("d"), 0);
  }
  fs::current_path(before);
  EXPECT_TRUE(RemoveTree(top));
  EXPECT_FALSE(fs::exists(top));
}

TEST(RemoveTree, WhatIsNotThereIsNoMistake) {
  const TempDir place = TempDir::Make(::testing::TempDir()).value();
  EXPECT_TRUE(RemoveTree(place.path() + "/none"));
}

}  // namespace
}  // namespace igloo
