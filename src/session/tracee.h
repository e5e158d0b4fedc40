#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/error.h"

namespace igloo::session {

/// What a processor knows about a thread: its general registers, and the rest as the kernel packs
/// it.
struct Registers {
  user_regs_struct general = {};
  std::string extended = {};
};

/// A process that is held still. Dropping this lets it go on. All calls from one thread.
class Tracee {
 public:
  /// Waits until it waits in read(); fails when it never does, or has more than one thread.
  static Result<Tracee> Hold(pid_t pid);
  Tracee(Tracee&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Tracee& operator=(Tracee&&) = delete;
  ~Tracee();

  pid_t pid() const { return pid_; }
  Result<Registers> Read() const;
  /// Its next step is the system call that `registers` waited in.
  Result<void> Resume(Registers registers) const;
  /// Makes it make a system call; what the kernel answered.
  Result<std::int64_t> Call(long number, std::initializer_list<std::uint64_t> arguments) const;

 private:
  explicit Tracee(pid_t pid) : pid_(pid) {}

  pid_t pid_;
};

}  // namespace igloo::session
