#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace igloo::sandbox {

enum class Access { kReadOnly, kReadWrite };
enum class Presence { kRequired, kOptional };
/// Whether a link may stand in the path of a source. SECURITY: somebody who may write to a
/// directory above a project can put a link into its path after it was looked at, which leads to
/// what only the caller can read. Where a path was resolved before, no link can be in it.
enum class Links { kFollowed, kRefused };
/// Whether programs may be started from a mount.
enum class Execution { kAllowed, kForbidden };
/// Whether an entry may cover what an earlier one put there. What it covers is gone from the
/// plan's view; /proc and /.igloo are never covered.
enum class Covering { kForbidden, kIntended };

/// Size of a writable place in memory. No inode limit is a limit that was not asked for.
struct Capacity {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> inodes = {};
  bool operator==(const Capacity&) const = default;
};

/// What the host has at a path, gathered before planning.
struct PathFact {
  std::uint64_t device = 0, inode = 0;
  std::uint32_t type = 0;  ///< S_IFDIR, S_IFREG, ...
  std::uint32_t uid = 0, gid = 0;
  std::uint64_t size = 0;     ///< of a regular file
  bool mounts_below = false;  ///< something is mounted in the directory
  bool behind_link = false;   ///< a link in its path leads there
  bool operator==(const PathFact&) const = default;
};

/// A file or a directory in a tree that code does not get to read. Its name stays; whoever opens it
/// is refused, or reads other content.
struct Hidden {
  std::string path = {};                    ///< below the tree
  PathFact fact = {};                       ///< device, inode and type of what is hidden
  std::string why = {};                     ///< for people
  std::optional<std::string> instead = {};  ///< of a file: what it reads as
  bool operator==(const Hidden&) const = default;
};

/// A host file or directory seen inside. The owner's files belong to the sandbox's user.
struct HostTree {
  std::string source = {};
  std::string target = {};
  Access access = Access::kReadOnly;
  Presence presence = Presence::kRequired;
  Links links = Links::kFollowed;
  /// Only trees of the user's own (a project) need their owner mapped when root starts a sandbox.
  bool map_owner = false;
  /// A read-only tree that others use, too. The sandbox sees the same content in inodes of its own:
  /// it can neither watch (inotify) nor lock (flock) the host's.
  bool own_inodes = false;
  /// With own_inodes: the directory that `source` and many others lie in. All trees of one such
  /// directory come from one file system instead of one each.
  std::string within = {};
  Covering covering = Covering::kForbidden;
  std::vector<Hidden> hidden = {};  ///< of a directory in a run
};

/// A view of a host directory instead of the directory itself: what is written lives elsewhere, and
/// a socket of the host that lies in it is a name and nothing more. Of a run only.
struct OverlayTree {
  std::string source = {};
  std::string target = {};
  Access access = Access::kReadWrite;
  Links links = Links::kFollowed;
  Capacity capacity = {};  ///< of what is written to memory
  /// Instead of memory: a directory of the host with an empty `upper` and an empty `work` in it.
  /// What is written is in `upper` when the sandbox has ended.
  std::string changes = {};
  Covering covering = Covering::kForbidden;
  std::vector<Hidden> hidden = {};
};

struct MemoryTree {
  std::string target = {};
  Capacity capacity = {};
  std::uint32_t mode = 0755;
  /// Read-only: what the policy puts into it stays as it is.
  Access access = Access::kReadWrite;
  Execution execution = Execution::kAllowed;
  Covering covering = Covering::kForbidden;
};

struct Link {
  std::string path = {};
  std::string points_to = {};
};

struct TextFile {
  std::string path = {};
  std::string content = {};
  std::uint32_t mode = 0444;
};

/// What stands in the place of a file that has yet to come: whoever opens it for reading waits.
struct NamedPipe {
  std::string path = {};
};

struct EmptyDirectory {
  std::string path = {};
  std::uint32_t mode = 0755;
};

/// One of the harmless device nodes: null, zero, full, random, urandom.
struct DeviceNode {
  std::string name = {};
};

/// A socket on which a program of the host's listens, or a device of the host's: what answers there
/// is outside of the sandbox. No default: whoever grants it writes why, and every plan warns of it.
struct HostNode {
  HostNode(std::string from, std::string to, std::string why)
      : source(std::move(from)), target(std::move(to)), reason(std::move(why)) {}
  std::string source, target, reason;
  bool map_owner = false;  ///< of a socket that its owner alone may use, as with HostTree
};

using Entry = std::variant<HostTree, OverlayTree, MemoryTree, Link, TextFile, NamedPipe,
                           EmptyDirectory, DeviceNode, HostNode>;

/// The dangerous right has no default: whoever grants it writes why, and every plan prints it.
struct HostNetwork {
  explicit HostNetwork(std::string why) : reason(std::move(why)) {}
  std::string reason;
  bool operator==(const HostNetwork&) const = default;
};
struct NoNetwork {
  bool operator==(const NoNetwork&) const = default;
};
/// The network that addresses of igloo's own are of; what they mean elsewhere is closed.
namespace own_network {
inline constexpr const char* kInside = "192.0.2.2";    ///< the sandbox's
inline constexpr const char* kGateway = "192.0.2.1";   ///< the edge's, on the wire between them
inline constexpr const char* kEdge = "192.0.2.8";      ///< the edge's, towards whoever carries on
inline constexpr const char* kResolver = "192.0.2.9";  ///< the carrier's: it passes questions on
}  // namespace own_network

/// A device for programs that know no proxy. It leads to everything but what is closed.
struct Device {
  std::string carrier = {};              ///< the program that carries packets further: pasta
  std::vector<std::string> closed = {};  ///< networks of IPv4, "10.0.0.0/8"
  /// Whom to ask for names; own_network::kResolver: the carrier. Empty: nobody.
  std::string resolver = {};
  bool operator==(const Device&) const = default;
};

/// No device but loopback, too, unless it is given one; what leads further are sockets on it that
/// igloo-proxy holds. Here is what it does with them, for people to read: it is igloo that tells
/// it.
struct ConnectedNetwork {
  struct Port {
    std::uint16_t outside = 0, inside = 0;
    bool operator==(const Port&) const = default;
  };
  std::string tier = {};                  ///< "none": ports only
  std::vector<std::string> rules = {};    ///< what it lets through
  std::vector<std::string> secrets = {};  ///< names, and where they go; never values
  std::vector<Port> publish = {};
  std::vector<std::uint16_t> reach = {};
  std::optional<Device> device = {};
  /// A right that has to be named: through the device, code sends packets of its own making and
  /// reads all that come. What is closed stays closed, whatever stands in a packet.
  bool raw_sockets = false;
  bool operator==(const ConnectedNetwork&) const = default;
};
using Network = std::variant<NoNetwork, ConnectedNetwork, HostNetwork>;

/// The device of a network; null: it has none.
inline const Device* DeviceOf(const Network& network) {
  const auto* connected = std::get_if<ConnectedNetwork>(&network);
  return connected != nullptr && connected->device ? &*connected->device : nullptr;
}
inline bool HasRawSockets(const Network& network) {
  const auto* connected = std::get_if<ConnectedNetwork>(&network);
  return connected != nullptr && connected->raw_sockets;
}

struct Identity {
  std::uint32_t uid = 1000, gid = 1000;
  std::string name = "user";
  /// Sandboxes started by root get an id of their own from here on; inside the range that
  /// systemd keeps for containers.
  std::uint32_t host_id_base = 0x10000000;
  bool operator==(const Identity&) const = default;
};

/// Per process, unless a cgroup says otherwise. Zero means: not limited.
struct Limits {
  std::uint64_t time_ms = 30'000;
  std::uint64_t grace_ms = 500;  ///< between the interrupt and the kill
  std::uint64_t memory_bytes = 512ULL << 20;
  std::uint64_t millicpus = 0;  ///< processors of all together, in thousandths; a cgroup's to keep
  std::uint64_t processes = 256;
  /// Also bounds descriptors that wait in Unix sockets. The kernel counts those for each id, so
  /// with the usual 1024 of a user there is room left for the starter's own programs.
  std::uint64_t open_files = 512;
  std::uint64_t file_bytes = 256ULL << 20;
  std::uint64_t stack_bytes = 8ULL << 20;
  std::uint64_t cpu_seconds = 0;
};

enum class Seccomp {
  kDefault,
  kDebug,       ///< ptrace is allowed
  kRawSockets,  ///< of a device with that right, and of nobody else
};
/// Whether the payload's standard input is a terminal that becomes its controlling one.
enum class Terminal { kNone, kOwn };

/// What a sandbox may do and contain. Pure data; nothing in it was looked up on the host.
struct Policy {
  std::vector<Entry> environment = {};  ///< the same for every run of an environment
  std::vector<Entry> run = {};          ///< this run's own; applied after the environment
  Network network = NoNetwork{};
  Identity identity = {};
  Limits limits = {};
  Seccomp seccomp = Seccomp::kDefault;
  Terminal terminal = Terminal::kNone;
  std::string hostname = "igloo";
  std::vector<std::string> argv = {};
  std::map<std::string, std::string> variables = {};  ///< all of them: nothing is inherited
  std::string cwd = {};
  /// Loopback ports to listen on inside; the sockets come out to igloo.
  std::vector<std::uint16_t> listen = {};
  /// How many sockets, not connected, are made inside and come out to igloo: whoever holds one can
  /// connect to what listens inside.
  std::uint32_t sockets = 0;
  /// Directories in memory of the run's own that come out to igloo, which reads what was left
  /// there. One in a read-only tree is igloo's to write to, and nobody else's.
  std::vector<std::string> hand_out = {};
  std::uint32_t extra_descriptors = 0;  ///< passed to the payload as 3, 4, ...
};

/// A path that was looked at and is not there has no value.
using HostFacts = std::map<std::string, std::optional<PathFact>>;

/// Every host path whose facts MakePlan will ask for.
std::vector<std::string> SourcesOf(const Policy& policy);

}  // namespace igloo::sandbox
