#include "tools/resources.h"

#include <gtest/gtest.h>

namespace igloo::tools {
namespace {

TEST(ResourcesTest, WhateverIsKeptFitsIntoAnAnswer) {
  const auto small = ContentsOf({"a", "text/plain", std::string(1U << 20, '"')});
  EXPECT_TRUE(std::holds_alternative<std::string>(small.body));
  const auto large = ContentsOf({"b", "text/plain", std::string(4U << 20, '"')});
  ASSERT_TRUE(std::holds_alternative<mcp::Blob>(large.body)) << "as text it has twice the bytes";
  EXPECT_EQ(std::get<mcp::Blob>(large.body).bytes.size(), 4U << 20);
  const auto binary = ContentsOf({"c", "x/y", std::string("\0\x01", 2)});
  ASSERT_TRUE(std::holds_alternative<mcp::Blob>(binary.body));
  EXPECT_EQ(std::get<mcp::Blob>(binary.body).bytes, std::string("\0\x01", 2));
}

}  // namespace
}  // namespace igloo::tools
