#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace igloo {

/// Opens `path` below an open directory ("" is the directory itself), close-on-exec. Not valid
/// (errno says why) if there is none.
/// SECURITY: for directories that somebody else fills: the kernel refuses every way out, '..' and
/// links of all kinds, also if they are made at this moment.
UniqueFd OpenBeneath(int directory, const std::string& path, int flags, mode_t mode = 0);

/// A file by its absolute path, only to look at it (O_PATH). Not valid if there is none, or if a
/// link stands anywhere in the path.
UniqueFd OpenWithoutLinks(const std::string& path);

}  // namespace igloo
