#include "network/body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::network {
namespace {

using ::testing::HasSubstr;

constexpr Framing kChunked{Framing::Kind::kChunked};

/// How many bytes the body takes when they come `step` at a time; nothing for a broken one.
std::optional<std::size_t> SizeOf(const Framing& framing, std::string_view bytes,
                                  std::size_t step) {
  Body body(framing);
  std::size_t size = 0;
  while (!body.ended() && size < bytes.size()) {
    const auto taken = body.Take(bytes.substr(size, step));
    if (!taken) return std::nullopt;
    size += *taken;
  }
  return body.ended() ? std::optional(size) : std::nullopt;
}

TEST(Body, EndsWhereItsFramingSays) {
  const std::string chunked = "5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t step = 1; step < 70; ++step) {
    EXPECT_EQ(SizeOf(kChunked, chunked + "GET / HTTP/1.1", step), chunked.size());
    EXPECT_EQ(SizeOf({Framing::Kind::kLength, 7}, "0123456789", step), 7U);
  }
  EXPECT_TRUE(Body(Framing{}).ended());
  EXPECT_TRUE(Body(Framing{Framing::Kind::kLength, 0}).ended());
  EXPECT_FALSE(SizeOf({Framing::Kind::kUntilClose}, "all there is", 5))
      << "it ends with its stream";
}

TEST(Body, ChunksAreReadStrictly) {
  const char* broken[] = {"5\nhello\r\n0\r\n\r\n",
                          "5\r\nhello\n0\r\n\r\n",
                          "5\r\nhelloX\r\n0\r\n\r\n",
                          "0x5\r\nhello\r\n0\r\n\r\n",
                          "+5\r\nhello\r\n",
                          "-1\r\n",
                          " 5\r\nhello\r\n",
                          "5 \r\nhello\r\n",
                          "\r\nhello",
                          "1000000000000000\r\n",
                          "ffffffffffffffff\r\n",
                          "5;a\nb\r\nhello\r\n",
                          "0\r\n folded: x\r\n\r\n",
                          "0\r\nA: b\n\r\n",
                          "0\r\n:x\r\n\r\n",
                          "0\r\n\rX",
                          "5\r\nhello\r\n0\r\nA\x01: b\r\n\r\n"};
  for (const char* bytes : broken) {
    EXPECT_FALSE(SizeOf(kChunked, bytes, 1000)) << bytes;
    EXPECT_FALSE(SizeOf(kChunked, bytes, 1)) << bytes;
  }
  EXPECT_FALSE(SizeOf(kChunked, "1;" + std::string(9000, 'x') + "\r\na\r\n0\r\n\r\n", 100));
  EXPECT_FALSE(SizeOf(kChunked, "0\r\nA: " + std::string(9000, 'x') + "\r\n\r\n", 100));
}

TEST(Body, PlainBytesCanBePassedUnread) {
  Body body(kChunked);
  ASSERT_EQ(*body.Take("a\r\n01"), 5U);
  EXPECT_EQ(body.plain(), 8U);
  body.Skip(8);
  EXPECT_EQ(body.plain(), 0U);
  ASSERT_EQ(*body.Take("\r\n0\r\n\r\n"), 7U);
  EXPECT_TRUE(body.ended());
}

}  // namespace
}  // namespace igloo::network
