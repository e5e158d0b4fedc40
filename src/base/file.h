#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo {

/// Another descriptor of the same; not valid when there are too many.
UniqueFd Duplicate(int fd);
Result<FdPair> MakePipe();
/// `type` is SOCK_STREAM or SOCK_SEQPACKET; close-on-exec is always set.
Result<FdPair> MakeSocketPair(int type);

/// Reads until end of file, or fails with kExhausted when there is more than `limit`.
Result<std::string> ReadAll(int fd, std::size_t limit);
Result<std::string> ReadFile(const std::string& path, std::size_t limit);
Result<void> WriteAll(int fd, std::string_view bytes);

Result<void> SetNonBlocking(int fd);

/// Target of a symbolic link such as /proc/self/exe.
Result<std::string> ReadLink(const std::string& path);

}  // namespace igloo
