#pragma once

namespace igloo::machine {

/// Stands beside the emulator, in the same jail: starts it with `words`, its program first, on the
/// processor's own virtual machines if these work, and carries the ports of the machine to what the
/// sandbox was given: 0, 1 and 2, and the descriptors of launch.h. Ends the machine when everything
/// has arrived. What it returns is its exit code.
int RelayMain(int extra, char** words);

}  // namespace igloo::machine
