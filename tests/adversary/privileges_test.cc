// P6: no capability, no way to one, no new namespace, native calls only.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "attack_case.h"

namespace igloo::testing {
namespace {

bool KernelHas(long number) {
  return ::syscall(number, -1, nullptr, 0xFFFF, nullptr, 0, 0) >= 0 || errno != ENOSYS;
}

std::vector<Case> MountCases() {
  return {
      {"MountTmpfs", {"mount-tmpfs", "/tmp"}, Control::kOwnNamespaces},
      {"MountOverPrograms", {"mount-tmpfs", "/usr"}, Control::kOwnNamespaces},
      {"RootBoundElsewhere", {"bind-root", "/tmp"}, Control::kOwnNamespaces},
      {"ProjectRemounted",
       {"remount-writable", "/project"},
       Control::kOwnNamespaces,
       {"remount-writable", "/tmp/sealed"}},
      {"ProgramsRemounted",
       {"remount-writable", "/usr"},
       Control::kOwnNamespaces,
       {"remount-writable", "/tmp/sealed"}},
      {"ProjectMadeWritable",
       {"clear-read-only", "/project"},
       Control::kOwnNamespaces,
       {"clear-read-only", "/tmp/sealed"}},
      {"RootTreeCloned", {"open-tree"}, Control::kOwnNamespaces},
      {"Cve2021_41133_FileSystemOpened", {"open-file-system"}, Control::kOwnNamespaces},
      {"KeysUncovered", {"uncover-keys"}, Control::kOwnNamespaces},
      {"RootPivoted", {"pivot-root", "/tmp"}, Control::kOwnNamespaces},
      {"RootChanged", {"chroot", "/tmp"}, Control::kOwnNamespaces},
      {"UserNamespace", {"unshare-user"}},
      {"AnyNamespace", {"unshare-each"}, Control::kOwnNamespaces},
      {"UserNamespaceByClone", {"clone-user"}},
      {"Cve2021_41133_UserNamespaceByClone3", {"clone3-user"}},
      {"InitNamespacesJoined", {"join-init"}, Control::kOwnNamespaces},
      {"NamespaceLimitRaised", {"raise-namespace-limit"}, Control::kOwnNamespaces},
  };
}

std::vector<Case> RightsCases() {
  std::vector<Case> cases = {
      {"RootByCall", {"become-root"}, Control::kOwnNamespaces},
      {"CapabilityRaised", {"raise-capability"}, Control::kOwnNamespaces},
      {"CapabilityKept", {"any-capability"}},
      {"PrivilegesByExec", {"may-gain-privileges"}},
      {"SecurebitsUnlocked", {"open-securebits"}},
      {"SetUidProgram", {"exec-set-uid", "/usr/bin/su"}, Control::kHostAsUser},
      {"WhiteoutMade", {"make-node", "char", "0", "0", "{scratch}/node"}},
      // A user's control makes what a user may: the whiteout, by the same call.
      {"MemoryDeviceMade", {"make-node", "char", "1", "1", "{scratch}/node"}},
      {"DiskMade", {"make-node", "block", "8", "0", "{scratch}/node"}},
      {"HostNameSet", {"set-host-name"}, Control::kOwnNamespaces},
      {"TimeSet", {"set-time"}},
  };
  for (Case& each : cases) {
    if (!RunningAsRoot() && each.attack[0] == "make-node") {
      each.control_attack = {"make-node", "char", "0", "0", "{scratch}/node"};
    }
  }
  // Where only root may ask the kernel's log, only root's control can win.
  if (RunningAsRoot()) cases.push_back({"KernelLog", {"read-log"}});
  return cases;
}

std::vector<Case> KernelCases() {
  return {
      {"Ring", {"set-up-ring"}},
      {"FaultHandler", {"handle-faults"}},
      {"Bpf", {"reach-bpf"}},
      {"PerfEvent", {"open-perf-event"}},
      {"RandomisationOff", {"switch-randomisation-off"}},
      {"SplicedPages", {"splice-pages"}},
      // 463 came with Linux 6.13; an older kernel's control takes one that it has.
      {"Cve2021_41133_CallNewerThanTheFilter",
       {"call-the-future", "463"},
       Control::kHost,
       {"call-the-future", KernelHas(463) ? "463" : "449"}},
      {"Cve2017_5226_TerminalInput", {"push-input", "terminal", "low-bits"}},
      {"Cve2019_10063_TerminalInputHighBits", {"push-input", "terminal", "high-bits"}},
      {"Cve2023_28100_ConsoleInput", {"push-input", "console", "low-bits"}},
      {"ConsoleInputHighBits", {"push-input", "console", "high-bits"}},
#ifdef __x86_64__
      {"LocalDescriptors", {"change-local-descriptors"}},
      {"NamespaceBy32BitCall", {"unshare-32"}},
      {"PersonalityBy32BitCall", {"personality-32"}},
#endif
  };
}

INSTANTIATE_TEST_SUITE_P(Mounts, Attack,
                         ::testing::Combine(::testing::ValuesIn(MountCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Rights, Attack,
                         ::testing::Combine(::testing::ValuesIn(RightsCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Kernel, Attack,
                         ::testing::Combine(::testing::ValuesIn(KernelCases()), EveryWall()),
                         CaseName);

}  // namespace
}  // namespace igloo::testing
