#pragma once

#include <string>

namespace igloo::image::unpack {

/// Opens `path` below a directory ("" is the directory itself), close-on-exec.
/// SECURITY: the kernel refuses every way out: '..', links of all kinds, other mounts.
int OpenBeneath(int directory, const std::string& path, int flags);

}  // namespace igloo::image::unpack
