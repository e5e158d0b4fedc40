#include "base/random.h"

#include <gtest/gtest.h>

#include <string>

namespace igloo {
namespace {

TEST(RandomName, Has32DigitsAndIsNeverTheSame) {
  const std::string name = RandomName();
  EXPECT_EQ(name.size(), 32U);
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos) << name;
  EXPECT_NE(name, RandomName());
}

}  // namespace
}  // namespace igloo
