#pragma once

#include <errno.h>
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

/// Where a step failed; sent to igloo as it is.
struct Failure {
  ops::Step step;
  uint32_t index;
  int sys_errno;
};

/// The directory that the last name was made in: the next one usually lies there, too. Its path is
/// borrowed from the list being applied; null when there is none.
struct Parent {
  const char* path;
  size_t size;
  int fd;
};

/// What a cold run's sandbox made while it waited for its job; taken once, -1 when there is none.
struct Stock {
  static constexpr unsigned kMemories = sizeof ops::kUsualMemory / sizeof ops::kUsualMemory[0];
  bool filled;
  int memory[kMemories];
  int proc;
};

/// Who applies the environment's list, and so where the trees of the host come from.
enum class Role : uint8_t {
  kTemplate,    ///< from sources; keeps them for the sandboxes that will stand on it
  kOnTemplate,  ///< a sandbox made ahead: from its template's root, which it leaves
  kCold,        ///< from sources; one process applies all three lists
};

/// What a process under construction knows. One per process: launcher, template, sandbox.
struct Setup {
  const Job* job;
  int root_fd;     ///< the root under construction, and later "/"
  int proc_fd;     ///< a /proc in which this process's children have their numbers
  void (*init)();  ///< igloo-init's life; does not return
  Role role;
  bool entered;          ///< the root under construction has become "/"
  unsigned next_lower;   ///< how many lower halves of overlays have a number, see jail/views.cc
  int old_root;          ///< kOnTemplate: the template's root, until it is left
  int base, base_lower;  ///< the last kBase and its lower half, or -1
  bool by_root;          ///< the launcher is root: ids are mapped, sources are opened by it
  /// Of a template with subordinate ids and its sandboxes: where a directory is made igloo's own
  /// before it is handed out (jail/hand_out.h), or -1.
  int hand_out;
  int kept;           ///< of kFlagKept, or -1: the last of igloo-init's descriptors
  int helper_socket;  ///< of a cold run's helper, or -1
  pid_t helper;
  bool network_received, old_root_leaving;
  bool network_ready;  ///< born into a private one with its loopback raised
  bool bounded;        ///< kBoundPrivileges is done already
  /// Of a sandbox with a device: sockets that change the routes of its own network and of its edge.
  int inside_routes, edge_routes;
  uint32_t gateway;  ///< the edge's address, as the network has it
  uint64_t stamps[4];
  /// Detached trees for kBind, kOverlay and kBase, open files for kCopy, in the order of these.
  const int* sources;
  unsigned source_count, next_source;
  Parent parent;
  Stock stock;
};

/// The next source, which is the caller's from now on; -1 with errno when there is none.
inline int NextSource(Setup& setup) {
  if (setup.next_source < setup.source_count) return setup.sources[setup.next_source++];
  errno = EBADMSG;
  return -1;
}

}  // namespace igloo::jail
