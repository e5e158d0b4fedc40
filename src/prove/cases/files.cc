// P1 and P2: no host file is read or changed but what was mounted for it.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "prove/case.h"

namespace igloo::prove {
namespace {

using sandbox::Covering;
using sandbox::MemoryTree;

bool IsRoot() { return ::geteuid() == 0; }

MemoryTree Over(const char* target) {
  return {.target = target, .capacity = {.bytes = 1 << 20}, .covering = Covering::kIntended};
}

/// As the configuration's mode = "readwrite" does.
void ShowReadWrite(sandbox::Policy& policy) {
  for (sandbox::Entry& entry : policy.run) {
    const auto* tree = std::get_if<sandbox::HostTree>(&entry);
    const auto* view = std::get_if<sandbox::OverlayTree>(&entry);
    const std::string target = tree != nullptr ? tree->target : view != nullptr ? view->target : "";
    if (target != "/project") continue;
    entry = sandbox::HostTree{.source = tree != nullptr ? tree->source : view->source,
                              .target = target,
                              .access = sandbox::Access::kReadWrite,
                              .map_owner = tree == nullptr || tree->map_owner};
  }
}

}  // namespace

std::vector<Case> ReadingCases() {
  return {
      {"SecretByPath", "read a secret file by its path", {"read-secret", "{secret}"}},
      {"SecretThroughProcSelfRoot",
       "read it through /proc/self/root",
       {"read-secret", "/proc/self/root{secret}"}},
      {"SecretThroughThreadRoot",
       "read it through /proc/thread-self/root",
       {"read-secret", "/proc/thread-self/root{secret}"}},
      {"SecretThroughProcSelfCwd",
       "read it through /proc/self/cwd",
       {"read-secret", "/proc/self/cwd/secret"}},
      {"SecretByDotDot",
       "read it by a path full of '..'",
       {"read-secret", "../../../../../../../..{secret}"}},
      {"SecretInWorkingDirectory",
       "read it in the caller's working directory",
       {"read-secret", "secret"}},
      {"SecretByLinkInProject",
       "read it by a link in the project",
       {"read-secret", "{project}/link"}},
      {"SecretByRelativeLinkInProject",
       "read it by a relative link in the project",
       {"read-secret", "{project}/relative-link"}},
      {"SecretAboveProject", "read it above the project", {"read-secret", "{project}/../secret"}},
      {"SecretByHardLink",
       "give the secret file a second name",
       {"hard-link", "{secret}", "{scratch}/hard"}},
      {"SecretInSharedMemoryFile",
       "read a file in the host's /dev/shm",
       {"read-secret", "/dev/shm/{id}"}},
      {"HostTemporaryFiles",
       "list a directory of the host's temporary files",
       {"list-directory", "{scene}"}},
      {"HandleOfAFile", "get a handle of a file", {"name-handle", "{scratch}"}},
      {"SystemTree", "list /sys", {"list-directory", "/sys"}},
      {"KernelSymbols", "read the kernel's symbols", {"read-anything", "/proc/kallsyms"}},
      {"Keys", "read /proc/keys", {"read-anything", "/proc/keys"}},
      {"KeyUsers", "read /proc/key-users", {"read-anything", "/proc/key-users"}},
      {"BusTree", "list /proc/bus", {"list-directory", "/proc/bus"}},
      {"FileSystemTree", "list /proc/fs", {"list-directory", "/proc/fs"}},
      {"InterruptTree", "list /proc/irq", {"list-directory", "/proc/irq"}},
      {"HostAccounts",
       "read the machine's id",
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
      {"MemoryImage", "read the machine's memory", {"read-anything", "/proc/kcore"}},
      {"CorePattern",
       "open the kernel's core_pattern for writing",
       {"open-for-writing", "/proc/sys/kernel/core_pattern"}},
      {"SysRqTrigger",
       "open /proc/sysrq-trigger for writing",
       {"open-for-writing", "/proc/sysrq-trigger"}},
      {"ModuleLoader",
       "open the kernel's modprobe setting for writing",
       {"open-for-writing", "/proc/sys/kernel/modprobe"}},
      {"Timers", "read the kernel's timers", {"read-anything", "/proc/timer_list"}},
      {"KernelAllocations",
       "read the kernel's allocations",
       {"read-anything", "/proc/vmallocinfo"}},
      {"VirtualMemorySettings",
       "open drop_caches for writing",
       {"open-for-writing", "/proc/sys/vm/drop_caches"}},
  };
  for (Case& each : cases) {
    const bool there = ::access(each.attack[1].c_str(), F_OK) == 0;
    if (!IsRoot() || !there) each.control_attack = {each.attack[0], "{scratch}/file"};
  }
  // Older kernels open by handle for root only; the first half of it is everybody's.
  cases.push_back({"FileByHandle",
                   "open a file by its handle",
                   {"open-by-handle", "{scratch}"},
                   Control::kHost,
                   {IsRoot() ? "open-by-handle" : "name-handle", "{scratch}"}});
  return cases;
}

std::vector<Case> WritingCases() {
  return {
      {"ExistingProjectFile", "write to a file of the project", {"write-file", "{project}/file"}},
      {"NewProjectFile", "make a file in the project", {"write-file", "{project}/new"}},
      {"ChangeOfProjectFile",
       "change a file of the project without writing",
       {"change-file", "{project}/file"}},
      {"ProjectFileReopened",
       "open a file of the project again for writing, by /proc/self/fd",
       {"reopen-writable", "{project}/file"}},
      {"ProjectFifo",
       "write to a program of the host through a named pipe",
       {"write-fifo", "{project}/fifo"}},
      {"Programs",
       "make a file in /usr",
       {"write-file", "/usr/local/igloo-probe"},
       Control::kWeakened,
       {},
       [](sandbox::Policy& policy) { policy.run.emplace_back(Over("/usr/local")); }},
      {"Configuration",
       "make a file in /etc",
       {"write-file", "/etc/igloo-probe"},
       Control::kWeakened,
       {},
       [](sandbox::Policy& policy) { policy.run.emplace_back(Over("/etc")); }},
      {"Accounts",
       "change /etc/passwd",
       {"change-file", "/etc/passwd"},
       Control::kHost,
       {"change-file", "{scratch}/file"}},
      {"Root",
       "make a file in /",
       {"write-file", "/igloo-probe"},
       Control::kHost,
       {"write-file", "{scratch}/probe"}},
      {"Devices",
       "make a file in /dev",
       {"write-file", "/dev/igloo-probe"},
       Control::kHost,
       {"write-file", "{scratch}/probe"}},
      {"IglooItself",
       "make a file beside igloo-init",
       {"write-file", "/.igloo/probe"},
       Control::kHost,
       {"write-file", "{scratch}/probe"}},
  };
}

std::vector<std::string> PlantingWays() {
  std::vector<std::string> ways = {"chmod", "fchmod", "fchmodat", "fchmodat2",
                                   "open",  "openat", "openat2",  "tmpfile",
                                   "creat", "mknod",  "mknodat"};
#ifdef __x86_64__
  ways.insert(ways.end(), {"chmod-32", "open-32"});
#endif
  return ways;
}

/// In a project that the code may write to.
std::vector<Case> PlantingCases() {
  // An older kernel has no fchmodat2.
  const bool missing = ::syscall(452, -1, "", 0, 0) != 0 && errno == ENOSYS;
  std::vector<Case> cases;
  for (const std::string& way : PlantingWays()) {
    const std::string file = "{project}/planted-" + way;
    Case each{.name = "SetUidFileBy_" + way,
              .text = "leave a set-uid program in a writable project, by " + way,
              .attack = {"plant-set-id", way, file, "04755"},
              .shape = ShowReadWrite,
              .owns_project = true};
    if (missing && way == "fchmodat2") {
      each.control_attack = {"plant-set-id", "fchmodat", file, "04755"};
    }
    cases.push_back(std::move(each));
  }
  return cases;
}

}  // namespace igloo::prove
