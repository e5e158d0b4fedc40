#pragma once

#include "base/error.h"
#include "image/limits.h"

namespace igloo::image::unpack {

/// Gives up, for good, everything that unpacking needs no more: capabilities, other files,
/// programs, networks, and all system calls but those that read, write and name files. `source` may
/// be read, or is -1; `target` may be written to, or is -1. Both are descriptors. SECURITY: to be
/// called before the first byte of an image is read.
Result<void> Confine(int source, int target, const Limits& limits);

}  // namespace igloo::image::unpack
