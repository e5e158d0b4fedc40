#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// A fork-like child in a user namespace and in others of its own.
struct Child {
  pid_t pid;   ///< 0 in the child itself
  int pidfd;   ///< -1: not asked for
  int socket;  ///< to the other one of both
};

/// Makes one: `namespaces` are clone3's flags, CLONE_PIDFD may be among them; `cgroup_fd` is of a
/// cgroup v2 directory to start in, or -1. Returns in the child, too.
bool MakeChild(uint64_t namespaces, int cgroup_fd, Child& child, Failure& failure);
/// Maps the ids of a child and lets it go on. On failure nothing is left of it.
bool MapChild(const Child& child, int proc_fd, const IdMap& map, Failure& failure);
/// The child's side: becomes `ids` once they are mapped, and ends with its parent from then on.
bool AwaitMap(int socket, const Ids& ids);

/// A sandbox made ahead of its run: in namespaces of its own, mapped, waiting for its job. All that
/// a request still has to pay for is what only that request knows. Its socket takes one SendJob.
struct Slot : Child {
  uint32_t number;  ///< of its host id within the block
};

/// How a slot is made.
struct SlotSpec {
  /// The maker's own; the slot gets a copy. Nothing in it is shared later.
  const Setup* setup;
  IdMap map;
  uint32_t number;
  /// A cgroup v2 directory to start in, or -1.
  int cgroup_fd;
  /// Whether its privileges are bounded ahead of the job: nearly every job wants that.
  bool bounded_ahead = false;
  /// Born into the maker's network namespace, with these lists applied ahead of the job.
  bool on_template = false;
  List environment = {}, fresh = {};
};

/// The one clone: all namespaces, the pidfd and the cgroup in one call. On failure nothing is left.
bool MakeSlot(const SlotSpec& spec, Slot& slot, Failure& failure);

/// Hands the slot its job, its pidfd to igloo, and lets go of it. The sources stay the caller's.
void UseSlot(const Slot& slot, const Job& job, const Sources& sources);

/// Whether a slot still waits: a pidfd of an ended process is readable.
bool Lives(const Slot& slot);

/// Ends a slot that nobody needs.
void DropSlot(const Slot& slot);

}  // namespace igloo::jail
