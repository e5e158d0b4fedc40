#pragma once

#include <sys/types.h>

#include "checkpoint/format.h"
#include "guest/payload.h"

namespace igloo::guest {

/// A checkpoint (checkpoint/format.h) as igloo-init reads it; mapped for as long as this lives.
class CheckpointView {
 public:
  /// Of the file `fd`; check ok() before anything else.
  explicit CheckpointView(int fd);
  CheckpointView(const CheckpointView&) = delete;
  CheckpointView& operator=(const CheckpointView&) = delete;
  ~CheckpointView();

  bool ok() const { return header_ != nullptr; }
  const checkpoint::Header& header() const { return *header_; }
  const unsigned char* bytes() const { return bytes_; }

 private:
  const unsigned char* bytes_ = nullptr;
  size_t size_ = 0;
  const checkpoint::Header* header_ = nullptr;
};

/// Makes the interpreter of a checkpoint out of a payload that has just been started: it stands
/// behind its whole wall, its parent traces it, and it has not run an instruction of its program
/// yet. It then waits where the checkpoint's interpreter waited. Returns 0, or an error number;
/// then the payload has been killed.
int Restore(pid_t pid, const CheckpointView& checkpoint);

}  // namespace igloo::guest
