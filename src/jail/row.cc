#include "jail/row.h"

#include "jail/sys.h"
#include "jail/template.h"

namespace igloo::jail {

void Row::Begin(uint64_t id, const Held& held, uint32_t block, uint32_t operations) {
  *this = {};
  id_ = id;
  socket_ = held.socket;
  lease_ = held.lease;
  block_ = block;
  operations_ = operations;
}

bool Row::Next(Slot& slot, Failure& failure) {
  failed_ = false;
  while (ready_count_ > 0) {
    slot = ready_[--ready_count_];
    if (Lives(slot)) return true;
    DropSlot(slot);  // somebody on this machine killed it
  }
  failure = {ops::Step::kTemplateGone, 0, ENOENT};
  if (ordered_ == 0 && !AskForSlot(socket_, -1)) return false;
  if (ordered_ > 0) --ordered_;
  return Receive(slot, failure);
}

bool Row::NextIn(int cgroup, Slot& slot, Failure& failure) {
  // Answers come in order: those ordered earlier come first.
  while (used() && ordered_ > 0) Take();
  failure = {ops::Step::kTemplateGone, 0, ENOENT};
  return used() && AskForSlot(socket_, cgroup) && Receive(slot, failure);
}

bool Row::Receive(Slot& slot, Failure& failure) {
  if (ReceiveSlot(socket_, slot, failure)) return true;
  if (failure.step == ops::Step::kTemplateGone) Forget();
  return false;
}

void Row::Order() {
  if (AskForSlot(socket_, -1)) ++ordered_;
}

void Row::Take() {
  Slot slot{};
  Failure failure{};
  if (ordered_ > 0) --ordered_;
  if (Receive(slot, failure)) {
    ready_[ready_count_++] = slot;
  } else {
    failed_ = used();
  }
}

void Row::Forget() {
  for (unsigned i = 0; i < ready_count_; ++i) DropSlot(ready_[i]);
  CloseQuietly(socket_);
  CloseQuietly(lease_);
  *this = {};
}

unsigned Row::Descriptors(int* fds) const {
  if (!used()) return 0;
  unsigned count = 0;
  fds[count++] = socket_;
  fds[count++] = lease_;
  for (unsigned i = 0; i < ready_count_; ++i) {
    fds[count++] = ready_[i].socket;
    fds[count++] = ready_[i].pidfd;
  }
  return count;
}

}  // namespace igloo::jail
