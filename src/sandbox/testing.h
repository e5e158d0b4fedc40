#pragma once

// What the tests of plans share.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace igloo::sandbox::testing {

inline constexpr PathFact kDirectory{.device = 1, .inode = 2, .type = S_IFDIR, .uid = 3, .gid = 4};
inline constexpr PathFact kRegular{.device = 1, .inode = 5, .type = S_IFREG};
inline constexpr PathFact kNull{.device = 6, .inode = 7, .type = S_IFCHR};

inline constexpr PathFact kBehindLink{
    .device = 1, .inode = 8, .type = S_IFDIR, .behind_link = true};

inline const HostFacts& Facts() {
  static const HostFacts facts = {
      {"/host/dir", kDirectory},    {"/host/other", kDirectory}, {"/host/file", kRegular},
      {"/host/gone", std::nullopt}, {"/dev/null", kNull},        {"/dev/sda", kNull},
      {"/dev/zero", std::nullopt},  {"/dev/full", kRegular},     {"/host/link/dir", kBehindLink}};
  return facts;
}

/// A policy of these entries that lacks nothing else.
inline Policy PolicyWith(std::vector<Entry> environment, std::vector<Entry> run = {}) {
  Policy policy;
  policy.environment = std::move(environment);
  policy.run = std::move(run);
  policy.argv = {"/bin/true"};
  policy.cwd = "/work";
  return policy;
}

inline Plan PlanOf(const Policy& policy) {
  auto plan = MakePlan(policy, Facts());
  EXPECT_TRUE(plan) << plan.error().what;
  return plan ? *std::move(plan) : Plan{};
}

inline Error ErrorOf(const Policy& policy) {
  const auto plan = MakePlan(policy, Facts());
  EXPECT_FALSE(plan);
  return plan ? Error{} : plan.error();
}

/// The steps of the environment's own entries, without what every plan begins and ends with.
inline std::vector<Step> Middle(const Plan& plan) {
  EXPECT_GE(plan.environment.size(), 7U);
  return {plan.environment.begin() + 4, plan.environment.end() - 3};
}

/// The steps of what each sandbox gets of its own: between the frozen /proc/sys and the network.
inline std::vector<Step> FreshMiddle(const Plan& plan) {
  const auto begin = std::ranges::find(plan.fresh, Step{step::ReadOnly{"/proc/sys"}});
  return {begin + 1, std::ranges::find(plan.fresh, Step{step::BoundPrivileges{}})};
}

/// The steps of the run's own entries: all but the last two, which every run ends with.
inline std::vector<Step> RunMiddle(const Plan& plan) {
  EXPECT_GE(plan.run.size(), 2U);
  return {plan.run.begin(), plan.run.end() - 2};
}

inline step::Bind BindOf(std::string source, std::string target, PathFact fact = kDirectory) {
  return {.source = std::move(source), .target = std::move(target), .fact = fact};
}

}  // namespace igloo::sandbox::testing
