#pragma once

#include <sys/types.h>

#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::copy {

/// A process that holds descriptors for as long as a sandbox lives, even when this one is killed: a
/// sandbox ends some time after its igloo does. Dropping it ends it. All calls from one thread.
class DescriptorHolder {
 public:
  /// `init`: a pidfd of the sandbox's igloo-init, which is the last to go.
  static Result<DescriptorHolder> Start(int init);
  DescriptorHolder(DescriptorHolder&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        to_(std::move(other.to_)),
        tell_(std::move(other.tell_)) {}
  DescriptorHolder& operator=(DescriptorHolder&&) = delete;
  ~DescriptorHolder();

  Result<void> Keep(int fd) const;
  /// Lets it go on without this process until the sandbox has ended.
  void Leave();

 private:
  DescriptorHolder(pid_t pid, UniqueFd to, UniqueFd tell)
      : pid_(pid), to_(std::move(to)), tell_(std::move(tell)) {}

  pid_t pid_;
  UniqueFd to_, tell_;
};

}  // namespace igloo::copy
