// P3 and P8: no process of the host is seen, signalled or traced; none of ours stays behind.
#include "prove/case.h"

namespace igloo::prove {

std::vector<Case> ProcessCases() {
  return {
      {"HostEnvironments", "read the variables of the host's processes", {"read-environments"}},
      {"HostProcessSeen", "see a process of the host", {"see-process", "{id}"}},
      {"HostProcessKilled", "end a process of the host", {"kill-process", "{victim}"}},
      {.name = "EveryoneKilled",
       .text = "end all processes at once",
       .attack = {"kill-everyone", "{victim}"},
       .control = Control::kOwnNamespaces,
       .control_attack = {"kill-everyone", "2"},
       .alone = true},
      {"HostProcessTraced", "trace a process of the host", {"trace", "{victim}"}},
      {"HostProcessMemory",
       "read the memory of a process of the host",
       {"read-memory", "{victim}"}},
      {"HostProcessPidfd", "get a handle of a process of the host", {"open-pidfd", "{victim}"}},
      {"HostProcessRescheduled",
       "change when a process of the host runs",
       {"reschedule", "{victim}"}},
      {"InitKilled",
       "end igloo-init",
       {"kill-process", "1"},
       Control::kHost,
       {"kill-process", "{victim}"}},
      {"InitDeafened",
       "take igloo-init's descriptors away",
       {"limit-process", "1"},
       Control::kOwnNamespaces},
      {"InitTraced", "trace igloo-init", {"trace", "1"}, Control::kOwnNamespaces},
      {"InitMemoryByCall",
       "read igloo-init's memory by a system call",
       {"read-memory", "1"},
       Control::kOwnNamespaces},
      {"InitEnvironment",
       "read igloo-init's variables",
       {"read-init", "environ"},
       Control::kOwnNamespaces},
      {"InitMemory",
       "read igloo-init's memory by /proc",
       {"read-init", "mem"},
       Control::kOwnNamespaces},
      {"InitMaps", "read igloo-init's mappings", {"read-init", "maps"}, Control::kOwnNamespaces},
      {"InitDescriptors",
       "list igloo-init's descriptors",
       {"read-init", "fd"},
       Control::kOwnNamespaces},
      {"InitControlChannel",
       "open what igloo-init has open",
       {"read-init", "fd/2"},
       Control::kOwnNamespaces},
      {"InitRoot", "open igloo-init's root", {"read-init", "root"}, Control::kOwnNamespaces},
      {"InitWorkingDirectory",
       "open igloo-init's working directory",
       {"read-init", "cwd"},
       Control::kOwnNamespaces},
      {"Cve2019_5736_InitProgram",
       "open igloo-init's program (CVE-2019-5736)",
       {"read-init", "exe"},
       Control::kOwnNamespaces},
      {"InitMountNamespace",
       "open igloo-init's mount namespace",
       {"read-init", "ns/mnt"},
       Control::kOwnNamespaces},
      {"OwnChildTraced", "trace a child, which filters can be tricked with", {"trace-child"}},
      {"DescriptorStolen", "take a descriptor out of another process", {"steal-descriptor"}},
      {"KernelPointersCompared", "compare pointers of the kernel", {"compare-child"}},
  };
}

/// In a view, a file has an inode of its own.
std::vector<Case> WatchCases() {
  return {{.name = "FileWatched",
           .text = "see that a program of the host uses a file of the project",
           .attack = {"watch", "{project}/file"},
           .sign = Sign::kWatch,
           .needs = &wall::Capabilities::views}};
}

namespace {

void GiveLittleTime(sandbox::Policy& policy) {
  policy.limits.time_ms = 300;
  policy.limits.grace_ms = 50;
}

}  // namespace

std::vector<Case> EndingCases() {
  return {
      {.name = "Daemon",
       .text = "leave a process behind that ignores every signal",
       .attack = {"daemonise", "{marker}"},
       .sign = Sign::kLeftBehind},
      {.name = "TimeLimit",
       .text = "go on after the time limit, whatever signal comes",
       .attack = {"stay", "{marker}"},
       .shape = GiveLittleTime,
       .sign = Sign::kTime},
  };
}

}  // namespace igloo::prove
