#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "base/log.h"
#include "ops/ops.h"

namespace igloo::backend::microvm {

/// What a machine is made with.
struct Settings {
  std::string relay = {};   ///< igloo-machine
  std::string jail = {};    ///< igloo-jail, which is the machine's launcher, too
  std::string kernel = {};  ///< an image; empty: one of the host's
  Log::Line note = {};      ///< hears once when machines are emulated, and why
};

/// Words for an answer of the launcher in the machine.
using Explain = Error (*)(const ops::Reply& reply, const sandbox::Plan& plan);

/// Each sandbox in a virtual machine of its own, whose emulator runs in a sandbox of `around`.
/// Fails when this machine lacks QEMU or a kernel.
Result<std::unique_ptr<Backend>> Make(Settings settings, std::unique_ptr<Backend> around,
                                      Explain explain);

}  // namespace igloo::backend::microvm
