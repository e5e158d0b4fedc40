#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Starts making one beside this process (it takes as long as all mounts together).
bool BeginNetwork(Setup& setup);
/// Waits for it and enters it. Where none is being made, this process has its own already and
/// only raises the loopback.
bool EnterNetwork(Setup& setup);

/// A socket that listens on 127.0.0.1:port in this process's namespace.
int ListenOn(uint16_t port);

}  // namespace igloo::jail
