#include "copy/missing_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace igloo::copy {
namespace {

constexpr std::uint64_t kPage = 4096, kBlock = 4 * kPage;
using Piece = MissingMemory::Piece;

Piece Pages(std::uint64_t at, std::uint64_t count, std::uint64_t from) {
  return {.at = at * kPage, .size = count * kPage, .from = from * kPage};
}

MissingMemory Hundred() {
  MissingMemory missing;
  missing.Add(Pages(100, 100, 1100));
  return missing;
}

TEST(MissingMemoryTest, AnswersWithTheBlockAroundAPlace) {
  const MissingMemory missing = Hundred();
  EXPECT_EQ(missing.Around(150 * kPage, kBlock), Pages(148, 4, 1148));
  EXPECT_EQ(missing.Around(101 * kPage, kBlock), Pages(100, 4, 1100));
  EXPECT_EQ(missing.Around(199 * kPage, 64 * kPage), Pages(192, 8, 1192));
  EXPECT_FALSE(missing.Around(99 * kPage, kBlock));
  EXPECT_FALSE(missing.Around(200 * kPage, kBlock));
  EXPECT_FALSE(MissingMemory().First(kBlock));
}

TEST(MissingMemoryTest, WhatIsRemovedIsOwedNoMore) {
  MissingMemory missing = Hundred();
  missing.Remove(120 * kPage, 130 * kPage);
  EXPECT_FALSE(missing.Around(120 * kPage, kBlock));
  EXPECT_FALSE(missing.Around(129 * kPage, kBlock));
  EXPECT_EQ(missing.Around(119 * kPage, 64 * kPage), Pages(100, 20, 1100));
  EXPECT_EQ(missing.Around(131 * kPage, kBlock), Pages(130, 2, 1130));
  missing.Remove(0, 1000 * kPage);
  EXPECT_TRUE(missing.empty());
}

TEST(MissingMemoryTest, WhatIsMovedIsOwedElsewhereAndComesFromWhereItWas) {
  MissingMemory missing = Hundred();
  missing.Add(Pages(300, 10, 2300));
  missing.Move(150 * kPage, 305 * kPage, 10 * kPage);
  EXPECT_FALSE(missing.Around(150 * kPage, kBlock));
  EXPECT_EQ(missing.Around(160 * kPage, kBlock), Pages(160, 4, 1160));
  EXPECT_EQ(missing.Around(304 * kPage, kBlock), Pages(304, 1, 2304));
  EXPECT_EQ(missing.Around(306 * kPage, kBlock), Pages(305, 3, 1150));
}

/// Every page for itself, beside the same in pieces.
TEST(MissingMemoryTest, IsTheSameAsPageByPage) {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t most) { return random() % most; };
  for (int round = 0; round < 200; ++round) {
    MissingMemory missing = Hundred();
    std::map<std::uint64_t, std::uint64_t> plain;
    for (std::uint64_t page = 100; page < 200; ++page) plain[page] = page + 1000;
    for (int step = 0; step < 12; ++step) {
      const std::uint64_t from = 90 + below(110), size = 1 + below(40);
      if (below(2) == 0) {
        missing.Remove(from * kPage, (from + size) * kPage);
        for (std::uint64_t i = 0; i < size; ++i) plain.erase(from + i);
      } else {
        // The kernel moves nothing onto itself.
        const std::uint64_t to = from + size + below(60);
        missing.Move(from * kPage, to * kPage, size * kPage);
        for (std::uint64_t i = 0; i < size; ++i) {
          plain.erase(to + i);
          if (const auto found = plain.extract(from + i)) plain[to + i] = found.mapped();
        }
      }
    }
    for (std::uint64_t page = 80; page < 400; ++page) {
      const auto piece = missing.Around(page * kPage, kPage);
      ASSERT_EQ(piece.has_value(), plain.contains(page)) << page;
      if (piece) ASSERT_EQ(*piece, Pages(page, 1, plain[page]));
    }
    std::uint64_t brought = 0;
    while (const auto next = missing.First(kBlock)) {
      brought += next->size / kPage;
      missing.Remove(next->at, next->at + next->size);
    }
    ASSERT_EQ(brought, plain.size());
  }
}

}  // namespace
}  // namespace igloo::copy
