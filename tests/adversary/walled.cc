#include "walled.h"

#include <unistd.h>

#include <filesystem>

#include "support/host.h"

namespace igloo::testing {
namespace {

std::string LinkOf(pid_t pid, const std::string& name) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/" + name, error).string();
}

/// No capability and no way to one, a filter, and namespaces that are not ours. What cannot be read
/// is judged by what can.
std::string WhatIsMissing(pid_t pid) {
  constexpr const char* kNone = "0000000000000000";
  std::string missing;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    if (StatusOf(pid, set) != kNone) missing += std::string(" ") + set;
  }
  if (StatusOf(pid, "NoNewPrivs") != "1") missing += " NoNewPrivs";
  if (StatusOf(pid, "Seccomp") != "2") missing += " Seccomp";
  for (const char* space : {"ns/user", "ns/pid", "ns/mnt", "ns/net", "ns/ipc", "ns/uts"}) {
    const std::string link = LinkOf(pid, space);
    if (!link.empty() && link == LinkOf(::getpid(), space)) missing += std::string(" ") + space;
  }
  return missing;
}

/// The machine's own set-uid programs that map a user's subordinate ids. No code in a sandbox can
/// have this id outside.
bool MapsIds(const ProcessInfo& process) {
  const bool named = process.name == "newuidmap" || process.name == "newgidmap";
  return named && ::geteuid() != 0 && StatusOf(process.pid, "Uid").ends_with("\t0\t0\t0");
}

}  // namespace

std::string StatusOf(pid_t pid, const std::string& name) {
  const std::string status = ReadProc("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("\n" + name + ":\t");
  if (at == std::string::npos) return "?";
  const std::size_t begin = at + name.size() + 3;
  return status.substr(begin, status.find('\n', begin) - begin);
}

void WallLook::At(pid_t above) {
  for (const ProcessInfo& each : DescendantsOf(above)) {
    const std::string program = LinkOf(each.pid, "exe");
    // One that is closed to us is igloo's own: igloo-init closes itself before it starts anything.
    const bool closed = program.empty() && each.name.starts_with("igloo");
    if (closed || program.starts_with(programs_ + "/") || MapsIds(each)) {
      ++own_;
      continue;
    }
    const std::string missing = WhatIsMissing(each.pid);
    if (IsGone(each.pid)) continue;  // it ended while we looked
    if (missing.empty()) {
      ++walled_;
    } else {
      trespassers_.insert(each.name + " (" + program + ") lacks" + missing);
    }
  }
}

}  // namespace igloo::testing
