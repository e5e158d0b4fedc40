#include "bench/samples.h"

#include <gtest/gtest.h>

namespace igloo::bench {
namespace {

TEST(Samples, SharesAreOfTheSortedValues) {
  Samples samples;
  EXPECT_EQ(samples.median(), 0);
  for (const double each : {5, 1, 4, 2, 3}) samples.Add(each);
  EXPECT_EQ(samples.Quantile(0), 1);
  EXPECT_EQ(samples.median(), 3);
  EXPECT_EQ(samples.Quantile(0.99), 5);
  EXPECT_EQ(samples.Quantile(1), 5);
}

}  // namespace
}  // namespace igloo::bench
