#include "backend/jail/jail.h"

#include <gtest/gtest.h>

namespace igloo::backend::jail {
namespace {

TEST(CanBePrepared, WhatHasANetworkThatNoTemplateHasCannot) {
  sandbox::Plan plan;
  EXPECT_TRUE(CanBePrepared(plan));
  plan.network = sandbox::ConnectedNetwork{.tier = "internet"};
  EXPECT_TRUE(CanBePrepared(plan));
  plan.network = sandbox::ConnectedNetwork{.tier = "internet", .device = sandbox::Device{}};
  EXPECT_FALSE(CanBePrepared(plan));
  plan.network = sandbox::HostNetwork("test");
  EXPECT_FALSE(CanBePrepared(plan));
}

}  // namespace
}  // namespace igloo::backend::jail
