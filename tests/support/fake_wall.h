#pragma once

#include <span>

#include "backend/registry.h"

namespace igloo::testing {

/// The walls of igloo with one more, "fake", that is none: what it starts is a stand-in for
/// igloo-init in this process, which prints the words of the program instead of starting it.
std::span<const wall::Wall> WallsWithFake();
std::span<const backend::Factory> FactoriesWithFake();

}  // namespace igloo::testing
