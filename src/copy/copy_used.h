#pragma once

#include <chrono>
#include <span>

#include "base/error.h"
#include "copy/address_space.h"

namespace igloo::copy {

/// Copies every page of these that `from` uses to the same place in `to`, where nothing is yet.
/// Private memory only. Much of it is copied by several threads. Fails when it is not done by
/// `until`.
Result<void> CopyUsed(const AddressSpace& from, const AddressSpace& to,
                      std::span<const Region> regions, std::chrono::steady_clock::time_point until);

}  // namespace igloo::copy
