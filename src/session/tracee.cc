#include "session/tracee.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "base/file.h"

namespace igloo::session {

#ifdef __x86_64__

namespace {

/// A process that does not stand still within this time has been killed, or is in the kernel for
/// reasons of its own.
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kSoon = std::chrono::microseconds(500);
constexpr std::uint64_t kSyscallSize = 2;  // 0f 05

/// What it stopped for: a signal's number, or one of ptrace's own.
Result<int> AwaitStop(pid_t pid) {
  const auto began = std::chrono::steady_clock::now();
  const auto until = began + kPatience;
  for (;;) {
    int status = 0;
    const pid_t heard = ::waitpid(pid, &status, __WALL | WNOHANG);
    if (heard == pid && WIFSTOPPED(status)) return WSTOPSIG(status);
    const auto now = std::chrono::steady_clock::now();
    if (heard != 0 || now > until) {
      return Fail(Errc::kFailedPrecondition, "the session's interpreter does not stand still");
    }
    // Microseconds, as a rule, of which there are hundreds: a sleep would take ten times as long.
    if (now - began < kSoon) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSoon);
    }
  }
}

Result<void> Failed(const char* doing) {
  const int saved_errno = errno;
  return FailSys(saved_errno, std::string("cannot ") + doing + " the session's interpreter");
}

/// Interrupted in it, and to be restarted: the kernel's own numbers for that.
bool WaitsInRead(const user_regs_struct& registers) {
  const auto answer = static_cast<std::int64_t>(registers.rax);
  return registers.orig_rax == SYS_read && answer <= -512 && answer >= -516;
}

Result<unsigned> ThreadsOf(pid_t pid) {
  IGLOO_ASSIGN(const std::string status,
               ReadFile("/proc/" + std::to_string(pid) + "/status", 1U << 16));
  const std::size_t at = status.find("\nThreads:\t");
  return at == status.npos ? 0 : static_cast<unsigned>(std::atoi(status.c_str() + at + 10));
}

}  // namespace

Result<Tracee> Tracee::Hold(pid_t pid) {
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
    return std::unexpected(Failed("hold").error());
  }
  Tracee tracee(pid);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    if (::ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) != 0) {
      return std::unexpected(Failed("stop").error());
    }
    IGLOO_TRY(AwaitStop(pid));
    IGLOO_ASSIGN(const unsigned threads, ThreadsOf(pid));
    IGLOO_ASSIGN(const Registers registers, tracee.Read());
    if (threads == 1 && WaitsInRead(registers.general)) return tracee;
    if (threads != 1 || std::chrono::steady_clock::now() > until) {
      return Fail(Errc::kFailedPrecondition, "the session's interpreter does something by itself");
    }
    // It is on its way there.
    if (::ptrace(PTRACE_CONT, pid, nullptr, nullptr) != 0) {
      return std::unexpected(Failed("stop").error());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Tracee::~Tracee() {
  if (pid_ != 0) ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
}

Result<Registers> Tracee::Read() const {
  Registers registers;
  if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers.general) != 0) {
    return std::unexpected(Failed("read the registers of").error());
  }
  registers.extended.resize(16384);
  iovec area{registers.extended.data(), registers.extended.size()};
  if (::ptrace(PTRACE_GETREGSET, pid_, NT_X86_XSTATE, &area) != 0) {
    return std::unexpected(Failed("read the registers of").error());
  }
  registers.extended.resize(area.iov_len);
  return registers;
}

Result<void> Tracee::Resume(Registers registers) const {
  // The kernel would do the same for a call that a signal interrupted; this does not depend on how
  // it noted that.
  registers.general.rip -= kSyscallSize;
  registers.general.rax = registers.general.orig_rax;
  registers.general.orig_rax = ~0ULL;
  iovec area{registers.extended.data(), registers.extended.size()};
  if (::ptrace(PTRACE_SETREGS, pid_, nullptr, &registers.general) != 0 ||
      ::ptrace(PTRACE_SETREGSET, pid_, NT_X86_XSTATE, &area) != 0) {
    return Failed("set the registers of");
  }
  return {};
}

Result<std::int64_t> Tracee::Call(long number,
                                  std::initializer_list<std::uint64_t> arguments) const {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0) {
    return std::unexpected(Failed("read the registers of").error());
  }
  const user_regs_struct before = registers;
  unsigned long long* const slots[] = {&registers.rdi, &registers.rsi, &registers.rdx,
                                       &registers.r10, &registers.r8,  &registers.r9};
  std::size_t next = 0;
  for (const std::uint64_t argument : arguments) *slots[next++] = argument;
  // It waits behind the instruction that brought it into the kernel: that one is used again.
  registers.rip -= kSyscallSize;
  registers.rax = static_cast<unsigned long long>(number);
  registers.orig_rax = ~0ULL;
  if (::ptrace(PTRACE_SETREGS, pid_, nullptr, &registers) != 0) {
    return std::unexpected(Failed("direct").error());
  }
  for (int stop = 0; stop < 2; ++stop) {  // on the way in, and on the way out
    if (::ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr) != 0) {
      return std::unexpected(Failed("direct").error());
    }
    IGLOO_ASSIGN(const int why, AwaitStop(pid_));
    if (why != (SIGTRAP | 0x80)) {
      return Fail(Errc::kFailedPrecondition, "the session's interpreter does something by itself");
    }
  }
  user_regs_struct after{};
  if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &after) != 0 ||
      ::ptrace(PTRACE_SETREGS, pid_, nullptr, &before) != 0) {
    return std::unexpected(Failed("direct").error());
  }
  return static_cast<std::int64_t>(after.rax);
}

#else

namespace {
Error NotHere() {
  return {Errc::kFailedPrecondition, "sessions can be forked on x86_64 only",
          "begin another session and run the same code there", 0};
}
}  // namespace

Result<Tracee> Tracee::Hold(pid_t) { return std::unexpected(NotHere()); }
Tracee::~Tracee() = default;
Result<Registers> Tracee::Read() const { return std::unexpected(NotHere()); }
Result<void> Tracee::Resume(Registers) const { return std::unexpected(NotHere()); }
Result<std::int64_t> Tracee::Call(long, std::initializer_list<std::uint64_t>) const {
  return std::unexpected(NotHere());
}

#endif

}  // namespace igloo::session
