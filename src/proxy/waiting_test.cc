#include "proxy/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace igloo::proxy {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

TEST(Deadline, IsToldInItsTurnUnlessItIsDropped) {
  asio::io_context loop(1);
  std::vector<int> late;
  const Deadline third(loop.get_executor(), milliseconds(30), [&] { late.push_back(3); });
  const Deadline first(loop.get_executor(), milliseconds(10), [&] { late.push_back(1); });
  std::optional<Deadline> dropped;
  dropped.emplace(loop.get_executor(), milliseconds(5), [&] { late.push_back(0); });
  const Deadline second(loop.get_executor(), milliseconds(20), [&] { late.push_back(2); });
  dropped.reset();
  EXPECT_FALSE(first.passed());
  loop.run();
  EXPECT_THAT(late, ElementsAre(1, 2, 3));
  EXPECT_TRUE(first.passed() && second.passed() && third.passed());
}

TEST(Deadline, MayDropAndMakeOthersWhenItIsTold) {
  asio::io_context loop(1);
  std::vector<int> late;
  std::optional<Deadline> other, made;
  const Deadline first(loop.get_executor(), milliseconds(1), [&] {
    late.push_back(1);
    other.reset();
    made.emplace(loop.get_executor(), milliseconds(1), [&] { late.push_back(3); });
  });
  other.emplace(loop.get_executor(), milliseconds(1), [&] { late.push_back(2); });
  loop.run();
  EXPECT_THAT(late, ElementsAre(1, 3));
}

}  // namespace
}  // namespace igloo::proxy
