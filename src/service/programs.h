#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "session/network/proxy.h"

namespace igloo::service {

/// igloo's helper programs: beside igloo itself in a build tree, in libexec once installed.
Result<backend::Programs> FindPrograms();

/// What an igloo-proxy of a command is started with.
session::Proxy::Options ProxyFor(const backend::Programs& programs, std::string resolver = {});

/// One of the other programs, from the same places: "igloo-image".
Result<std::string> FindProgram(std::string_view name);

/// All variables of the caller, for programs that work on the caller's behalf.
std::vector<std::string> OwnVariables();

/// igloo as others are to start it: the small program, from a build tree or installed.
Result<std::string> FindIgloo();

/// The same by the path that it was called with, links and all: a profile's link leads to the next
/// version, too. Fails for a path of the Nix store, which garbage collection removes, when no other
/// name leads there.
Result<std::string> FindCalledIgloo();

/// The file or directory of this name that was installed with this very igloo, below its
/// share/igloo; empty: there is none. Found from the running program, never from a variable.
std::string InstalledFile(std::string_view name);

}  // namespace igloo::service
