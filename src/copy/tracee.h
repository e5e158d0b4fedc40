#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::copy {

/// What a processor knows about a thread: its general registers, and the rest as the kernel packs
/// it.
struct Registers {
  user_regs_struct general = {};
  std::string extended = {};
};

/// Of a tracee; no other kind of machine has one (Tracee::Hold).
inline std::uint64_t StackPointerOf(const Registers& registers) {
#ifdef __x86_64__
  return registers.general.rsp;
#else
  return registers.general.sp;
#endif
}
inline std::uint64_t ThreadPointerOf([[maybe_unused]] const Registers& registers) {
#ifdef __x86_64__
  return registers.general.fs_base;
#else
  return 0;
#endif
}

/// A process that is held still. All calls from one thread.
class Tracee {
 public:
  /// Waits until it waits in read(); fails when it never does, or has more than one thread.
  /// Dropping this lets it go on.
  static Result<Tracee> Hold(pid_t pid);
  Tracee(Tracee&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), doomed_(std::move(other.doomed_)) {}
  Tracee& operator=(Tracee&&) = delete;
  ~Tracee();

  pid_t pid() const { return pid_; }
  Result<Registers> Read() const;
  /// Its next step is the one behind the system call in which `registers` were read.
  Result<void> Resume(Registers registers) const;
  /// Makes it make a system call; what the kernel answered.
  Result<std::int64_t> Call(long number, std::initializer_list<std::uint64_t> arguments) const;

 private:
  friend class NextFork;
  explicit Tracee(pid_t pid, UniqueFd doomed = {}) : pid_(pid), doomed_(std::move(doomed)) {}

  pid_t pid_;
  UniqueFd doomed_;  ///< a pidfd of one that is not let go but killed
};

/// A child that was never let run, and never will: dropping it ends it.
struct HeldChild {
  Tracee tracee;
  /// INVARIANT: nobody ever had the same memory, so nobody else writes to it but through the
  /// kernel.
  bool alone = false;
};

/// Waits for a process to fork. It goes on as ever, threads and all, and is let go when this is
/// dropped. All calls from one thread.
class NextFork {
 public:
  static Result<NextFork> Expect(pid_t parent);
  NextFork(NextFork&& other) noexcept : parent_(std::exchange(other.parent_, 0)) {}
  NextFork& operator=(NextFork&&) = delete;
  ~NextFork();

  /// `hopeless`: whether a child that has not come by now will never come.
  Result<HeldChild> Await(const std::function<bool()>& hopeless) &&;

 private:
  explicit NextFork(pid_t parent) : parent_(parent) {}
  Result<HeldChild> Deliver();

  pid_t parent_;
};

}  // namespace igloo::copy
