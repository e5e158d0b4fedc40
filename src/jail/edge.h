#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Gives the sandbox a device: one end of a wire whose other end lies in a network namespace of its
/// own, the edge, which passes packets on. The edge's descriptor goes to igloo, which has somebody
/// carry them further. The addresses are the operation's.
/// SECURITY: what is closed is closed at the edge. In the sandbox's own namespace routes are no
/// wall: the kernel takes a socket that is bound to a device past them, and binding needs no right.
bool MakeEdge(Setup& setup, const ops::Op& op);

/// kClose: closes "10.0.0.0/8" at the edge, and inside, where connecting fails at once.
bool CloseNetwork(Setup& setup, const ops::Op& op);

/// kResolver: lets questions for names through to an address that lies in a closed network.
bool OpenResolver(Setup& setup, const ops::Op& op);

}  // namespace igloo::jail
