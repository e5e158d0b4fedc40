#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::copy {

/// The host's /proc, opened when this is first called, until CloseProc. It stays what processes are
/// looked for in when this process has gone into a sandbox, whose own /proc numbers them otherwise.
int ProcDirectory();
/// SECURITY: a way to all files of the host ("..") and a right to signal its processes. Everything
/// that needs it comes first; -1 from then on.
void CloseProc();

/// A file about a process: "mem", "maps", ...
Result<UniqueFd> OpenProc(pid_t pid, const std::string& file, int flags);
Result<std::string> ReadProc(pid_t pid, const std::string& file, std::size_t limit);
Result<std::string> ReadProcLink(pid_t pid, const std::string& file);

/// Numbers of its open descriptors; when there are more than `most`, one more than that is listed.
Result<std::set<int>> OpenNumbers(pid_t pid, std::size_t most);

/// What the kernel says about a process besides its memory: read while /proc is open, understood
/// later. Any of it may be what hostile code has put there.
struct ProcessTexts {
  std::string stat = {}, status = {};
  std::string auxiliary = {};  ///< auxv
  std::string name = {};       ///< comm, with an end of line
  std::string program = {};    ///< where exe leads
};
Result<ProcessTexts> ReadTexts(pid_t pid);

}  // namespace igloo::copy
