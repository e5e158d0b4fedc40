#pragma once

#include "base/error.h"

namespace igloo::agent {

/// What the daemon of a Nix store thinks of whoever holds a connection to it. A trusted user can
/// have it run anything as root.
enum class NixTrust { kUntrusted, kTrusted, kUnknown };

/// Asks on a fresh connection (or a pair of pipes), which is of no further use. Waits a few seconds
/// at most. kUnknown: the daemon is older than Nix 2.15 and does not tell.
Result<NixTrust> AskNixTrust(int from_daemon, int to_daemon);

}  // namespace igloo::agent
