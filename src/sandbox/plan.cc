#include "sandbox/plan.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/overloaded.h"
#include "sandbox/path.h"

namespace igloo::sandbox {
namespace {

constexpr std::array<std::string_view, 5> kDevices = {"null", "zero", "full", "random", "urandom"};

/// Root-only (0400) entries need no mask: nobody inside is root of the host.
constexpr std::array<std::string_view, 4> kMaskedFiles = {"kallsyms", "keys", "key-users", "mtrr"};
constexpr std::array<std::string_view, 5> kMaskedDirectories = {"acpi", "bus", "fs", "irq", "scsi"};

std::string TargetOf(const Entry& entry) {
  return std::visit(Overloaded{
                        [](const HostTree& e) { return e.target; },
                        [](const OverlayTree& e) { return e.target; },
                        [](const MemoryTree& e) { return e.target; },
                        [](const Link& e) { return e.path; },
                        [](const TextFile& e) { return e.path; },
                        [](const EmptyDirectory& e) { return e.path; },
                        [](const DeviceNode& e) { return "/dev/" + e.name; },
                    },
                    entry);
}

Covering CoveringOf(const Entry& entry) {
  return std::visit(Overloaded{
                        [](const HostTree& e) { return e.covering; },
                        [](const OverlayTree& e) { return e.covering; },
                        [](const MemoryTree& e) { return e.covering; },
                        [](const auto&) { return Covering::kForbidden; },
                    },
                    entry);
}

bool IsMount(const Entry& entry) {
  return std::holds_alternative<HostTree>(entry) || std::holds_alternative<OverlayTree>(entry) ||
         std::holds_alternative<MemoryTree>(entry) || std::holds_alternative<DeviceNode>(entry);
}

/// Lays out the tree of one plan: which names exist, which must be made, and where.
class Planner {
 public:
  Planner(const Policy& policy, const HostFacts& facts) : policy_(policy), facts_(facts) {}

  Result<Plan> Make() {
    plan_.identity = policy_.identity;
    plan_.network = policy_.network;
    names_["/.igloo"] = &environment_;
    taken_.insert("/.igloo");
    IGLOO_TRY(CheckPolicy());

    IGLOO_ASSIGN(const auto environment, Sorted(policy_.environment));
    IGLOO_ASSIGN(const auto run, Sorted(policy_.run));
    for (const Entry* entry : environment) IGLOO_TRY(Place(*entry, environment_));
    IGLOO_TRY(MakeNames({"/proc"}, environment_));
    for (const Entry* entry : run) IGLOO_TRY(Place(*entry, PartOf(*entry)));

    AssembleEnvironment();
    AssembleFresh();
    AssembleRun();
    FillPayload();
    return std::move(plan_);
  }

 private:
  struct Part {
    std::vector<Step> steps = {};
  };
  /// What is mounted at a target, and by which part.
  struct Mounted {
    enum Kind { kHost, kMemory } kind;
    const Part* part;
  };

  /// Memory of a sandbox's own is the same for every run, unless it lies in a tree or a directory
  /// that this one brings.
  Part& PartOf(const Entry& entry) {
    if (!std::holds_alternative<MemoryTree>(entry)) return run_;
    for (std::string path = TargetOf(entry); !path.empty(); path.resize(path.rfind('/'))) {
      const auto place = places_.find(path);
      if (place != places_.end() && place->second.part == &run_) return run_;
      const auto name = names_.find(path);
      if (name != names_.end() && name->second == &run_) return run_;
    }
    return fresh_;
  }

  Result<void> CheckPolicy() const {
    if (policy_.argv.empty() || policy_.argv[0].empty()) {
      return Fail(Errc::kInvalidArgument, "there is no program to run");
    }
    if (policy_.identity.uid == 0 || policy_.identity.gid == 0) {
      return Fail(Errc::kInvalidArgument, "the sandbox's user may not be root");
    }
    IGLOO_TRY(CheckTarget(policy_.cwd));
    for (const auto& [name, value] : policy_.variables) {
      if (name.empty() || name.find('=') != std::string::npos ||
          name.find('\0') != std::string::npos || value.find('\0') != std::string::npos) {
        return Fail(Errc::kInvalidArgument, "'" + name + "' is not a usable variable");
      }
    }
    return {};
  }

  /// By depth, then by the order given: parents before what lies below them.
  static Result<std::vector<const Entry*>> Sorted(const std::vector<Entry>& entries) {
    std::map<std::ptrdiff_t, std::vector<const Entry*>> by_depth;
    for (const Entry& entry : entries) {
      const std::string target = TargetOf(entry);
      IGLOO_TRY(CheckTarget(target));
      by_depth[std::ranges::count(target, '/')].push_back(&entry);
    }
    std::vector<const Entry*> sorted;
    sorted.reserve(entries.size());
    for (const auto& [depth, level] : by_depth) {
      sorted.insert(sorted.end(), level.begin(), level.end());
    }
    return sorted;
  }

  /// The innermost mount that holds `path`, or null for the root itself. Costs the depth of the
  /// path, not the number of mounts: environments have hundreds.
  const Mounted* HolderOf(std::string path) const {
    while (!path.empty()) {
      if (const auto found = places_.find(path); found != places_.end()) return &found->second;
      path.resize(path.rfind('/'));
    }
    return nullptr;
  }

  /// Makes directories where the plan owns the place; leaves the host's trees alone.
  Result<void> MakeNames(const std::vector<std::string>& paths, Part& part) {
    for (const std::string& path : paths) {
      // A mount inside a tree of the host has no name of ours, but it is there all the same.
      if (names_.contains(path) || places_.contains(path)) continue;
      const Mounted* holder = HolderOf(path);
      // SECURITY: nothing is ever created inside a tree of the host; the mount point must be
      // there already, and the launcher finds out by descriptor.
      if (holder != nullptr && holder->kind == Mounted::kHost) continue;
      AddName(path, step::Directory{path}, holder, part);
    }
    return {};
  }

  /// A name in the shared root is made with the environment, one in a sandbox's own memory by the
  /// part that needs it.
  void AddName(const std::string& path, Step step, const Mounted* holder, Part& part) {
    const bool shared = holder == nullptr || holder->part == &environment_;
    auto& steps = shared && &part != &environment_ ? late_names_ : part.steps;
    steps.push_back(std::move(step));
    names_[path] = shared ? &environment_ : &part;
  }

  Result<void> CheckNotHiding(const Entry& entry, const std::string& target) const {
    if (CoveringOf(entry) == Covering::kIntended) return {};
    auto hidden = taken_.find(target);
    if (hidden == taken_.end() && IsMount(entry)) {
      hidden = taken_.lower_bound(target + "/");
      if (hidden != taken_.end() && !IsWithin(*hidden, target)) hidden = taken_.end();
    }
    if (hidden == taken_.end()) return {};
    return Fail(Errc::kInvalidArgument,
                "'" + target + "' would hide '" + *hidden + "', which is already planned",
                "choose another place inside the sandbox");
  }

  Result<void> Place(const Entry& entry, Part& part) {
    const std::string target = TargetOf(entry);
    IGLOO_TRY(CheckNotHiding(entry, target));
    auto placed = std::visit([&](const auto& e) { return Add(e, part); }, entry);
    if (!placed) return std::unexpected(std::move(placed).error());
    if (*placed) taken_.insert(target);
    return {};
  }

  // Each Add says whether the entry is there: optional ones may be absent.

  Result<bool> Add(const HostTree& tree, Part& part) {
    IGLOO_ASSIGN(const PathFact* fact, FactOf(tree.source, tree.presence));
    if (fact == nullptr) return false;
    IGLOO_TRY(MakeMountPoint(tree.target, fact->type, part));
    part.steps.push_back(step::Bind{.source = tree.source,
                                    .target = tree.target,
                                    .access = tree.access,
                                    .fact = *fact,
                                    .map_owner = tree.map_owner});
    places_[tree.target] = {Mounted::kHost, &part};
    if (tree.access == Access::kReadWrite) writable_.push_back(tree.target);
    return true;
  }

  Result<bool> Add(const OverlayTree& tree, Part& part) {
    IGLOO_ASSIGN(const PathFact* fact, FactOf(tree.source, Presence::kRequired));
    if (fact->type != S_IFDIR) {
      return Fail(Errc::kInvalidArgument, "'" + tree.source + "' is not a directory",
                  "only a directory can be shown copy-on-write");
    }
    // The launcher assembles the view in these two and detaches them again.
    IGLOO_TRY(MakeNames({"/.igloo/lower", "/.igloo/upper"}, part));
    IGLOO_TRY(MakeMountPoint(tree.target, S_IFDIR, part));
    part.steps.push_back(step::Overlay{
        .source = tree.source, .target = tree.target, .capacity = tree.capacity, .fact = *fact});
    places_[tree.target] = {Mounted::kHost, &part};
    writable_.push_back(tree.target);
    return true;
  }

  Result<bool> Add(const MemoryTree& tree, Part& part) {
    IGLOO_TRY(MakeMountPoint(tree.target, S_IFDIR, part));
    part.steps.push_back(step::Tmpfs{.target = tree.target,
                                     .capacity = tree.capacity,
                                     .mode = tree.mode,
                                     .execution = tree.execution});
    places_[tree.target] = {Mounted::kMemory, &part};
    (tree.access == Access::kReadWrite ? writable_ : frozen_).push_back(tree.target);
    return true;
  }

  Result<bool> Add(const Link& link, Part& part) {
    if (link.points_to.empty() || link.points_to.find('\0') != std::string::npos) {
      return Fail(Errc::kInvalidArgument, "link '" + link.path + "' points nowhere");
    }
    IGLOO_TRY(CheckCreatable(link.path, part));
    part.steps.push_back(step::Symlink{link.path, link.points_to});
    names_[link.path] = &part;
    return true;
  }

  Result<bool> Add(const TextFile& file, Part& part) {
    IGLOO_TRY(CheckCreatable(file.path, part));
    part.steps.push_back(step::File{file.path, file.content, file.mode});
    names_[file.path] = &part;
    return true;
  }

  Result<bool> Add(const EmptyDirectory& directory, Part& part) {
    IGLOO_TRY(CheckCreatable(directory.path, part));
    part.steps.push_back(step::Directory{directory.path, directory.mode});
    names_[directory.path] = &part;
    return true;
  }

  Result<bool> Add(const DeviceNode& node, Part& part) {
    if (std::ranges::find(kDevices, node.name) == kDevices.end()) {
      return Fail(Errc::kInvalidArgument,
                  "device '" + node.name + "' is not one a sandbox may have",
                  "null, zero, full, random and urandom are");
    }
    IGLOO_ASSIGN(const PathFact* fact, FactOf("/dev/" + node.name, Presence::kRequired));
    if (fact->type != S_IFCHR) {
      return Fail(Errc::kFailedPrecondition, "'/dev/" + node.name + "' is not a device here");
    }
    const std::string target = "/dev/" + node.name;
    IGLOO_TRY(MakeMountPoint(target, S_IFCHR, part));
    part.steps.push_back(step::Bind{.source = target,
                                    .target = target,
                                    .access = Access::kReadWrite,
                                    .fact = *fact,
                                    .device = true});
    has_devices_ = true;
    return true;
  }

  Result<const PathFact*> FactOf(const std::string& source, Presence presence) const {
    const auto found = facts_.find(source);
    if (found == facts_.end()) {
      return Fail(Errc::kInternal, "nothing is known about '" + source + "'");
    }
    if (!found->second && presence == Presence::kRequired) {
      return Fail(Errc::kNotFound, "'" + source + "' does not exist",
                  "create it, or remove it from the configuration");
    }
    return found->second ? &*found->second : nullptr;
  }

  /// A name made by this part must lie in a place that this part mounted.
  Result<void> CheckCreatable(const std::string& path, Part& part) {
    const Mounted* holder = HolderOf(path);
    if (holder != nullptr && holder->kind == Mounted::kHost) {
      return Fail(Errc::kInvalidArgument, "'" + path + "' would be created in a tree of the host",
                  "choose another place inside the sandbox");
    }
    if (&part != &environment_ && (holder == nullptr || holder->part == &environment_)) {
      return Fail(Errc::kInvalidArgument,
                  "'" + path + "' would be created in the root that all runs share",
                  "put it below /workspace or /tmp");
    }
    return MakeNames(Ancestors(path), part);
  }

  Result<void> MakeMountPoint(const std::string& target, std::uint32_t type, Part& part) {
    IGLOO_TRY(MakeNames(Ancestors(target), part));
    if (type == S_IFDIR) return MakeNames({target}, part);
    const Mounted* holder = HolderOf(target);
    if (names_.contains(target) || (holder != nullptr && holder->kind == Mounted::kHost)) return {};
    AddName(target, step::File{target, "", 0444}, holder, part);
    return {};
  }

  void AssembleEnvironment() {
    auto& steps = plan_.environment;
    steps.push_back(step::Root{{.bytes = 8U << 20, .inodes = 65536}});
    // What masks cover with, and where overlays are put together.
    steps.push_back(step::Directory{"/.igloo"});
    steps.push_back(step::Directory{"/.igloo/empty", 0555});
    steps.push_back(step::File{"/.igloo/nothing", "", 0444});
    std::ranges::move(environment_.steps, std::back_inserter(steps));
    std::ranges::move(late_names_, std::back_inserter(steps));
    // A pristine proc: the kernel allows a fresh one per run only while this one is unmasked.
    steps.push_back(step::Proc{"/proc"});
    steps.push_back(step::EnterRoot{});
    steps.push_back(step::SealRoot{});
  }

  void AssembleFresh() {
    auto& steps = plan_.fresh;
    steps.push_back(step::Hostname{policy_.hostname});
    steps.push_back(step::Proc{"/proc"});
    steps.push_back(step::NoMoreNamespaces{});
    for (const std::string_view name : kMaskedFiles) {
      steps.push_back(step::Mask{"/proc/" + std::string(name), false});
    }
    for (const std::string_view name : kMaskedDirectories) {
      steps.push_back(step::Mask{"/proc/" + std::string(name), true});
    }
    steps.push_back(step::ReadOnly{"/proc/sys"});
    std::ranges::move(fresh_.steps, std::back_inserter(steps));
    steps.push_back(step::BoundPrivileges{});
    // Last: a cold run makes the namespace beside everything above, and entering waits for that.
    if (std::holds_alternative<NoNetwork>(policy_.network)) {
      steps.push_back(step::PrivateNetwork{});
    }
  }

  void AssembleRun() {
    auto& steps = plan_.run;
    std::ranges::move(run_.steps, std::back_inserter(steps));
    for (const std::string& path : frozen_) steps.push_back(step::ReadOnly{path});
    for (const std::uint16_t port : policy_.listen) steps.push_back(step::Listen{port});
    steps.push_back(step::DropPrivileges{});
    steps.push_back(step::StartInit{});
  }

  void FillPayload() {
    Payload& payload = plan_.payload;
    payload.argv = policy_.argv;
    for (const auto& [name, value] : policy_.variables) payload.env.push_back(name + "=" + value);
    payload.cwd = policy_.cwd;
    payload.time_ms = policy_.limits.time_ms;
    payload.grace_ms = policy_.limits.grace_ms;
    payload.seccomp = policy_.seccomp;
    payload.extra_descriptors = policy_.extra_descriptors;
    FillLimits(policy_.limits, payload.limits);
    payload.paths.push_back({PathRight::kRead, "/"});
    std::ranges::sort(writable_);
    for (const std::string& path : writable_)
      payload.paths.push_back({PathRight::kReadWrite, path});
    // One rule for all of them: nothing else is in /dev that could be written to.
    if (has_devices_) payload.paths.push_back({PathRight::kDevice, "/dev"});
  }

  static void FillLimits(const Limits& limits, std::vector<ResourceLimit>& out) {
    const auto add = [&](const char* name, int resource, std::uint64_t value) {
      out.push_back({name, resource, value});
    };
    const auto add_if = [&](const char* name, int resource, std::uint64_t value) {
      if (value != 0) add(name, resource, value);
    };
    add("core", RLIMIT_CORE, 0);
    add("memlock", RLIMIT_MEMLOCK, 64U << 10);
    add("msgqueue", RLIMIT_MSGQUEUE, 64U << 10);
    add("rtprio", RLIMIT_RTPRIO, 0);
    add_if("data", RLIMIT_DATA, limits.memory_bytes);
    add_if("nproc", RLIMIT_NPROC, limits.processes);
    add_if("nofile", RLIMIT_NOFILE, limits.open_files);
    add_if("fsize", RLIMIT_FSIZE, limits.file_bytes);
    add_if("stack", RLIMIT_STACK, limits.stack_bytes);
    add_if("cpu", RLIMIT_CPU, limits.cpu_seconds);
  }

  const Policy& policy_;
  const HostFacts& facts_;
  Plan plan_ = {};
  Part environment_ = {};
  Part fresh_ = {};
  Part run_ = {};
  std::vector<Step> late_names_ = {};  ///< mount points in the shared root that the run needs
  std::map<std::string, Mounted> places_ = {};
  std::map<std::string, const Part*> names_ = {};  ///< and who makes them
  std::set<std::string> taken_ = {};
  std::vector<std::string> writable_ = {};
  std::vector<std::string> frozen_ = {};
  bool has_devices_ = false;
};

}  // namespace

std::vector<std::string> SourcesOf(const Policy& policy) {
  std::vector<std::string> sources;
  for (const auto* entries : {&policy.environment, &policy.run}) {
    for (const Entry& entry : *entries) {
      if (const auto* tree = std::get_if<HostTree>(&entry)) sources.push_back(tree->source);
      if (const auto* tree = std::get_if<OverlayTree>(&entry)) sources.push_back(tree->source);
      if (const auto* node = std::get_if<DeviceNode>(&entry)) {
        sources.push_back("/dev/" + node->name);
      }
    }
  }
  return sources;
}

Result<Plan> MakePlan(const Policy& policy, const HostFacts& facts) {
  return Planner(policy, facts).Make();
}

}  // namespace igloo::sandbox
