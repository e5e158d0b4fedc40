#include "sandbox/plan.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "sandbox/entry.h"
#include "sandbox/layout.h"
#include "sandbox/lists.h"
#include "sandbox/nodes.h"
#include "sandbox/own_inodes.h"
#include "sandbox/path.h"
#include "sandbox/payload.h"

namespace igloo::sandbox {
namespace {

/// Where files lie that are shown instead of hidden ones.
constexpr const char* kCopies = "/.igloo/copies";
constexpr std::uint64_t kPage = 4096;

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
    MakeLists(policy_, layout_, std::move(steps_), plan_);
    return std::move(plan_);
  }

 private:
  using Kind = Layout::Kind;
  using Mount = Layout::Mount;

  std::vector<Step>& StepsOf(Part part) { return steps_.by_part[static_cast<std::size_t>(part)]; }

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
    IGLOO_ASSIGN(const PathFact* fact, FactOf(tree.source, tree.presence, tree.links));
    if (fact == nullptr) return false;
    IGLOO_ASSIGN(const Showing showing, HowToShow(tree, *fact, part));
    IGLOO_TRY(MountAt(tree.target,
                      {.of = Mount::Of::kHost,
                       .part = part,
                       .kind = KindOf(*fact),
                       .writable = tree.access == Access::kReadWrite},
                      StepFor(tree, *fact, showing)));
    IGLOO_TRY(HideIn(tree.target, tree.hidden, part, false));
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
    IGLOO_ASSIGN(const PathFact* fact, FactOf(tree.source, Presence::kRequired, tree.links));
    if (fact->type != S_IFDIR) {
      return Fail(Errc::kInvalidArgument, "'" + tree.source + "' is not a directory",
                  "only a directory can be shown copy-on-write");
    }
    MakeDirectories({kLowerPlace, kChangesPlace}, part);
    if (!tree.changes.empty()) {
      IGLOO_ASSIGN(const PathFact* changes, FactOf(tree.changes, Presence::kRequired));
      IGLOO_ASSIGN(step::Bind kept, KeptChanges(tree, *changes));
      StepsOf(part).push_back(std::move(kept));
    }
    IGLOO_TRY(MountAt(
        tree.target,
        {.of = Mount::Of::kHost, .part = part, .writable = tree.access == Access::kReadWrite},
        step::Overlay{.source = tree.source,
                      .target = tree.target,
                      .capacity = tree.capacity,
                      .fact = *fact,
                      .access = tree.access,
                      .keeps_changes = !tree.changes.empty()}));
    IGLOO_TRY(HideIn(tree.target, tree.hidden, part, true));
    return true;
  }

  /// Directly behind the mount of the tree, which the launcher looks at.
  Result<void> HideIn(const std::string& tree, const std::vector<Hidden>& all, Part part,
                      bool view) {
    if (all.empty()) return {};
    if (part == Part::kEnvironment) {
      return Fail(Errc::kInvalidArgument, "nothing can be hidden in '" + tree + "'",
                  "only in a tree of a run: what many share is not looked through");
    }
    IGLOO_TRY(MakeRoomForCopies());
    for (const Hidden& each : all) {
      const std::string target = tree + "/" + each.path;
      IGLOO_TRY(CheckTarget(target));
      IGLOO_ASSIGN(std::string cover, CoverFor(each, part));
      StepsOf(part).push_back(step::Hide{.tree = tree,
                                         .target = target,
                                         .cover = std::move(cover),
                                         .fact = each.fact,
                                         .view = view,
                                         .why = each.why});
    }
    return {};
  }

  /// What stands in the place of a hidden name. Without a right for anybody, and read-only, so that
  /// its owner, the sandbox's user, cannot take one.
  Result<std::string> CoverFor(const Hidden& hidden, Part part) {
    if (hidden.instead) {
      std::string copy = fmt::format("{}/{}", kCopies, copies_++);
      IGLOO_TRY(Create(copy, Kind::kFile, step::File{copy, *hidden.instead, 0444}, part));
      return copy;
    }
    const bool directory = hidden.fact.type == S_IFDIR;
    const std::string cover = directory ? "/.igloo/closed" : "/.igloo/hidden";
    if (directory) {
      MakeMountPoint(cover, step::Directory{cover, 0}, Kind::kDirectory, part);
    } else {
      MakeMountPoint(cover, step::File{cover, "", 0}, Kind::kFile, part);
    }
    return cover;
  }

  /// Memory for the files that are shown instead of hidden ones, if there are any.
  Result<void> MakeRoomForCopies() {
    std::uint64_t bytes = 0;
    for (const Entry& entry : policy_.run) {
      const auto* bind = std::get_if<HostTree>(&entry);
      const auto* overlay = std::get_if<OverlayTree>(&entry);
      if (bind == nullptr && overlay == nullptr) continue;
      for (const Hidden& each : bind != nullptr ? bind->hidden : overlay->hidden) {
        if (each.instead) bytes += kPage + each.instead->size();
      }
    }
    if (bytes == 0 || layout_.KindOf(kCopies)) return {};
    return MountAt(kCopies, {.of = Mount::Of::kMemory, .part = Part::kRun},
                   step::Tmpfs{.target = kCopies, .capacity = {.bytes = kPage + bytes}});
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
    IGLOO_TRY(CheckHarmless(node));
    return AddNode(node, TargetOf(node), part);
  }
  Result<bool> Add(const HostNode& node, Part part) { return AddNode(node, node.source, part); }

  template <class Node>
  Result<bool> AddNode(const Node& node, const std::string& source, Part part) {
    IGLOO_ASSIGN(const PathFact* fact, FactOf(source, Presence::kRequired));
    IGLOO_ASSIGN(const step::Bind bind, BindOfNode(node, *fact));
    const auto of = bind.device ? Mount::Of::kDevice : Mount::Of::kHost;
    IGLOO_TRY(MountAt(bind.target, {.of = of, .part = part, .kind = Kind::kFile}, bind));
    return true;
  }

  Result<const PathFact*> FactOf(const std::string& source, Presence presence,
                                 Links links = Links::kFollowed) const {
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
    if (!found->second) return nullptr;
    if (found->second->behind_link && links == Links::kRefused) {
      return Fail(Errc::kFailedPrecondition, "somebody put a link into the path '" + source + "'",
                  "try again; if it stays, look at who can write to the directories above it");
    }
    return &*found->second;
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
    (late ? steps_.late_names : StepsOf(part)).push_back(std::move(step));
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

  const Policy& policy_;
  const HostFacts& facts_;
  Plan plan_ = {};
  Layout layout_ = {};
  PlannedSteps steps_ = {};
  std::string base_ = {};   ///< of the last step::Base
  std::size_t copies_ = 0;  ///< files in kCopies
};

}  // namespace

Result<Plan> MakePlan(const Policy& policy, const HostFacts& facts) {
  return Planner(policy, facts).Make();
}

}  // namespace igloo::sandbox
