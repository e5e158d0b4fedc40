// P1 and P2: no host file is read or changed but what was mounted for it.
#include <unistd.h>

#include "attack_case.h"

namespace igloo::testing {
namespace {

using sandbox::Covering;
using sandbox::MemoryTree;

MemoryTree Over(const char* target) {
  return {.target = target, .capacity = {.bytes = 1 << 20}, .covering = Covering::kIntended};
}

std::vector<Case> ReadingCases() {
  return {
      {"SecretByPath", {"read-secret", "{secret}"}},
      {"SecretThroughProcSelfRoot", {"read-secret", "/proc/self/root{secret}"}},
      {"SecretThroughThreadRoot", {"read-secret", "/proc/thread-self/root{secret}"}},
      {"SecretThroughProcSelfCwd", {"read-secret", "/proc/self/cwd/secret"}},
      {"SecretByDotDot", {"read-secret", "../../../../../../../..{secret}"}},
      {"SecretInWorkingDirectory", {"read-secret", "secret"}},
      {"SecretByLinkInProject", {"read-secret", "{project}/link"}},
      {"SecretByRelativeLinkInProject", {"read-secret", "{project}/relative-link"}},
      {"SecretAboveProject", {"read-secret", "{project}/../secret"}},
      {"SecretByHardLink", {"hard-link", "{secret}", "{scratch}/hard"}},
      {"SecretInSharedMemoryFile", {"read-secret", "/dev/shm/{id}"}},
      {"HostTemporaryFiles", {"list-directory", "{scene}"}},
      {"HandleOfAFile", {"name-handle", "{scratch}"}},
      {"SystemTree", {"list-directory", "/sys"}},
      {"KernelSymbols", {"read-anything", "/proc/kallsyms"}},
      {"Keys", {"read-anything", "/proc/keys"}},
      {"KeyUsers", {"read-anything", "/proc/key-users"}},
      {"BusTree", {"list-directory", "/proc/bus"}},
      {"FileSystemTree", {"list-directory", "/proc/fs"}},
      {"InterruptTree", {"list-directory", "/proc/irq"}},
      {"HostAccounts",
       {"read-anything", "/etc/machine-id"},
       Control::kHost,
       // Not every host has one; the scene's own file has the same rights.
       {"read-anything", "{scratch}/file"}},
  };
}

/// Root's own files: only root can win the control, and only where the kernel has them; elsewhere
/// the same call opens a file that the caller may.
std::vector<Case> RootOnlyFileCases() {
  std::vector<Case> cases = {
      {"MemoryImage", {"read-anything", "/proc/kcore"}},
      {"CorePattern", {"open-for-writing", "/proc/sys/kernel/core_pattern"}},
      {"SysRqTrigger", {"open-for-writing", "/proc/sysrq-trigger"}},
      {"ModuleLoader", {"open-for-writing", "/proc/sys/kernel/modprobe"}},
      {"Timers", {"read-anything", "/proc/timer_list"}},
      {"KernelAllocations", {"read-anything", "/proc/vmallocinfo"}},
      {"VirtualMemorySettings", {"open-for-writing", "/proc/sys/vm/drop_caches"}},
  };
  for (Case& each : cases) {
    const bool there = ::access(each.attack[1].c_str(), F_OK) == 0;
    if (!RunningAsRoot() || !there) each.control_attack = {each.attack[0], "{scratch}/file"};
  }
  // Older kernels open by handle for root only; the first half of it is everybody's.
  cases.push_back({"FileByHandle",
                   {"open-by-handle", "{scratch}"},
                   Control::kHost,
                   {RunningAsRoot() ? "open-by-handle" : "name-handle", "{scratch}"}});
  return cases;
}

std::vector<Case> WritingCases() {
  return {
      {"ExistingProjectFile", {"write-file", "{project}/file"}},
      {"NewProjectFile", {"write-file", "{project}/new"}},
      {"ChangeOfProjectFile", {"change-file", "{project}/file"}},
      {"ProjectFileReopened", {"reopen-writable", "{project}/file"}},
      {"ProjectFifo", {"write-fifo", "{project}/fifo"}},
      {"Programs",
       {"write-file", "/usr/local/igloo-probe"},
       Control::kWeakened,
       {},
       [](sandbox::Policy& policy) { policy.run.emplace_back(Over("/usr/local")); }},
      {"Configuration",
       {"write-file", "/etc/igloo-probe"},
       Control::kWeakened,
       {},
       [](sandbox::Policy& policy) { policy.run.emplace_back(Over("/etc")); }},
      {"Accounts",
       {"change-file", "/etc/passwd"},
       Control::kHost,
       {"change-file", "{scratch}/file"}},
      {"Root", {"write-file", "/igloo-probe"}, Control::kHost, {"write-file", "{scratch}/probe"}},
      {"Devices",
       {"write-file", "/dev/igloo-probe"},
       Control::kHost,
       {"write-file", "{scratch}/probe"}},
      {"IglooItself",
       {"write-file", "/.igloo/probe"},
       Control::kHost,
       {"write-file", "{scratch}/probe"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Reading, Attack,
                         ::testing::Combine(::testing::ValuesIn(ReadingCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(RootsFiles, Attack,
                         ::testing::Combine(::testing::ValuesIn(RootOnlyFileCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Writing, Attack,
                         ::testing::Combine(::testing::ValuesIn(WritingCases()), EveryWall()),
                         CaseName);

}  // namespace
}  // namespace igloo::testing
