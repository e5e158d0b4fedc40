#include "copy/protocol.h"

#include <gtest/gtest.h>

namespace igloo::copy {
namespace {

TEST(CopyProtocol, OrdersComeBackAsTheyWent) {
  const Order checkpoint{.original = 7, .restored_as = 2, .descriptor = 5, .memory = 1ULL << 33};
  EXPECT_EQ(DecodeOrder(Encode(checkpoint)).value(), checkpoint);
  const Order fork{.kind = Order::Kind::kFork, .original = 2, .copy = 3};
  EXPECT_EQ(DecodeOrder(Encode(fork)).value(), fork);
}

TEST(CopyProtocol, AnOrderThatCannotBeMeantIsRefused) {
  EXPECT_FALSE(DecodeOrder(""));
  EXPECT_FALSE(DecodeOrder(Encode(Order{.original = 0, .restored_as = 2, .descriptor = 5})));
  EXPECT_FALSE(DecodeOrder(Encode(Order{.original = 7, .restored_as = 2, .descriptor = 1})));
  EXPECT_FALSE(DecodeOrder(Encode(Order{.original = 7, .restored_as = 0, .descriptor = 5})));
  EXPECT_FALSE(DecodeOrder(Encode(Order{.kind = Order::Kind::kFork, .original = 2})));
  EXPECT_FALSE(DecodeOrder(Encode(Order{.kind = static_cast<Order::Kind>(3), .original = 2})));
  EXPECT_FALSE(DecodeOrder(Encode(Order{.original = 7, .restored_as = 2, .descriptor = 5}) + "x"));
}

TEST(CopyProtocol, NewsComeBackAsTheyWent) {
  for (const News& each : {News(news::Expects{}), News(news::Expects{true}), News(news::Holds{17}),
                           News(news::GoesOn{}), News(news::Complete{}), News(news::Written{}),
                           News(news::Failed{"what", "hint"})}) {
    EXPECT_EQ(DecodeNews(Encode(each)).value(), each);
  }
}

/// It reads hostile memory, so it may be hostile some day.
TEST(CopyProtocol, NewsThatNobodyUnderstandsAreRefused) {
  for (const std::string_view packet : {"", "x", "ee", "h", "h12", "f", "fwithout an end", "g."}) {
    EXPECT_FALSE(DecodeNews(packet)) << packet;
  }
  EXPECT_FALSE(DecodeNews(std::string(kLongestPacket + 1, 'f')));
}

TEST(CopyProtocol, WhatItSaysCannotSpeakToATerminal) {
  const News said = DecodeNews(Encode(News(news::Failed{"\x1b[2J", "\a"}))).value();
  const auto& failed = std::get<news::Failed>(said);
  EXPECT_EQ(failed.what.find('\x1b'), std::string::npos);
  EXPECT_EQ(failed.hint.find('\a'), std::string::npos);
}

TEST(CopyProtocol, LongFailuresAreCut) {
  const std::string packet =
      Encode(News(news::Failed{std::string(9000, 'a'), std::string(9000, 'b')}));
  EXPECT_LE(packet.size(), kLongestPacket);
  EXPECT_TRUE(DecodeNews(packet));
}

}  // namespace
}  // namespace igloo::copy
