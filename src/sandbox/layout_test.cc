#include "sandbox/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;
using Kind = Layout::Kind;
using Of = Layout::Mount::Of;

constexpr Layout::Mount kMemory{.of = Of::kMemory, .part = Part::kFresh};

TEST(LayoutTest, TheInnermostMountHoldsAPath) {
  Layout layout;
  EXPECT_EQ(layout.HolderOf("/a/b"), nullptr);
  layout.AddMount("/a", {.of = Of::kHost, .part = Part::kEnvironment});
  layout.AddMount("/a/b", kMemory);
  EXPECT_EQ(layout.HolderOf("/a/c/d")->of, Of::kHost);
  EXPECT_EQ(layout.HolderOf("/a/b")->of, Of::kMemory);
  EXPECT_EQ(layout.HolderOf("/a/b/c/d")->of, Of::kMemory);
  EXPECT_EQ(layout.HolderOf("/ab"), nullptr) << "a name that only looks alike";
}

TEST(LayoutTest, FilesAndLinksHaveNothingBelowThem) {
  Layout layout;
  layout.AddName("/d", {Part::kEnvironment, Kind::kDirectory});
  layout.AddName("/d/f", {Part::kEnvironment, Kind::kFile});
  layout.AddName("/l", {Part::kEnvironment, Kind::kLink});
  layout.AddMount("/m", {.of = Of::kHost, .part = Part::kRun, .kind = Kind::kFile});
  EXPECT_EQ(layout.LeafAbove("/d/f/x/y"), "/d/f");
  EXPECT_EQ(layout.LeafAbove("/l/x"), "/l");
  EXPECT_EQ(layout.LeafAbove("/m/x"), "/m");
  for (const char* fine : {"/d", "/d/f", "/l", "/m", "/d/x", "/d/fx/y", "/lx/y", "/new/x"}) {
    EXPECT_EQ(layout.LeafAbove(fine), "") << fine;
  }
}

TEST(LayoutTest, WhatTheRunBringsIsTheRunsAllTheWayDown) {
  Layout layout;
  layout.AddMount("/fresh", kMemory);
  layout.AddName("/fresh/d", {Part::kRun, Kind::kDirectory});
  layout.AddMount("/tree", {.of = Of::kHost, .part = Part::kRun});
  for (const char* path : {"/fresh/d", "/fresh/d/x/y", "/tree", "/tree/x"}) {
    EXPECT_TRUE(layout.IsOfRun(path)) << path;
  }
  for (const char* path : {"/fresh", "/fresh/x", "/fresh/dx", "/other"}) {
    EXPECT_FALSE(layout.IsOfRun(path)) << path;
  }
}

TEST(LayoutTest, OnlyMountsHideWhatLiesBelow) {
  Layout layout;
  layout.Take("/a/b");
  EXPECT_EQ(layout.HiddenBy("/a/b", false), "/a/b");
  EXPECT_EQ(layout.HiddenBy("/a", true), "/a/b");
  EXPECT_EQ(layout.HiddenBy("/a", false), "");
  EXPECT_EQ(layout.HiddenBy("/a/b/c", true), "");
  layout.Take("/a-b");
  EXPECT_EQ(layout.HiddenBy("/a-", true), "");
}

TEST(LayoutTest, AMountForgetsWhatItCoversAndNothingElse) {
  Layout layout;
  for (const char* path : {"/a", "/a/b", "/a/b/c", "/a-b", "/a0", "/ab", "/a.b/c"}) {
    layout.AddName(path, {Part::kEnvironment, Kind::kFile});
    layout.AddMount(path, {.of = Of::kHost, .part = Part::kRun, .kind = Kind::kFile});
    layout.Take(path);
  }
  layout.AddMount("/a", kMemory);
  EXPECT_THAT(layout.mounts(),
              ElementsAre(Key("/a"), Key("/a-b"), Key("/a.b/c"), Key("/a0"), Key("/ab")));
  EXPECT_EQ(layout.KindOf("/a"), Kind::kDirectory) << "the mount is what is seen";
  EXPECT_EQ(layout.KindOf("/a/b"), std::nullopt);
  EXPECT_EQ(layout.HiddenBy("/a/b", true), "");
  EXPECT_EQ(layout.HiddenBy("/a", true), "/a");
  EXPECT_FALSE(layout.IsOfRun("/a/b/c"));
  for (const char* path : {"/a-b", "/a0", "/ab", "/a.b/c"}) {
    EXPECT_EQ(layout.KindOf(path), Kind::kFile) << path;
    EXPECT_EQ(layout.HiddenBy(path, false), path);
  }
}

}  // namespace
}  // namespace igloo::sandbox
