#pragma once

// The flat, encoded form of a plan: what sandbox/ writes and the launcher executes in place.
// Freestanding: no heap, no standard library beyond fixed-width integers.

#include <stddef.h>
#include <stdint.h>

namespace igloo::ops {

/// One operation of the launcher's table. The numbers are the protocol between two programs that
/// are always built together; they carry no promise beyond that.
enum class Code : uint16_t {
  kRoot = 1,         ///< mount the tmpfs that becomes the root
  kDirectory,        ///< make `path`
  kSymlink,          ///< make `path` -> `text`
  kFile,             ///< make `path` with content `text`
  kNamedPipe,        ///< make `path`
  kBind,             ///< attach the tree of host path `text` at `path`
  kTmpfs,            ///< mount a tmpfs at `path`
  kProc,             ///< mount a fresh proc at `path`
  kMaskFile,         ///< cover `path` with an empty file; absent paths are fine
  kMaskDirectory,    ///< cover `path` with an empty directory; absent paths are fine
  kHide,             ///< cover `path`, which must be there, with `text`, a path of the new root
  kReadOnly,         ///< make `path` read-only; kFlagOver: by a mount over it
  kOverlay,          ///< copy-on-write view of host path `text` at `path`
  kBase,             ///< an overlay of host directory `text`, for the kFromBase that follow
  kFromBase,         ///< attach `text`, a path below the base's directory, at `path`
  kCopy,             ///< make `path`, a copy of host file `text`
  kPivot,            ///< make the new root the root, drop the old one
  kSeal,             ///< make the root read-only
  kNetwork,          ///< be in a private network namespace, loopback raised
  kEdge,             ///< give the sandbox a device: its `address`, with the edge's in `mode`
  kClose,            ///< close the network of `mode` bits at `address` for it
  kResolver,         ///< questions for names may go to `address` all the same
  kHostname,         ///< name the machine `text`
  kNoNamespaces,     ///< forbid further user namespaces below this one
  kListen,           ///< listen on loopback port `mode`, hand the socket out
  kSockets,          ///< make `mode` sockets that are not connected, hand them out
  kHandOut,          ///< hand the directory `path` out
  kBoundPrivileges,  ///< empty the bounding set, lock securebits, set no_new_privs
  kDropPrivileges,   ///< give up every capability
  kBecomeInit,       ///< become igloo-init
  kEnd,
};

enum Flag : uint16_t {
  kFlagReadOnly = 1,
  kFlagNoExec = 2,
  kFlagDevice = 4,       ///< a device node: the one mount that may not be nodev
  kFlagMapOwner = 8,     ///< started by root: the owner's files belong to the sandbox's user
  kFlagRawSockets = 16,  ///< of kBoundPrivileges and kDropPrivileges: CAP_NET_RAW stays
  kFlagOver = 32,        ///< of kReadOnly: who holds what is there now can go on writing to it
  kFlagKept = 64,        ///< of kHandOut: igloo-init keeps it, too, behind all its descriptors
  kFlagView = 128,       ///< of kHide: it lies in the last kOverlay, whose lower half is looked at
  kFlagKeepsChanges = 256,  ///< of kOverlay: what is written goes to what is bound at /.igloo/upper
};

/// One operation, followed by `path` and `text`, each closed by a NUL, padded to 8 bytes.
struct Op {
  Code code;
  uint16_t flags;
  uint32_t size;                  ///< of the whole operation, header, strings and padding included
  uint64_t device, inode;         ///< identity of a mount source, as the planner saw it
  uint64_t bytes, inodes;         ///< capacity of a tmpfs; 0 inodes: not limited. `bytes` of kHide:
                                  ///< how much of `path` is the tree's own
  uint32_t mode;                  ///< permission bits; type of a mount source; port of kListen;
                                  ///< number of kSockets; see kEdge and kClose
  uint32_t address;               ///< of IPv4, as the network has it
  uint32_t owner_uid, owner_gid;  ///< kFlagMapOwner: whose files become the sandbox user's
  uint32_t path_size;             ///< without the NUL
  uint32_t text_size;             ///< without the NUL

  const char* path() const { return reinterpret_cast<const char*>(this + 1); }
  const char* text() const { return path() + path_size + 1; }
};
static_assert(sizeof(Op) == 64);

constexpr size_t PaddedSize(size_t path_size, size_t text_size) {
  return (sizeof(Op) + path_size + text_size + 2 + 7) & ~size_t{7};
}

/// The default of Request::host_id_base and inner ids: what a sandbox made ahead of its request
/// has.
inline constexpr uint32_t kDefaultHostIdBase = 0x10000000;
inline constexpr uint32_t kDefaultInnerId = 1000;

/// How many host ids a template owns where each of its sandboxes has one of its own.
inline constexpr uint32_t kIdsOfTemplate = 256;

/// A file system in memory, as kRoot and kTmpfs describe it.
struct Memory {
  uint64_t bytes;
  uint64_t inodes;
  uint32_t mode;
  bool no_exec;
  bool operator==(const Memory&) const = default;
};

/// Those that nearly every run has: a sandbox made ahead of its request makes them ahead, too. A
/// run that wants others gets others; it only waits for them.
inline constexpr Memory kUsualMemory[] = {
    {8U << 20, 65536, 0755, false},     // the root
    {256U << 20, 65536, 0755, false},   // /workspace
    {256U << 20, 65536, 01777, false},  // /tmp
    {64U << 20, 4096, 01777, true},     // /dev/shm
};

/// What igloo asks of the launcher. Every request brings its own reply socket (descriptor 0).
enum class Kind : uint16_t {
  kRun = 1,      ///< all three lists in one new sandbox
  kPrepare,      ///< build template `template_id` from the environment and fresh lists
  kRunPrepared,  ///< the run list on template `template_id`
  kForget,       ///< end template `template_id`
  kNeedIds,      ///< be in a user namespace that igloo will have mapped to subordinate ids
  kUseIds,       ///< it is mapped: get ready for templates with ids of their own
};

inline constexpr uint32_t kMagic = 0x4f4c4749;  // "IGLO"
inline constexpr uint32_t kMaxFds = 16;
/// Code of 64 MB and an environment of some thousand store paths fit.
inline constexpr uint32_t kMaxBytes = 80u << 20;

/// Position of a request's descriptors. `init_fds` of them, from kControl on, become 3, 4, ... in
/// igloo-init; one behind them is a cgroup: with kRequestIntoCgroup a directory of version 2 to
/// be born into, otherwise the `tasks` file of version 1 to write 0 to.
enum FdSlot : int {
  kReply = 0,
  kControl = 1,
  kStdin = 2,
  kStdout = 3,
  kStderr = 4,
  kFirstExtra = 5
};

struct Request {
  uint32_t magic;
  Kind kind;
  uint16_t fd_count;
  uint32_t environment_bytes;  ///< the body: three lists, one behind the other
  uint32_t fresh_bytes;
  uint32_t run_bytes;
  uint32_t reserved;
  uint64_t template_id;
  uint32_t inner_uid, inner_gid;
  /// First of the host ids that sandboxes started by root are mapped to; see jail/identity. With
  /// kRequestSubordinateIds the first user id of the template's block itself.
  uint32_t host_id_base;
  uint32_t flags;
  uint32_t init_fds;
  uint32_t host_gid_base;  ///< kRequestSubordinateIds: the first group id of the block
};
static_assert(sizeof(Request) == 56);

enum RequestFlag : uint32_t {
  kRequestTimeline = 1,     ///< send a kTimeline reply before exec
  kRequestIntoCgroup = 2,   ///< the descriptor behind those of init is a cgroup to be born into
  kRequestHostNetwork = 4,  ///< the policy names the right to the host's network
  /// Of kPrepare: the template owns a block of the starter's subordinate ids. The descriptor
  /// behind the reply is the lease of that block, held as long as anything of it lives.
  kRequestSubordinateIds = 8,
};

/// What comes back on the reply socket, one packet each. End of file means: igloo-init runs.
enum class ReplyKind : uint32_t {
  kStarted = 1,  ///< carries the sandbox's pidfd
  kReady,        ///< the template stands
  kFailed,       ///< step and sys_errno say where and why
  kListening,    ///< carries a listening socket made inside
  kSocket,       ///< carries a socket made inside, not connected
  kEdge,         ///< carries the network namespace that the sandbox's device leads to
  kHandedOut,    ///< carries a directory of the sandbox's
  kTimeline,
};

/// Steps that are not operations of the lists.
enum class Step : uint32_t {
  kNone = 0,
  kDecode = 1,     ///< the request is malformed
  kClone,          ///< creating the namespaces
  kMaps,           ///< writing the id maps
  kSource,         ///< opening a mount source (index = operation)
  kSourceChanged,  ///< a mount source is not what the planner saw
  kSourceMap,      ///< mapping the owner of a mount source
  kIdentity,       ///< becoming the sandbox's user
  kHelper,         ///< starting the process that helps with a cold run
  kUnshare,        ///< the launcher's own namespaces (started by a user, template mode)
  kUnknownTemplate,
  kTemplateFull,  ///< no host id left for another run
  kTemplateGone,
  kCgroup,     ///< entering a cgroup
  kHandOut,    ///< showing igloo a directory of another id
  kOperation,  ///< operation `index` of the table
};

struct Reply {
  ReplyKind kind;
  Step step;
  uint32_t index;  ///< which operation, counted over all lists
  int32_t sys_errno;
  uint64_t stamps[4];  ///< kTimeline, CLOCK_MONOTONIC µs: launcher main, clone, first op, exec
};
static_assert(sizeof(Reply) == 48);

/// Walks an encoded list without trusting it.
class Reader {
 public:
  Reader(const void* bytes, size_t size)
      : at_(static_cast<const unsigned char*>(bytes)), left_(size) {}

  /// The next operation, or null at the end and on the first malformed one; see ok().
  const Op* Next() {
    if (left_ == 0) return nullptr;
    const Op* op = reinterpret_cast<const Op*>(at_);
    if (left_ < sizeof(Op) || !WellFormed(*op)) {
      ok_ = false;
      left_ = 0;
      return nullptr;
    }
    at_ += op->size;
    left_ -= op->size;
    return op;
  }
  bool ok() const { return ok_; }

 private:
  bool WellFormed(const Op& op) const {
    if (op.size > left_ || op.size % 8 != 0) return false;
    if (op.code < Code::kRoot || op.code >= Code::kEnd) return false;
    if (op.path_size > kMaxBytes || op.text_size > kMaxBytes) return false;
    if (op.size != PaddedSize(op.path_size, op.text_size)) return false;
    return op.path()[op.path_size] == '\0' && op.text()[op.text_size] == '\0';
  }

  const unsigned char* at_;
  size_t left_;
  bool ok_ = true;
};

}  // namespace igloo::ops
