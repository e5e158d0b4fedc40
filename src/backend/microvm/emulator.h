#pragma once

#include <string>
#include <vector>

#include "backend/microvm/division.h"
#include "sandbox/policy.h"

namespace igloo::backend::microvm {

/// Files of the host that every machine starts with.
struct Parts {
  std::string emulator = {};    ///< QEMU
  std::string relay = {};       ///< igloo-machine
  std::string kernel = {};      ///< an image
  std::string first_root = {};  ///< the content of an archive: igloo's programs and modules
  bool kvm = false;             ///< the host has the device; whether it works, the relay tries
  bool operator==(const Parts&) const = default;
};

/// The emulator's arguments, but for those that the relay adds; `extra`: descriptors behind the
/// program's own three.
std::vector<std::string> EmulatorWords(const Division& division, const Parts& parts,
                                       std::size_t extra);

/// The jail in which the relay and the emulator run: without a network, a right, or a file of the
/// host's but their own and those that the plan shows.
sandbox::Policy AroundEmulator(const Division& division, const Parts& parts, std::size_t extra);

}  // namespace igloo::backend::microvm
