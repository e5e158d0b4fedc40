// P6: no capability, no way to one, no new namespace, native calls only.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "prove/case.h"

namespace igloo::prove {
namespace {

bool IsRoot() { return ::geteuid() == 0; }

bool KernelHas(long number) {
  return ::syscall(number, -1, nullptr, 0xFFFF, nullptr, 0, 0) >= 0 || errno != ENOSYS;
}

/// One that asks for a password, so that there is time to look at it. Empty: this machine has none.
std::string FindSetUidProgram() {
  for (const char* program : {"/usr/bin/su", "/usr/bin/passwd", "/usr/bin/chsh"}) {
    struct stat info{};
    if (::stat(program, &info) == 0 && (info.st_mode & S_ISUID) != 0) return program;
  }
  return {};
}

}  // namespace

std::vector<Case> MountCases() {
  return {
      {"MountTmpfs", "mount a file system", {"mount-tmpfs", "/tmp"}, Control::kOwnNamespaces},
      {"MountOverPrograms",
       "mount something over /usr",
       {"mount-tmpfs", "/usr"},
       Control::kOwnNamespaces},
      {"RootBoundElsewhere",
       "mount the root once more",
       {"bind-root", "/tmp"},
       Control::kOwnNamespaces},
      {"ProjectRemounted",
       "mount the project again, writable",
       {"remount-writable", "/project"},
       Control::kOwnNamespaces,
       {"remount-writable", "/tmp/sealed"}},
      {"ProgramsRemounted",
       "mount /usr again, writable",
       {"remount-writable", "/usr"},
       Control::kOwnNamespaces,
       {"remount-writable", "/tmp/sealed"}},
      {"ProjectMadeWritable",
       "clear the project's read-only flag",
       {"clear-read-only", "/project"},
       Control::kOwnNamespaces,
       {"clear-read-only", "/tmp/sealed"}},
      {"RootTreeCloned", "copy the tree of mounts", {"open-tree"}, Control::kOwnNamespaces},
      {"Cve2021_41133_FileSystemOpened",
       "open a file system by the new calls (CVE-2021-41133)",
       {"open-file-system"},
       Control::kOwnNamespaces},
      {"KeysUncovered", "take the cover off /proc/keys", {"uncover-keys"}, Control::kOwnNamespaces},
      {"RootPivoted", "exchange the root", {"pivot-root", "/tmp"}, Control::kOwnNamespaces},
      {"RootChanged", "change the root", {"chroot", "/tmp"}, Control::kOwnNamespaces},
      {"UserNamespace", "make a user namespace", {"unshare-user"}},
      {"AnyNamespace", "make a namespace of any kind", {"unshare-each"}, Control::kOwnNamespaces},
      {"UserNamespaceByClone", "make a user namespace by clone()", {"clone-user"}},
      {"Cve2021_41133_UserNamespaceByClone3",
       "make a user namespace by clone3() (CVE-2021-41133)",
       {"clone3-user"}},
      {"InitNamespacesJoined",
       "join igloo-init's namespaces",
       {"join-init"},
       Control::kOwnNamespaces},
      {"NamespaceLimitRaised",
       "raise the limit on namespaces",
       {"raise-namespace-limit"},
       Control::kOwnNamespaces},
  };
}

std::vector<Case> RightsCases() {
  std::vector<Case> cases = {
      {"RootByCall", "become root by a system call", {"become-root"}, Control::kOwnNamespaces},
      {"CapabilityRaised", "raise a capability", {"raise-capability"}, Control::kOwnNamespaces},
      {"CapabilityKept", "find a capability in any set", {"any-capability"}},
      {"PrivilegesByExec",
       "be allowed to gain privileges by starting a program",
       {"may-gain-privileges"}},
      {"SecurebitsUnlocked", "find securebits that are not locked", {"open-securebits"}},
      {"WhiteoutMade", "make a whiteout", {"make-node", "char", "0", "0", "{scratch}/node"}},
      // A user's control makes what a user may: the whiteout, by the same call.
      {"MemoryDeviceMade",
       "make a device for memory",
       {"make-node", "char", "1", "1", "{scratch}/node-memory"}},
      {"DiskMade",
       "make a device for a disk",
       {"make-node", "block", "8", "0", "{scratch}/node-disk"}},
      {"HostNameSet", "set the host name", {"set-host-name"}, Control::kOwnNamespaces},
      {"TimeSet", "set the time", {"set-time"}},
  };
  for (Case& each : cases) {
    if (!IsRoot() && each.attack[0] == "make-node") {
      each.control_attack = {"make-node", "char", "0", "0", "{scratch}/node"};
    }
  }
  if (const std::string program = FindSetUidProgram(); !program.empty()) {
    cases.push_back({"SetUidProgram",
                     "get root's rights from a set-uid program",
                     {"exec-set-uid", program},
                     Control::kHostAsUser});
  }
  // Where only root may ask the kernel's log, only root's control can win.
  if (IsRoot()) cases.push_back({"KernelLog", "read the kernel's log", {"read-log"}});
  return cases;
}

std::vector<Case> KernelCases() {
  return {
      {"Ring", "set up io_uring", {"set-up-ring"}},
      {"FaultHandler", "handle page faults (userfaultfd)", {"handle-faults"}},
      {"Bpf", "reach bpf()", {"reach-bpf"}},
      {"PerfEvent", "open a performance counter", {"open-perf-event"}},
      {"RandomisationOff", "switch address randomisation off", {"switch-randomisation-off"}},
      {"SplicedPages", "give pages to a pipe (vmsplice)", {"splice-pages"}},
      // 463 came with Linux 6.13; an older kernel's control takes one that it has.
      {"Cve2021_41133_CallNewerThanTheFilter",
       "make a system call that is newer than the filter (CVE-2021-41133)",
       {"call-the-future", "463"},
       Control::kHost,
       {"call-the-future", KernelHas(463) ? "463" : "449"}},
      {"Cve2017_5226_TerminalInput",
       "type into a terminal (CVE-2017-5226)",
       {"push-input", "terminal", "low-bits"}},
      {"Cve2019_10063_TerminalInputHighBits",
       "the same with garbage in the upper half (CVE-2019-10063)",
       {"push-input", "terminal", "high-bits"}},
      {"Cve2023_28100_ConsoleInput",
       "type into the console (CVE-2023-28100)",
       {"push-input", "console", "low-bits"}},
      {"ConsoleInputHighBits",
       "the same with garbage in the upper half",
       {"push-input", "console", "high-bits"}},
#ifdef __x86_64__
      {"LocalDescriptors", "reach modify_ldt()", {"change-local-descriptors"}},
      {"NamespaceBy32BitCall", "make a namespace by a 32-bit call", {"unshare-32"}},
      {"PersonalityBy32BitCall", "change the personality by a 32-bit call", {"personality-32"}},
#endif
  };
}

}  // namespace igloo::prove
