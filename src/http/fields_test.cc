#include "http/fields.h"

#include <gtest/gtest.h>

namespace igloo::http {
namespace {

TEST(HttpFields, NamesAreTheSameInAnyCase) {
  Fields fields{{"Accept", "a"}, {"accept", "b"}};
  fields.Add("X-Empty", "");
  EXPECT_EQ(fields.Get("ACCEPT"), "a");
  EXPECT_EQ(fields.Count("aCCept"), 2U);
  EXPECT_EQ(fields.Count("x-empty"), 1U);
  EXPECT_EQ(fields.Get("Accep"), "");
  EXPECT_EQ(fields.Count("Accept "), 0U);
}

}  // namespace
}  // namespace igloo::http
