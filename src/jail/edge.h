#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Gives the sandbox a device: one end of a wire whose other end lies in a network namespace of its
/// own, the edge, which passes packets on. The edge's descriptor goes to igloo, which has somebody
/// carry them further. `inside` is the sandbox's address, `gateway` the edge's.
/// SECURITY: what is closed is closed at the edge. In the sandbox's own namespace routes are no
/// wall: the kernel takes a socket that is bound to a device past them, and binding needs no right.
bool MakeEdge(Setup& setup, const char* inside, const char* gateway);

/// Closes "10.0.0.0/8": at the edge, and inside, where connecting fails at once.
bool CloseNetwork(Setup& setup, const char* network);

/// Lets questions for names through to `address`, which lies in a network that is closed.
bool OpenResolver(Setup& setup, const char* address);

}  // namespace igloo::jail
