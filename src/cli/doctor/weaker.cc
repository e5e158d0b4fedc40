#include "cli/doctor/weaker.h"

#include <fmt/format.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/error_text.h"

namespace igloo::cli {
namespace {

using backend::HostIds;

constexpr std::string_view kGetVersion2 =
    "boot with systemd.unified_cgroup_hierarchy=1, or start igloo on a machine with cgroup version "
    "2";

constexpr std::string_view kWithVersion1 =
    "memory is counted by the kernel as with version 2, but when it is used up one process is "
    "killed and igloo ends the others up to 100 ms later; processes are counted for each user id";

constexpr std::string_view kWithoutCgroups =
    "igloo-init adds up what all processes use of memory, only ten times a second, so a burst can "
    "use more for 100 ms, and several processes up to twice the limit; processes are "
    "counted for the user (before Linux 5.14 together with all others of that user); CPU time is "
    "not shared out and 'cpus' is kept by nobody, only run time is limited; memfd_create and "
    "shmget are switched off";

constexpr std::string_view kSharedId =
    "outside, a sandbox has the id of the user who started it, so the kernel counts these for all "
    "sandboxes and all programs of that user together: buffers of pipes, descriptors on their way "
    "through sockets, pending signals, inotify watches, keyrings (one a sandbox); code that uses "
    "them up is felt by "
    "the user's other programs";

constexpr std::string_view kSomeShareId =
    "a server gives each sandbox an id of its own out of {}-{}, but those with a project, an image "
    "or other files of the user's, a device or the host's network, behind bubblewrap, and of "
    "'igloo run' and 'igloo shell' have the id of the user who started them: for these and all "
    "programs of that user together the kernel counts buffers of pipes, descriptors on their way "
    "through sockets, keyrings; pending signals and inotify watches of every sandbox, whatever its "
    "id, count for that user, too";

constexpr std::string_view kWithoutLandlock =
    "files, signals and abstract sockets of the host are kept out by namespaces and mounts alone; "
    "the second wall behind them is missing";

void AddIds(const HostIds& ids, std::vector<Weakness>& all) {
  if (ids.kind == HostIds::Kind::kOwn) return;
  if (ids.kind == HostIds::Kind::kSubordinate) {
    all.push_back({.name = "user id",
                   .missing = "an id of its own for every sandbox",
                   .weaker = fmt::format(kSomeShareId, ids.users.first,
                                         ids.users.first + ids.users.count - 1),
                   .fix = "run code of strangers in a server ('igloo mcp', 'igloo repl') and "
                          "without a project, or start igloo as root"});
    return;
  }
  all.push_back({.name = "user id",
                 .missing = "an id of its own for each sandbox",
                 .weaker = std::string(kSharedId),
                 .fix = "for code of strangers: start igloo as root, which gives each sandbox an "
                        "id of its own, or a server from an account with subordinate ids (here: " +
                        InOneLine(ids.why) + "), or igloo from an account that runs nothing else"});
}

}  // namespace

HostSupport LookAtSupport(const cgroup::Found& found, Result<backend::HostIds> ids) {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return {.cgroups = found.kind,
          .why_no_cgroups = found.why,
          .why_no_cpus = found.why_no_cpus,
          .ids = ids ? *std::move(ids) : backend::HostIds{.why = std::move(ids).error()},
          .landlock_abi = std::max(abi, 0L)};
}

std::vector<Weakness> FindWeaknesses(const HostSupport& support) {
  std::vector<Weakness> all;
  if (support.cgroups == cgroup::Kind::kV1) {
    all.push_back({.name = "limits",
                   .missing = "cgroup version 2 (this is version 1)",
                   .weaker = std::string(kWithVersion1),
                   .fix = std::string(kGetVersion2)});
  } else if (support.cgroups == cgroup::Kind::kNone) {
    all.push_back({.name = "limits",
                   .missing = "a cgroup that igloo may use",
                   .weaker = std::string(kWithoutCgroups),
                   .fix = support.why_no_cgroups});
  }
  if (support.cgroups != cgroup::Kind::kNone && !support.why_no_cpus.empty()) {
    all.push_back({.name = "cpus",
                   .missing = "cgroups that limit processors",
                   .weaker = "CPU time is not shared out and 'cpus' is kept by nobody, only run "
                             "time is limited",
                   .fix = support.why_no_cpus});
  }
  AddIds(support.ids, all);
  if (support.landlock_abi <= 0) {
    all.push_back({.name = "landlock",
                   .missing = "Landlock",
                   .weaker = std::string(kWithoutLandlock),
                   .fix = "boot with lsm=landlock,... (Linux 5.13 or newer)"});
  }
  return all;
}

std::vector<std::string> WeaknessLines(const HostSupport& support) {
  std::vector<std::string> lines;
  for (const Weakness& each : FindWeaknesses(support)) {
    lines.push_back("weaker " + each.name + ", without " + each.missing + ": " + each.weaker);
  }
  return lines;
}

}  // namespace igloo::cli
