#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

#include "jail/identity.h"
#include "ops/ops.h"

namespace igloo::jail {

/// One encoded list of operations, read in place.
struct List {
  const void* bytes;
  uint32_t size;
};

/// A request with its descriptors, as received.
struct Job {
  ops::Request request;
  const unsigned char* body;  ///< environment list, fresh list, run list
  int fds[ops::kMaxFds];

  List environment() const { return {body, request.environment_bytes}; }
  List fresh() const { return {body + request.environment_bytes, request.fresh_bytes}; }
  List run() const {
    return {body + request.environment_bytes + request.fresh_bytes, request.run_bytes};
  }
  int reply() const { return fds[ops::kReply]; }
  /// The sandbox's user, as seen inside.
  Ids inner() const { return {request.inner_uid, request.inner_gid}; }
  /// The cgroup to be born into, or -1.
  int birthplace() const {
    const bool born = (request.flags & ops::kRequestIntoCgroup) != 0;
    return born ? fds[ops::kControl + request.init_fds] : -1;
  }
};

inline bool HasSubordinateIds(const ops::Request& request) {
  return (request.flags & ops::kRequestSubordinateIds) != 0;
}

/// Whether a template owns a block of host ids, so that each of its sandboxes has one of its own.
inline bool OwnsBlock(bool by_root, const ops::Request& request) {
  return by_root || HasSubordinateIds(request);
}

/// How many mount sources one request may have: environments of some thousand store paths.
inline constexpr unsigned kMaxSources = 8192;

/// Host trees that were opened for a request, in the order of its operations: detached trees for
/// kBind, kOverlay and kBase, open files for kCopy.
struct Sources {
  int fds[kMaxSources];
  unsigned count;
};

/// Where a step failed; sent to igloo as it is.
struct Failure {
  ops::Step step = ops::Step::kNone;
  uint32_t index = 0;
  int sys_errno = 0;
};

/// Says by errno why `step` failed; false, for whoever returns it.
inline bool Fail(Failure& failure, ops::Step step, uint32_t index = 0) {
  failure = {step, index, errno};
  return false;
}

/// The directory that the last name was made in: the next one usually lies there, too. Its path is
/// borrowed from the list being applied; null when there is none.
struct Parent {
  const char* path = nullptr;
  size_t size = 0;
  int fd = -1;
};

/// What a cold run's sandbox made while it waited for its job; taken once, -1 when there is none.
struct Stock {
  static constexpr unsigned kMemories = sizeof ops::kUsualMemory / sizeof ops::kUsualMemory[0];
  bool filled = false;
  int memory[kMemories] = {};
  int proc = -1;
};

/// Who applies the environment's list, and so where the trees of the host come from.
enum class Role : uint8_t {
  kTemplate,    ///< from sources; keeps them for the sandboxes that will stand on it
  kOnTemplate,  ///< a sandbox made ahead: from its template's root, which it leaves
  kCold,        ///< from sources; one process applies all three lists
};

/// What a process under construction knows. One per process: launcher, template, sandbox. A
/// descriptor is -1 when there is none.
struct Setup {
  const Job* job = nullptr;
  int root_fd = -1;          ///< the root under construction, and later "/"
  int proc_fd = -1;          ///< a /proc in which this process's children have their numbers
  void (*init)() = nullptr;  ///< igloo-init's life; does not return
  Role role = Role::kTemplate;
  bool entered = false;     ///< the root under construction has become "/"
  unsigned next_lower = 0;  ///< how many lower halves of overlays have a number, see jail/views.cc
  int old_root = -1;        ///< kOnTemplate: the template's root, until it is left
  int base = -1, base_lower = -1;  ///< the last kBase and its lower half
  int lower = -1;                  ///< the lower half of the run's last kOverlay
  bool by_root = false;  ///< the launcher is root: ids are mapped, sources are opened by it
  /// Of a template with subordinate ids and its sandboxes: where a directory is made igloo's own
  /// before it is handed out (jail/hand_out.h).
  int hand_out = -1;
  int kept = -1;           ///< of kFlagKept: the last of igloo-init's descriptors
  int helper_socket = -1;  ///< of a cold run's helper
  pid_t helper = 0;
  bool network_received = false, old_root_leaving = false;
  bool network_ready = false;  ///< born into a private one with its loopback raised
  bool bounded = false;        ///< kBoundPrivileges is done already
  /// Of a sandbox with a device: sockets that change the routes of its own network and of its edge.
  int inside_routes = -1, edge_routes = -1;
  uint32_t gateway = 0;  ///< the edge's address, as the network has it
  uint64_t stamps[4] = {};
  Sources* sources = nullptr;
  unsigned next_source = 0;
  uint32_t next_operation = 0;  ///< counted over all lists
  Parent parent = {};
  Stock stock = {};
};

/// The next source, which is the caller's from now on; -1 with errno when there is none.
inline int NextSource(Setup& setup) {
  Sources& sources = *setup.sources;
  if (setup.next_source < sources.count) return sources.fds[setup.next_source++];
  errno = EBADMSG;
  return -1;
}

}  // namespace igloo::jail
