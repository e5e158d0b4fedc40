#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/host.h"
#include "support/running.h"

namespace igloo::testing {

/// Everything of the machine that a run could use up.
struct Machine {
  std::string mounts = MountTable();
  std::size_t children = ChildrenOf(::getpid()).size();
  int descriptors = CountDescriptors(::getpid());
};

inline void ExpectAsBefore(const Machine& before) {
  const auto same = [&] {
    const Machine now;
    return now.mounts == before.mounts && now.children == before.children &&
           now.descriptors == before.descriptors;
  };
  EXPECT_TRUE(WaitFor(same)) << "children " << before.children << " -> " << Machine().children
                             << ", descriptors " << before.descriptors << " -> "
                             << Machine().descriptors;
}

/// How many runs; `make soak` asks for ten thousand.
inline int SoakRuns() {
  const char* wanted = std::getenv("IGLOO_SOAK_RUNS");
  return wanted != nullptr ? std::stoi(wanted) : 200;
}

}  // namespace igloo::testing
