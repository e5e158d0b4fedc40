#pragma once

#include <sys/types.h>

#include "jail/identity.h"
#include "ops/ops.h"

namespace igloo::jail {

/// A request with its descriptors, as received. The lists are read in place.
struct Job {
  ops::Request request;
  const unsigned char* body;  ///< environment list, then run list
  int fds[ops::kMaxFds];

  const void* environment() const { return body; }
  const void* run() const { return body + request.environment_bytes; }
  int reply() const { return fds[ops::kReply]; }
};

/// How many mount sources one request may have: environments of some thousand store paths.
inline constexpr unsigned kMaxSources = 8192;

/// What a process under construction knows. One per process: launcher, template, run.
struct Setup {
  const Job* job;
  int root_fd;          ///< the root under construction, and later "/"
  int proc_fd;          ///< a /proc in which this process's children have their numbers
  int init_fd;          ///< igloo-init, opened before any root changed
  bool by_root;         ///< the launcher is root: ids are mapped, sources are opened by it
  uint32_t host_id;     ///< by_root: the host id of this sandbox's user
  int network_fd;       ///< a network namespace being made, or -1
  pid_t network_maker;  ///< who makes it, or 0
  uint64_t stamps[4];
  /// Detached trees for kBind and kOverlay, in the order of these operations.
  const int* sources;
  unsigned source_count, next_source;
  /// The launcher's own sockets: a template that kept copies would keep its siblings alive.
  const int* launcher_fds;
  unsigned launcher_fd_count;
};

/// Where a step failed; sent to igloo as it is.
struct Failure {
  ops::Step step;
  uint32_t index;
  int sys_errno;
};

/// The one clone: a fork-like child in new namespaces, its pidfd and its cgroup in one call.
pid_t CloneIntoNamespaces(const Job& job, uint64_t extra_flags, int& pidfd);

/// The parent's half after it: writes the maps, lets the child go on, hands out the pidfd.
/// Closes `pidfd` and `go_fd`.
void LetGo(const Job& job, int proc_fd, pid_t pid, int pidfd, int go_fd, const IdMap& map);

/// Starts one sandbox from both lists of `job` and answers on its reply socket.
/// Returns the pid, or -1 after the failure was sent.
pid_t StartCold(const Job& job, Setup& setup);

/// The child's half: applies `run`, becomes igloo-init. Never returns.
[[noreturn]] void FinishRun(Setup& setup, uint32_t first_index);

}  // namespace igloo::jail
