#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace igloo::environment {

/// Opens a path below an open directory. Links on the way are followed (unless `resolve` says
/// otherwise), and never out of it.
UniqueFd OpenInside(int root, const std::string& path, std::uint64_t flags, std::uint64_t resolve);

/// What a link leads to that stands in `directory`, at `path` below `root`, and says `to`: only to
/// look at it (O_PATH).
UniqueFd OpenTarget(int root, int directory, std::string_view path, const std::string& to);

/// Of an open file, below `root`; empty: it is elsewhere, or the root itself.
std::string PathInside(int root, int fd);

}  // namespace igloo::environment
