#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Makes a network namespace of this process's own, loopback raised.
bool MakeNetwork();

/// Starts making one beside this process (it takes as long as all mounts together).
bool BeginNetwork(Setup& setup);
/// Waits for it and enters it.
bool EnterNetwork(Setup& setup);

/// A descriptor of the network namespace that this process is in.
int CurrentNetwork();

/// A socket that listens on 127.0.0.1:port in this process's namespace.
int ListenOn(uint16_t port);

}  // namespace igloo::jail
