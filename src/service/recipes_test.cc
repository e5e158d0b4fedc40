#include "service/recipes.h"

#include <gmock/gmock.h>

#include "base/temp_dir.h"
#include "environment/host.h"

namespace igloo::service {
namespace {

class RecipesTest : public ::testing::Test {
 protected:
  static Order Usual() {
    Order order{.driver = language::FindDriver("bash"), .setup = 1};
    order.where.environment =
        environment::MakeHostEnvironment("shell", environment::ReadHostLayout()).value();
    return order;
  }
  std::shared_ptr<const session::Recipe> For(const Order& order, std::int64_t now = 0) {
    return recipes_.For(order, now).value();
  }

  Recipes recipes_;
};

TEST_F(RecipesTest, TheSameIsPlannedOnceAMoment) {
  const auto first = For(Usual());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(For(Usual(), 999'999), first);
  EXPECT_EQ(For(Usual(), 5'000'000), first) << "planned anew, and nothing had changed";
  Order other_code = Usual();
  other_code.request.what = environment::Code{"echo"};
  other_code.request.files = {{"a.txt", "x"}};
  other_code.request.time_ms = 7;
  EXPECT_EQ(For(other_code), first) << "what differs from call to call is not in it";
}

TEST_F(RecipesTest, WhateverAPlanFollowsFromMakesAnother) {
  const auto usual = For(Usual());
  Order order = Usual();
  order.request.memory_bytes = 64U << 20;
  EXPECT_EQ(For(order)->plan.payload.memory_bytes, 64U << 20);
  order = Usual();
  order.request.processes = 5;
  EXPECT_NE(For(order)->plan, usual->plan);
  order = Usual();
  order.request.open_files = 50;
  EXPECT_NE(For(order)->plan, usual->plan);
  order = Usual();
  order.request.variables = {{"A", "1"}};
  EXPECT_NE(For(order)->plan, usual->plan);
  order = Usual();
  order.request.place.user = "other";
  EXPECT_NE(For(order)->plan, usual->plan);
  order = Usual();
  order.where.environment =
      environment::MakeHostEnvironment("python", environment::ReadHostLayout()).value();
  order.driver = language::FindDriver("python");
  EXPECT_NE(For(order)->plan, usual->plan);
  order = Usual();
  order.setup = 2;
  order.where.warm = 1;
  EXPECT_EQ(For(order)->most, 1U) << "a changed configuration counts at once";
  EXPECT_EQ(For(Usual()), usual);
}

TEST_F(RecipesTest, AProjectIsLookedAtEachTime) {
  Order order = Usual();
  const auto own = TempDir::Make(::testing::TempDir());
  ASSERT_TRUE(own);
  order.request.project = environment::Project{.path = own->path()};
  const auto first = For(order);
  EXPECT_EQ(*For(order), *first);
  EXPECT_NE(For(order), first);
}

}  // namespace
}  // namespace igloo::service
