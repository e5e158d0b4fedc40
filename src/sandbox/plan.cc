#include "sandbox/plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sandbox/entry.h"
#include "sandbox/layout.h"
#include "sandbox/own_inodes.h"
#include "sandbox/path.h"
#include "sandbox/payload.h"

namespace igloo::sandbox {
namespace {

constexpr std::array<std::string_view, 5> kDevices = {"null", "zero", "full", "random", "urandom"};

/// Root-only (0400) entries need no mask: nobody inside is root of the host.
constexpr std::array<std::string_view, 4> kMaskedFiles = {"kallsyms", "keys", "key-users", "mtrr"};
constexpr std::array<std::string_view, 5> kMaskedDirectories = {"acpi", "bus", "fs", "irq", "scsi"};

constexpr const char* kElsewhere = "choose another place inside the sandbox";

const char* Name(Layout::Kind kind) {
  switch (kind) {
    case Layout::Kind::kDirectory:
      return "a directory";
    case Layout::Kind::kFile:
      return "a file";
    case Layout::Kind::kLink:
      return "a link";
  }
  return "?";
}

Layout::Kind KindOf(const PathFact& fact) {
  return fact.type == S_IFDIR ? Layout::Kind::kDirectory : Layout::Kind::kFile;
}

/// Turns the entries of a policy into steps, each in the list that it belongs to.
class Planner {
 public:
  Planner(const Policy& policy, const HostFacts& facts) : policy_(policy), facts_(facts) {}

  Result<Plan> Make() {
    plan_.identity = policy_.identity;
    plan_.network = policy_.network;
    IGLOO_TRY(CheckPolicy(policy_));

    IGLOO_ASSIGN(const auto environment, Sorted(policy_.environment));
    IGLOO_ASSIGN(const auto run, Sorted(policy_.run));
    layout_.AddName("/.igloo", {Part::kEnvironment, Kind::kDirectory});
    for (const Entry* entry : environment) IGLOO_TRY(Place(*entry, Part::kEnvironment));
    MakeDirectories({"/proc"}, Part::kEnvironment);
    for (const Entry* entry : run) IGLOO_TRY(Place(*entry, PartOf(*entry)));

    IGLOO_TRY(CheckHandedOut());
    plan_.payload = MakePayload(policy_, PathRules());
    IGLOO_TRY(CheckRoom(plan_.payload));
    AssembleEnvironment();
    AssembleFresh();
    AssembleRun();
    return std::move(plan_);
  }

 private:
  using Kind = Layout::Kind;
  using Mount = Layout::Mount;

  std::vector<Step>& StepsOf(Part part) { return steps_[static_cast<std::size_t>(part)]; }

  /// Memory of a sandbox's own is the same for every run, unless it lies in a tree or a directory
  /// that this one brings.
  Part PartOf(const Entry& entry) const {
    const bool ahead =
        std::holds_alternative<MemoryTree>(entry) && !layout_.IsOfRun(TargetOf(entry));
    return ahead ? Part::kFresh : Part::kRun;
  }

  Result<void> Place(const Entry& entry, Part part) {
    const std::string target = TargetOf(entry);
    // SECURITY: a name below a link would be made wherever that link points.
    if (const std::string leaf = layout_.LeafAbove(target); !leaf.empty()) {
      return Fail(Errc::kInvalidArgument,
                  "'" + target + "' would lie below '" + leaf + "', which is " +
                      Name(*layout_.KindOf(leaf)),
                  kElsewhere);
    }
    if (CoveringOf(entry) == Covering::kForbidden) IGLOO_TRY(CheckNotHiding(entry, target));
    IGLOO_ASSIGN(const bool placed, std::visit([&](const auto& e) { return Add(e, part); }, entry));
    if (placed) layout_.Take(target);
    return {};
  }

  Result<void> CheckNotHiding(const Entry& entry, const std::string& target) const {
    const std::string hidden = layout_.HiddenBy(target, IsMount(entry));
    if (hidden.empty()) return {};
    return Fail(Errc::kInvalidArgument,
                "'" + target + "' would hide '" + hidden + "', which is already planned",
                kElsewhere);
  }

  // Each Add says whether the entry is there: optional ones may be absent.

  Result<bool> Add(const HostTree& tree, Part part) {
    IGLOO_ASSIGN(const PathFact* fact, FactOf(tree.source, tree.presence));
    if (fact == nullptr) return false;
    IGLOO_ASSIGN(const Showing showing, HowToShow(tree, *fact, part));
    IGLOO_TRY(MountAt(tree.target,
                      {.of = Mount::Of::kHost,
                       .part = part,
                       .kind = KindOf(*fact),
                       .writable = tree.access == Access::kReadWrite},
                      StepFor(tree, *fact, showing)));
    return true;
  }

  /// A base is made where the first tree of it is.
  Result<Showing> HowToShow(const HostTree& tree, const PathFact& fact, Part part) {
    if (tree.own_inodes && (part != Part::kEnvironment || tree.access == Access::kReadWrite)) {
      return Fail(Errc::kInvalidArgument, "'" + tree.target + "' cannot have inodes of its own",
                  "only read-only trees of an environment can; a run's tree is an OverlayTree");
    }
    const bool grouped = tree.own_inodes && !tree.within.empty();
    IGLOO_ASSIGN(const PathFact* within,
                 FactOf(grouped ? tree.within : tree.source, Presence::kOptional));
    Showing showing = ShowingOf(tree, fact, grouped ? within : nullptr);
    // SECURITY: a copy is written, so never to a place in a tree of the host.
    const Mount* holder = layout_.HolderOf(tree.target);
    if (showing == Showing::kCopy && holder != nullptr) showing = Showing::kBind;
    if (showing == Showing::kFromBase && tree.within != base_) {
      StepsOf(part).push_back(step::Base{.source = tree.within, .fact = *within});
      base_ = tree.within;
    }
    return showing;
  }

  Result<bool> Add(const OverlayTree& tree, Part part) {
    if (part == Part::kEnvironment) {
      return Fail(Errc::kInvalidArgument,
                  "'" + tree.target + "' is copy-on-write, but shared by all runs",
                  "make it part of a run: what one run writes is no other's business");
    }
    IGLOO_ASSIGN(const PathFact* fact, FactOf(tree.source, Presence::kRequired));
    if (fact->type != S_IFDIR) {
      return Fail(Errc::kInvalidArgument, "'" + tree.source + "' is not a directory",
                  "only a directory can be shown copy-on-write");
    }
    // The launcher assembles the view in these two and detaches them again.
    MakeDirectories({"/.igloo/lower", "/.igloo/upper"}, part);
    IGLOO_TRY(MountAt(
        tree.target,
        {.of = Mount::Of::kHost, .part = part, .writable = tree.access == Access::kReadWrite},
        step::Overlay{.source = tree.source,
                      .target = tree.target,
                      .capacity = tree.capacity,
                      .fact = *fact,
                      .access = tree.access}));
    return true;
  }

  Result<bool> Add(const MemoryTree& tree, Part part) {
    IGLOO_TRY(MountAt(
        tree.target,
        {.of = Mount::Of::kMemory, .part = part, .writable = tree.access == Access::kReadWrite},
        step::Tmpfs{.target = tree.target,
                    .capacity = tree.capacity,
                    .mode = tree.mode,
                    .execution = tree.execution}));
    return true;
  }

  Result<bool> Add(const Link& link, Part part) {
    if (link.points_to.empty() || link.points_to.find('\0') != std::string::npos) {
      return Fail(Errc::kInvalidArgument, "link '" + link.path + "' points nowhere");
    }
    return Create(link.path, Kind::kLink, step::Symlink{link.path, link.points_to}, part);
  }

  Result<bool> Add(const TextFile& file, Part part) {
    return Create(file.path, Kind::kFile, step::File{file.path, file.content, file.mode}, part);
  }

  Result<bool> Add(const NamedPipe& pipe, Part part) {
    return Create(pipe.path, Kind::kFile, step::NamedPipe{pipe.path}, part);
  }

  Result<bool> Add(const EmptyDirectory& directory, Part part) {
    return Create(directory.path, Kind::kDirectory, step::Directory{directory.path, directory.mode},
                  part);
  }

  Result<bool> Add(const DeviceNode& node, Part part) {
    if (std::ranges::find(kDevices, node.name) == kDevices.end()) {
      return Fail(Errc::kInvalidArgument,
                  "device '" + node.name + "' is not one a sandbox may have",
                  "null, zero, full, random and urandom are");
    }
    const std::string path = "/dev/" + node.name;
    IGLOO_ASSIGN(const PathFact* fact, FactOf(path, Presence::kRequired));
    if (fact->type != S_IFCHR) {
      return Fail(Errc::kFailedPrecondition, "'" + path + "' is not a device here");
    }
    IGLOO_TRY(MountAt(path, {.of = Mount::Of::kDevice, .part = part, .kind = Kind::kFile},
                      step::Bind{.source = path,
                                 .target = path,
                                 .access = Access::kReadWrite,
                                 .fact = *fact,
                                 .device = true}));
    return true;
  }

  Result<const PathFact*> FactOf(const std::string& source, Presence presence) const {
    // SECURITY: the kernel would show what the path before it names, which nobody has reviewed.
    if (source.contains('\0')) {
      return Fail(Errc::kInvalidArgument,
                  "a path of the host holds a zero byte, behind '" +
                      source.substr(0, source.find('\0')) + "'",
                  "write the path without it");
    }
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

  /// A name of an entry must lie in a place that is its part's own to write to.
  Result<bool> Create(const std::string& path, Kind kind, Step step, Part part) {
    const Mount* holder = layout_.HolderOf(path);
    if (holder != nullptr && holder->of == Mount::Of::kHost) {
      return Fail(Errc::kInvalidArgument, "'" + path + "' would be created in a tree of the host",
                  kElsewhere);
    }
    if (part != Part::kEnvironment && IsShared(holder)) {
      return Fail(Errc::kInvalidArgument,
                  "'" + path + "' would be created in the root that all runs share",
                  "put it below /workspace or /tmp");
    }
    MakeDirectories(Ancestors(path), part);
    StepsOf(part).push_back(std::move(step));
    layout_.AddName(path, {part, kind});
    return true;
  }

  Result<void> MountAt(const std::string& target, Mount mount, Step step) {
    const auto there = layout_.KindOf(target);
    if (there && *there != mount.kind) {
      return Fail(
          Errc::kInvalidArgument,
          "'" + target + "' is " + Name(*there) + ", which " + Name(mount.kind) + " cannot cover",
          kElsewhere);
    }
    MakeDirectories(Ancestors(target), mount.part);
    if (mount.kind == Kind::kDirectory) {
      MakeDirectories({target}, mount.part);
    } else {
      MakeMountPoint(target, step::File{target, "", 0444}, Kind::kFile, mount.part);
    }
    StepsOf(mount.part).push_back(std::move(step));
    layout_.AddMount(target, mount);
    return {};
  }

  void MakeDirectories(const std::vector<std::string>& paths, Part part) {
    for (const std::string& path : paths) {
      MakeMountPoint(path, step::Directory{path}, Kind::kDirectory, part);
    }
  }

  /// Makes a name where the plan owns the place, unless it is there.
  void MakeMountPoint(const std::string& path, Step step, Kind kind, Part part) {
    if (layout_.KindOf(path)) return;
    const Mount* holder = layout_.HolderOf(path);
    // SECURITY: nothing is ever created inside a tree of the host; the mount point must be there
    // already, and the launcher finds out by descriptor.
    if (holder != nullptr && holder->of == Mount::Of::kHost) return;
    // A name in the shared root is made with the environment, one in a sandbox's own memory by the
    // part that needs it.
    const bool late = part != Part::kEnvironment && IsShared(holder);
    (late ? late_names_ : StepsOf(part)).push_back(std::move(step));
    layout_.AddName(path, {late ? Part::kEnvironment : part, kind});
  }

  /// SECURITY: what igloo reads after a run is that run's own, never a file of the host's.
  Result<void> CheckHandedOut() const {
    for (const std::string& path : policy_.hand_out) {
      IGLOO_TRY(CheckTarget(path));
      const Mount* holder = layout_.HolderOf(path);
      const bool own = holder != nullptr && holder->of == Mount::Of::kMemory && !IsShared(holder) &&
                       layout_.KindOf(path) == Kind::kDirectory;
      if (own) continue;
      return Fail(Errc::kInvalidArgument,
                  "'" + path + "' is no directory in memory of the run's own", kElsewhere);
    }
    return {};
  }

  /// A named pipe of the run's stands in a directory.
  bool AwaitsFile(std::string_view directory) const {
    return std::ranges::any_of(policy_.run, [&](const Entry& entry) {
      const auto* pipe = std::get_if<NamedPipe>(&entry);
      return pipe != nullptr &&
             std::string_view(pipe->path).substr(0, pipe->path.rfind('/')) == directory;
    });
  }

  static bool IsShared(const Mount* holder) {
    return holder == nullptr || holder->part == Part::kEnvironment;
  }

  std::vector<PathRule> PathRules() const {
    std::vector<PathRule> rules = {{PathRight::kRead, "/"}};
    bool devices = false;
    for (const auto& [path, mount] : layout_.mounts()) {
      if (mount.writable) rules.push_back({PathRight::kReadWrite, path});
      devices = devices || mount.of == Mount::Of::kDevice;
    }
    // One rule for all of them: nothing else is in /dev that could be written to.
    if (devices) rules.push_back({PathRight::kDevice, "/dev"});
    return rules;
  }

  void AssembleEnvironment() {
    auto& steps = plan_.environment;
    steps.push_back(step::Root{{.bytes = 8U << 20, .inodes = 65536}});
    // What masks cover with, and where overlays are put together.
    steps.push_back(step::Directory{"/.igloo"});
    steps.push_back(step::Directory{"/.igloo/empty", 0555});
    steps.push_back(step::File{"/.igloo/nothing", "", 0444});
    std::ranges::move(StepsOf(Part::kEnvironment), std::back_inserter(steps));
    std::ranges::move(late_names_, std::back_inserter(steps));
    // Before the old root goes: the kernel allows a new proc only beside one that is not masked.
    steps.push_back(step::Proc{"/proc"});
    steps.push_back(step::EnterRoot{});
    steps.push_back(step::SealRoot{});
  }

  void AssembleFresh() {
    auto& steps = plan_.fresh;
    steps.push_back(step::Hostname{policy_.hostname});
    steps.push_back(step::NoMoreNamespaces{});
    // Settings of networks are made before /proc/sys is frozen.
    const Device* device = DeviceOf(policy_.network);
    if (device != nullptr) AddDevice(*device);
    for (const std::string_view name : kMaskedFiles) {
      steps.push_back(step::Mask{"/proc/" + std::string(name), false});
    }
    for (const std::string_view name : kMaskedDirectories) {
      steps.push_back(step::Mask{"/proc/" + std::string(name), true});
    }
    steps.push_back(step::ReadOnly{"/proc/sys"});
    std::ranges::move(StepsOf(Part::kFresh), std::back_inserter(steps));
    steps.push_back(step::BoundPrivileges{HasRawSockets(policy_.network)});
    // Last: a cold run makes the namespace beside everything above, and entering waits for that.
    if (device == nullptr && !std::holds_alternative<HostNetwork>(policy_.network)) {
      steps.push_back(step::PrivateNetwork{});
    }
  }

  void AddDevice(const Device& device) {
    auto& steps = plan_.fresh;
    steps.push_back(step::PrivateNetwork{});
    steps.push_back(step::Edge{own_network::kInside, own_network::kGateway});
    for (const std::string& network : device.closed) steps.push_back(step::Closed{network});
    if (device.resolver == own_network::kResolver) steps.push_back(step::Resolver{device.resolver});
  }

  void AssembleRun() {
    auto& steps = plan_.run;
    std::ranges::move(StepsOf(Part::kRun), std::back_inserter(steps));
    // Before anything is frozen: where a file is awaited stays writable for igloo.
    for (const std::string& path : policy_.hand_out) {
      steps.push_back(step::HandOut{path, AwaitsFile(path)});
    }
    for (const auto& [path, mount] : layout_.mounts()) {
      if (mount.frozen()) steps.push_back(step::ReadOnly{path, AwaitsFile(path)});
    }
    for (const std::uint16_t port : policy_.listen) steps.push_back(step::Listen{port});
    if (policy_.sockets != 0) steps.push_back(step::Sockets{policy_.sockets});
    steps.push_back(step::DropPrivileges{HasRawSockets(policy_.network)});
    steps.push_back(step::StartInit{});
  }

  const Policy& policy_;
  const HostFacts& facts_;
  Plan plan_ = {};
  Layout layout_ = {};
  std::array<std::vector<Step>, 3> steps_ = {};  ///< by Part
  std::string base_ = {};                        ///< of the last step::Base
  std::vector<Step> late_names_ = {};  ///< mount points in the shared root that the run needs
};

}  // namespace

Result<Plan> MakePlan(const Policy& policy, const HostFacts& facts) {
  return Planner(policy, facts).Make();
}

}  // namespace igloo::sandbox
