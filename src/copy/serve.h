#pragma once

#include "base/error.h"

namespace igloo::copy {

/// Takes one order from igloo over `socket` (copy/protocol.h), carries it out and says how that
/// went. What fails is said there, too; an error here means that nobody listens.
Result<void> Serve(int socket);

}  // namespace igloo::copy
