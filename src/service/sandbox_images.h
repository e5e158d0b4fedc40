#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "config/sandbox_mcp_scan.h"

namespace igloo::service {

/// Gives every sandbox whose "image" is one (a path, or a name that was pulled) an environment of
/// its own, which it then names. What igloo has an environment for stays as it is.
void AddSandboxImages(config::SandboxScan& scan, config::Config& config);

/// Removes images that neither the configuration nor a sandbox names any more and nobody pulled;
/// their digests.
Result<std::vector<std::string>> CollectImages(const config::Config& config);

enum class Built { kNothing, kUnpacked };
/// Unpacks the image of a sandbox, if that lies on this machine. Fails with the command that
/// fetches it when it is elsewhere.
Result<Built> BuildSandboxImage(const config::FoundSandbox& sandbox);

}  // namespace igloo::service
