#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::copy {

/// The host's /proc, opened when this is first called. It stays what processes are looked for in
/// when this process has gone into a sandbox, whose own /proc numbers them otherwise.
int ProcDirectory();

/// A file about a process: "mem", "maps", ...
Result<UniqueFd> OpenProc(pid_t pid, const std::string& file, int flags);
Result<std::string> ReadProc(pid_t pid, const std::string& file, std::size_t limit);
Result<std::string> ReadProcLink(pid_t pid, const std::string& file);

}  // namespace igloo::copy
