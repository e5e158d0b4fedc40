#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "bench/process.h"

namespace igloo::bench {

/// The mount points of a root whose programs all come from the host's /usr. Made once, never
/// written to by a sandbox.
Result<void> MakeRoot(const std::string& path);

/// A bundle's config.json: `argv` as near to igloo's sandbox as the format can say it. All seven
/// namespaces, /usr read-only, no capability, no new privileges, and a filter that denies what
/// igloo's denies. The format has no Landlock.
/// `owner` is who the sandbox's root is outside.
std::string OciConfig(const std::string& root, const Words& argv, uid_t owner);

}  // namespace igloo::bench
