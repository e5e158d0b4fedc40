#include "agent/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Refusal Call(std::string what, std::uint64_t count = 1, std::int64_t at = 10) {
  return {.kind = RefusalKind::kCall,
          .what = std::move(what),
          .program = "/usr/bin/strace",
          .remedy = "nothing allows it",
          .count = count,
          .first = at,
          .last = at};
}

TEST(RefusalListTest, CountsEqualOnesInOneRowWithTheFirstAndTheLastTime) {
  RefusalList list;
  list.Add(Call("ptrace", 1, 10));
  list.Add(Call("mount", 1, 11));
  list.Add(Call("ptrace", 2, 20));
  Refusal by_another = Call("ptrace");
  by_another.program = "/usr/bin/gdb";
  list.Add(by_another);
  ASSERT_THAT(list.rows(), SizeIs(3));
  EXPECT_EQ(list.rows()[0].count, 3U);
  EXPECT_EQ(list.rows()[0].first, 10);
  EXPECT_EQ(list.rows()[0].last, 20);
  EXPECT_EQ(list.more(), 0U);
}

TEST(RefusalListTest, ATotalTakesThePlaceOfASmallerOne) {
  RefusalList list;
  for (const std::uint64_t total : {1U, 500U, 400U}) list.AddTotal(Call("ptrace", total));
  ASSERT_THAT(list.rows(), SizeIs(1));
  EXPECT_EQ(list.rows()[0].count, 500U);
}

TEST(RefusalListTest, AFloodOfOneKindHasBoundsAndLeavesRoomForTheOthers) {
  RefusalList list;
  constexpr std::size_t kFlood = 100'000;
  for (std::size_t i = 0; i < kFlood; ++i) {
    list.Add({.kind = RefusalKind::kWrite,
              .what = std::to_string(i) + std::string(10'000, 'x'),
              .count = ~0ULL});
    if (i == 100) list.Add(Call("ptrace"));
  }
  EXPECT_THAT(list.rows(), SizeIs(RefusalList::kMostOfKind + 1));
  EXPECT_EQ(list.rows().back().what, "ptrace");
  EXPECT_EQ(list.more(), ~0ULL) << "and no count begins again at 0";
  for (const Refusal& each : list.rows()) {
    EXPECT_LE(each.what.size(), RefusalList::kMostText + 64);
  }
}

BoxRefusals Example(const std::string& box, std::int64_t started) {
  BoxRefusals refusals{.box = box,
                       .agent = "claude",
                       .project = "/home/ann/\x1b p",
                       .started = started,
                       .ended = started + 5,
                       .calls = false,
                       .files = true};
  refusals.list.Add(Call("ptrace", 7));
  refusals.list.Add({.kind = RefusalKind::kMissing, .what = "/a\nb", .reason = "r"});
  return refusals;
}

TEST(BoxRefusalsTest, SurviveBeingWrittenDown) {
  const BoxRefusals before = Example("one", 100);
  const auto after = BoxRefusals::Decode(before.Encode());
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(*after, before);
}

TEST(BoxRefusalsTest, WhatIsNoListIsRefusedAndUnknownKindsAreLeftOut) {
  for (const char* bad : {"", "[]", "{}", "{\"refusals\": 1}", "\xff"}) {
    EXPECT_FALSE(BoxRefusals::Decode(bad)) << bad;
  }
  const auto odd = BoxRefusals::Decode(
      R"({"box": 1, "refusals": [1, {"kind": "new"}, {"kind": "call", "count": -1}], "more": "x"})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->box, "");
  ASSERT_THAT(odd->list.rows(), SizeIs(1));
  EXPECT_EQ(odd->list.rows()[0].count, 0U);
}

class RefusalStoreTest : public ::testing::Test {
 protected:
  TempDir temp_ = TempDir::Make("/tmp").value();
  RefusalStore store_ = RefusalStore::Open(temp_.path() + "/igloo/refusals").value();
};

TEST_F(RefusalStoreTest, KeepsTheLastBoxOfEachName) {
  ASSERT_TRUE(store_.Write(Example("one", 100)));
  ASSERT_TRUE(store_.Write(Example("two", 50)));
  ASSERT_TRUE(store_.Write(Example("one", 200)));
  EXPECT_EQ(store_.Find("one")->started, 200);
  EXPECT_EQ(store_.Find("two")->started, 50);
  const auto none = store_.Find("three");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().hint, HasSubstr("one, two"));
}

TEST_F(RefusalStoreTest, KeepsTheNewestAlone) {
  constexpr int kBoxes = static_cast<int>(RefusalStore::kMostBoxes) + 5;
  for (int i = 0; i < kBoxes; ++i) {
    ASSERT_TRUE(store_.Write(Example("box-" + std::to_string(i), 1000 + i)));
  }
  const auto all = store_.All();
  ASSERT_THAT(all, SizeIs(RefusalStore::kMostBoxes));
  EXPECT_EQ(all.front().box, "box-" + std::to_string(kBoxes - 1));
  EXPECT_FALSE(store_.Find("box-0"));
}

TEST_F(RefusalStoreTest, NoNameLeadsOutOfItsDirectory) {
  EXPECT_FALSE(store_.Write(Example("../out", 1)));
  EXPECT_FALSE(store_.Find("../out"));
  EXPECT_FALSE(std::filesystem::exists(temp_.path() + "/igloo/out.json"));
}

}  // namespace
}  // namespace igloo::agent
