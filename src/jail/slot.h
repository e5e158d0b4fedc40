#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// A sandbox made ahead of its run: in namespaces of its own, mapped, waiting for its job. All that
/// a request still has to pay for is what only that request knows.
struct Slot {
  pid_t pid;
  int pidfd;
  int socket;       ///< the parent's end: one SendJob
  uint32_t number;  ///< of its host id within the block
};

/// How a slot is made.
struct SlotSpec {
  /// The maker's own; the slot gets a copy. Nothing in it is shared later.
  const Setup* setup;
  IdMap map;
  uint32_t number;
  /// On a template: what to apply ahead of the job.
  List environment, fresh;
  bool on_template;  ///< and born into the maker's network namespace
  /// Whether its privileges are bounded ahead of the job: nearly every job wants that.
  bool bounded_ahead;
  /// A cgroup v2 directory to start in, or -1.
  int cgroup_fd;
};

/// The one clone: a fork-like child with all namespaces, its pidfd and its cgroup in one call; the
/// parent writes the maps. On failure nothing is left.
bool MakeSlot(const SlotSpec& spec, Slot& slot, Failure& failure);

/// Hands the slot its job, its pidfd to igloo, and lets go of it. The sources stay the caller's.
void UseSlot(const Slot& slot, const Job& job, const int* sources, unsigned source_count);

/// Whether a slot still waits: a pidfd of an ended process is readable.
bool Lives(const Slot& slot);

/// Ends a slot that nobody needs.
void DropSlot(const Slot& slot);

}  // namespace igloo::jail
