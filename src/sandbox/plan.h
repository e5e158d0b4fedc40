#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "sandbox/policy.h"

namespace igloo::sandbox {

/// Where the launcher puts a view together. Nothing is there when the payload starts.
inline constexpr const char* kLowerPlace = "/.igloo/lower";
inline constexpr const char* kChangesPlace = "/.igloo/upper";

// The steps of a plan. Each is one thing that will be done; a backend that lacks one refuses.
namespace step {

struct Root {
  Capacity capacity;
  bool operator==(const Root&) const = default;
};
struct Directory {
  std::string path;
  std::uint32_t mode = 0755;
  bool operator==(const Directory&) const = default;
};
struct Symlink {
  std::string path, points_to;
  bool operator==(const Symlink&) const = default;
};
struct File {
  std::string path, content;
  std::uint32_t mode = 0444;
  bool operator==(const File&) const = default;
};
struct NamedPipe {
  std::string path;
  bool operator==(const NamedPipe&) const = default;
};
struct Bind {
  std::string source, target;
  Access access = Access::kReadOnly;
  PathFact fact = {};
  bool device = false;
  bool map_owner = false;
  /// Inodes of its own were wanted, but cannot be had: the host's are shown.
  bool host_inodes = false;
  /// Of a socket or a device that is not harmless: why the sandbox has it.
  std::string granted = {};
  bool operator==(const Bind&) const = default;
};
struct Tmpfs {
  std::string target;
  Capacity capacity = {};
  std::uint32_t mode = 0755;
  Execution execution = Execution::kAllowed;
  bool operator==(const Tmpfs&) const = default;
};
struct Overlay {
  std::string source, target;
  Capacity capacity = {};
  PathFact fact = {};
  Access access = Access::kReadWrite;
  bool map_owner = true;
  /// What is written goes to the directory that the step before shows at kChangesPlace, instead of
  /// memory.
  bool keeps_changes = false;
  bool operator==(const Overlay&) const = default;
};
/// A read-only overlay of a host directory that is mounted nowhere itself: the FromBase steps
/// behind it attach parts of it.
struct Base {
  std::string source;
  PathFact fact = {};
  bool operator==(const Base&) const = default;
};
struct FromBase {
  std::string path, target;  ///< `path` is relative to the base
  PathFact fact = {};
  bool operator==(const FromBase&) const = default;
};
/// A small file of the host, copied when the sandbox is made.
struct Copy {
  std::string source, target;
  PathFact fact = {};
  bool operator==(const Copy&) const = default;
};
struct Proc {
  std::string target;
  bool operator==(const Proc&) const = default;
};
/// Covers an entry of /proc, where the kernel has it.
struct Mask {
  std::string target;
  bool directory = false;
  bool operator==(const Mask&) const = default;
};
/// Covers a name in a tree of the host, once it is known to be what the planner saw.
struct Hide {
  std::string tree;    ///< where the tree is mounted; the last Bind or Overlay before this
  std::string target;  ///< below it
  std::string cover;   ///< a file or directory of the sandbox's own
  PathFact fact = {};
  bool view = false;  ///< the tree is an overlay: compared in its lower half, which has the numbers
  std::string why = {};
  bool operator==(const Hide&) const = default;
};
struct ReadOnly {
  std::string target;
  /// By a mount over what is there: a directory that was handed out stays igloo's to write to.
  bool over = false;
  bool operator==(const ReadOnly&) const = default;
};
struct EnterRoot {
  bool operator==(const EnterRoot&) const = default;
};
struct SealRoot {
  bool operator==(const SealRoot&) const = default;
};
struct PrivateNetwork {
  bool operator==(const PrivateNetwork&) const = default;
};
/// A device, eth0, that leads to a network namespace beside the sandbox's: there, where no code of
/// it is, is decided what passes. igloo gets that namespace.
struct Edge {
  std::string inside, gateway;
  bool operator==(const Edge&) const = default;
};
/// What the edge lets nobody reach.
struct Closed {
  std::string network;
  bool operator==(const Closed&) const = default;
};
/// Questions for names pass to an address that is closed otherwise.
struct Resolver {
  std::string address;
  bool operator==(const Resolver&) const = default;
};
struct Hostname {
  std::string name;
  bool operator==(const Hostname&) const = default;
};
/// The jail also bounds inotify there; bubblewrap cannot.
struct NoMoreNamespaces {
  bool operator==(const NoMoreNamespaces&) const = default;
};
struct Listen {
  std::uint16_t port = 0;
  bool operator==(const Listen&) const = default;
};
/// Sockets that are not connected yet.
struct Sockets {
  std::uint32_t count = 0;
  bool operator==(const Sockets&) const = default;
};
struct HandOut {
  std::string path;
  bool kept = false;  ///< by igloo-init, too: it puts there what a program waits for
  bool operator==(const HandOut&) const = default;
};
/// No way to gain a capability is left; `raw_sockets`: but for the one that these need, over the
/// sandbox's own network.
struct BoundPrivileges {
  bool raw_sockets = false;
  bool operator==(const BoundPrivileges&) const = default;
};
struct DropPrivileges {
  bool raw_sockets = false;
  bool operator==(const DropPrivileges&) const = default;
};
struct StartInit {
  bool operator==(const StartInit&) const = default;
};

}  // namespace step

using Step =
    std::variant<step::Root, step::Directory, step::Symlink, step::File, step::NamedPipe,
                 step::Bind, step::Tmpfs, step::Overlay, step::Base, step::FromBase, step::Copy,
                 step::Proc, step::Mask, step::Hide, step::ReadOnly, step::EnterRoot,
                 step::SealRoot, step::PrivateNetwork, step::Edge, step::Closed, step::Resolver,
                 step::Hostname, step::NoMoreNamespaces, step::Listen, step::Sockets, step::HandOut,
                 step::BoundPrivileges, step::DropPrivileges, step::StartInit>;

/// A resource limit by name, so that a plan reads well and tests compare it.
struct ResourceLimit {
  std::string name;  ///< "data", "nproc", ...
  int resource = 0;  ///< RLIMIT_*
  std::uint64_t value = 0;
  bool operator==(const ResourceLimit&) const = default;
};

enum class PathRight { kRead, kReadWrite, kDevice };
struct PathRule {
  PathRight right = PathRight::kRead;
  std::string path;
  bool operator==(const PathRule&) const = default;
};

// How much of each igloo-init has room for; a plan that needs more is refused.
inline constexpr std::size_t kMaxResourceLimits = 32;
inline constexpr std::size_t kMaxPathRules = 1024;
inline constexpr std::size_t kMaxStrings = 65536;  ///< arguments, and again variables
inline constexpr std::size_t kMaxExtraDescriptors = 8;
inline constexpr std::uint32_t kMaxSockets = 1024;

/// What igloo-init does for the payload, behind every backend alike.
struct Payload {
  std::vector<std::string> argv = {};
  std::vector<std::string> env = {};  ///< NAME=value, sorted
  std::string cwd = {};
  std::uint64_t time_ms = 0, grace_ms = 0;
  std::uint64_t memory_bytes = 0;  ///< of all processes together; 0: not limited
  std::uint64_t millicpus = 0;     ///< likewise; of processors, in thousandths
  std::vector<ResourceLimit> limits = {};
  std::vector<PathRule> paths = {};  ///< Landlock
  Seccomp seccomp = Seccomp::kDefault;
  std::uint32_t extra_descriptors = 0;
  Terminal terminal = Terminal::kNone;
  bool operator==(const Payload&) const = default;
};

/// The exact, ordered, complete list of what will be done, in three parts by how long a part
/// stays true: `environment` for every sandbox of an environment, `fresh` for each of them anew but
/// always the same way, `run` for one run only. A template applies the first once; each sandbox
/// that it keeps ready has applied the first two to a root of its own; a run applies the third.
/// INVARIANT: a parent target precedes every target below it, so no later step hides an earlier
/// one unless the policy said so.
/// INVARIANT: `fresh` and `run` create names only in file systems that they mounted themselves:
/// the root of `environment` is finished and read-only by then.
struct Plan {
  std::vector<Step> environment = {};
  std::vector<Step> fresh = {};
  std::vector<Step> run = {};
  Identity identity = {};
  Network network = NoNetwork{};
  Payload payload = {};
  bool operator==(const Plan&) const = default;
};

/// Derives the plan. Same policy and facts, same plan, byte for byte.
Result<Plan> MakePlan(const Policy& policy, const HostFacts& facts);

/// Why a sandbox of this plan has its starter's own id outside where others have a subordinate one:
/// files of a user may be closed to every other id, and only root can show them to one. Empty: it
/// can have any id.
std::string NeedsStartersId(const Plan& plan);

/// For people: what --dry-run prints.
std::string Describe(const Plan& plan);
/// For programs: the same, as one JSON document.
std::string ToJson(const Plan& plan);

/// One list as the launcher reads it (ops/ops.h).
std::string Encode(const std::vector<Step>& steps);

/// The step that the launcher counts as `index` (over all lists), or null.
const Step* StepAt(const Plan& plan, std::size_t index);
/// A step in Describe's words.
std::string DescribeStep(const Step& step);

}  // namespace igloo::sandbox
