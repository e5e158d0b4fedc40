#pragma once

#include "jail/slot.h"

namespace igloo::jail {

/// A template as the launcher knows it, and the slots that wait on it.
class Row {
 public:
  /// Sandboxes that wait on each template.
  static constexpr unsigned kReady = 3;
  static constexpr unsigned kMaxDescriptors = 2 + 2 * kReady;

  bool used() const { return socket_ >= 0; }
  uint64_t id() const { return id_; }
  uint32_t block() const { return block_; }
  uint32_t operations() const { return operations_; }
  /// Readable when an ordered slot has come or the template is gone; -1 when it is not used.
  int socket() const { return socket_; }

  /// The template's end of its socket, and the lease of its subordinate ids or -1.
  struct Held {
    int socket, lease;
  };
  /// `operations`: of its lists; those of a run are counted on from there.
  void Begin(uint64_t id, const Held& held, uint32_t block, uint32_t operations);

  /// A slot for a run: one that waits, or one that is made now.
  bool Next(Slot& slot, Failure& failure);
  /// One that is born into a cgroup of version 2, which those that wait cannot enter for nothing.
  bool NextIn(int cgroup, Slot& slot, Failure& failure);

  /// Whether more slots should wait than do.
  bool LacksSlots() const { return used() && !failed_ && ready_count_ + ordered_ < kReady; }
  void Order();
  /// An ordered slot has come, or the template is gone.
  void Take();

  /// Closing the socket ends the template, and with it every sandbox that stands on it.
  void Forget();

  /// What the launcher holds for it; the number of descriptors.
  unsigned Descriptors(int* fds) const;

 private:
  bool Receive(Slot& slot, Failure& failure);

  uint64_t id_ = 0;
  int socket_ = -1;
  int lease_ = -1;
  uint32_t block_ = 0, operations_ = 0;
  Slot ready_[kReady] = {};
  unsigned ready_count_ = 0;
  unsigned ordered_ = 0;  ///< asked for and not come yet
  bool failed_ = false;   ///< the last one could not be made: none is ordered until a run asks
};

}  // namespace igloo::jail
