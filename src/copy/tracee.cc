#include "copy/tracee.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "copy/proc.h"

namespace igloo::copy {

#ifdef __x86_64__

namespace {

/// A process that does not stand still within this time has been killed, or is in the kernel for
/// reasons of its own.
constexpr auto kPatience = std::chrono::seconds(5);
/// For a child to be made: whatever the session's code does before each fork comes first.
constexpr auto kLabour = std::chrono::seconds(10);
constexpr auto kSoon = std::chrono::microseconds(500);
constexpr std::uint64_t kSyscallSize = 2;  // 0f 05

constexpr const char* kInstead = "begin another session and run the same code there";

Error Restless() {
  return {Errc::kFailedPrecondition, "the session's interpreter does not stand still", kInstead, 0};
}

/// What waitpid says of its next stop; nothing when `over` says so of the time that has passed.
Result<std::optional<int>> AwaitStatus(pid_t pid, const auto& over) {
  const auto began = std::chrono::steady_clock::now();
  for (;;) {
    // In this order: what came before it was over is heard.
    const auto passed = std::chrono::steady_clock::now() - began;
    const bool last = over(passed);
    int status = 0;
    const pid_t heard = ::waitpid(pid, &status, __WALL | WNOHANG);
    if (heard == pid && WIFSTOPPED(status)) return status;
    if (heard != 0) return std::unexpected(Restless());
    if (last) return std::nullopt;
    // Microseconds, as a rule, of which there are hundreds: a sleep would take ten times as long.
    if (passed < kSoon) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSoon);
    }
  }
}

Result<int> AwaitStatus(pid_t pid) {
  IGLOO_ASSIGN(const auto status, AwaitStatus(pid, [](auto passed) { return passed > kPatience; }));
  if (!status) return std::unexpected(Restless());
  return *status;
}

/// What it stopped for: a signal's number, or one of ptrace's own.
Result<int> AwaitStop(pid_t pid) {
  IGLOO_ASSIGN(const int status, AwaitStatus(pid));
  return WSTOPSIG(status);
}

Result<void> Failed(const char* doing) {
  const int saved_errno = errno;
  return FailSys(saved_errno, std::string("cannot ") + doing + " the session's interpreter",
                 kInstead);
}

/// Interrupted in it, and to be restarted: the kernel's own numbers for that.
bool WaitsInRead(const user_regs_struct& registers) {
  const auto answer = static_cast<std::int64_t>(registers.rax);
  return registers.orig_rax == SYS_read && answer <= -512 && answer >= -516;
}

Result<unsigned> ThreadsOf(pid_t pid) {
  IGLOO_ASSIGN(const std::string status, ReadProc(pid, "status", 1U << 16));
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
  if (pid_ == 0) return;
  if (!doomed_) {
    ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
    return;
  }
  ::syscall(SYS_pidfd_send_signal, doomed_.get(), SIGKILL, nullptr, 0);
  // Its parent hears of its end when this thread has.
  siginfo_t end{};
  while (::waitid(P_PIDFD, static_cast<id_t>(doomed_.get()), &end, WEXITED | __WALL) != 0 &&
         errno == EINTR) {
  }
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
  // The call that it really waits in is not made again, whatever the answer looks like.
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

namespace {

/// Whether the call that a process has just forked with gave the child memory of its own. These are
/// the kernel's own notes: nobody else can write there. What else makes a child has its flags in
/// memory, where they may be others by now.
bool GaveOwnMemory(const user_regs_struct& registers) {
  constexpr unsigned long long kCloneVm = 0x100;
  return registers.orig_rax == SYS_fork ||
         (registers.orig_rax == SYS_clone && (registers.rdi & kCloneVm) == 0);
}

/// What it was sent, if that is why it stopped: it gets it when it goes on.
long SignalOf(int status) { return (status >> 16) == 0 ? WSTOPSIG(status) : 0; }

}  // namespace

Result<NextFork> NextFork::Expect(pid_t parent) {
  // A child is held by whoever has asked for this, from before its first instruction.
  if (::ptrace(PTRACE_SEIZE, parent, nullptr, PTRACE_O_TRACEFORK) != 0) {
    return std::unexpected(Failed("hold").error());
  }
  return NextFork(parent);
}

NextFork::~NextFork() {
  if (parent_ == 0) return;
  // Only one that has stopped can be let go. It may do so for something else, even now.
  if (::ptrace(PTRACE_INTERRUPT, parent_, nullptr, nullptr) != 0) return;
  const auto status = AwaitStatus(parent_);
  if (!status) return;
  const int event = *status >> 16;
  if (event == PTRACE_EVENT_FORK) {
    (void)Deliver();
  } else {
    ::ptrace(PTRACE_DETACH, parent_, nullptr, SignalOf(*status));
  }
}

Result<HeldChild> NextFork::Await(const std::function<bool()>& hopeless) && {
  const auto over = [&](auto passed) { return passed > kLabour || hopeless(); };
  for (;;) {
    IGLOO_ASSIGN(const auto status, AwaitStatus(parent_, over));
    if (!status) {
      return Fail(Errc::kFailedPrecondition,
                  "the session's interpreter does not let itself be forked", kInstead);
    }
    const int event = *status >> 16;
    if (event == PTRACE_EVENT_FORK) return Deliver();
    // Stopped by somebody, as it would be without us; or it has been sent a signal.
    const bool stays = event == PTRACE_EVENT_STOP && WSTOPSIG(*status) != SIGTRAP;
    if (::ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, parent_, nullptr, SignalOf(*status)) != 0) {
      return std::unexpected(Failed("watch").error());
    }
  }
}

Result<HeldChild> NextFork::Deliver() {
  unsigned long child = 0;
  user_regs_struct registers{};
  const bool seen = ::ptrace(PTRACE_GETEVENTMSG, parent_, nullptr, &child) == 0 &&
                    ::ptrace(PTRACE_GETREGS, parent_, nullptr, &registers) == 0;
  auto failed = seen ? Result<void>() : Failed("watch");
  // It goes on whatever becomes of the child.
  ::ptrace(PTRACE_DETACH, std::exchange(parent_, 0), nullptr, nullptr);
  if (!failed) return std::unexpected(std::move(failed).error());
  // One that is traced keeps its number until its tracer has heard of its end.
  const auto pid = static_cast<pid_t>(child);
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    auto no_hold = Failed("hold");
    ::kill(pid, SIGKILL);
    return std::unexpected(std::move(no_hold).error());
  }
  HeldChild born{.tracee = Tracee(pid, std::move(process)), .alone = GaveOwnMemory(registers)};
  IGLOO_TRY(AwaitStop(pid));
  // SECURITY: with igloo's end it would be let go, and take orders as if it were its parent.
  if (::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL) != 0) {
    return std::unexpected(Failed("hold").error());
  }
  return born;
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
Result<NextFork> NextFork::Expect(pid_t) { return std::unexpected(NotHere()); }
NextFork::~NextFork() = default;
Result<HeldChild> NextFork::Await(const std::function<bool()>&) && {
  return std::unexpected(NotHere());
}
Result<Registers> Tracee::Read() const { return std::unexpected(NotHere()); }
Result<void> Tracee::Resume(Registers) const { return std::unexpected(NotHere()); }
Result<std::int64_t> Tracee::Call(long, std::initializer_list<std::uint64_t>) const {
  return std::unexpected(NotHere());
}

#endif

}  // namespace igloo::copy
