#pragma once

#include "base/error.h"
#include "cli/args.h"

namespace igloo::cli {

/// `igloo env pull REF`: fetches an image from a registry with skopeo, or unpacks one that lies on
/// this machine, for environments with `image = "REF"`.
Result<int> PullImage(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
