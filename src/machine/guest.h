#pragma once

namespace igloo::machine {

/// The first process of a virtual machine: finds its devices, mounts what igloo names, has the
/// machine's own launcher build the sandbox, and carries its streams to the ports. Never returns.
[[noreturn]] void GuestMain();

}  // namespace igloo::machine
