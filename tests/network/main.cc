#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "world.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  if (!GTEST_FLAG_GET(list_tests)) igloo::testing::World::Enter();
  return RUN_ALL_TESTS();
}
