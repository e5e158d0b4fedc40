#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::backend::container {

/// Host ids of containers: inside the range that systemd keeps for them, behind those of
/// igloo-jail.
inline constexpr std::uint32_t kFirstId = 0x50000000;
inline constexpr std::uint32_t kIdsOfContainer = 0x10000;
inline constexpr std::uint32_t kBlocks = (0x70000000 - kFirstId) / kIdsOfContainer;

/// One container's ids: `first` is its root, who runs nothing but igloo's own code.
struct IdBlock {
  std::uint32_t first = 0;
  /// A lock that the kernel takes away when its last holder has ended: igloo and igloo-container
  /// hold it, so nobody else gets the block as long as a process may have an id of it.
  UniqueFd lease = {};
};

/// A block that no other igloo of this machine has. `directory` is root's alone, and the same for
/// all of them.
Result<IdBlock> LeaseBlock(const std::string& directory);

}  // namespace igloo::backend::container
