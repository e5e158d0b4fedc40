#include "guest/restore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace igloo::guest {

using checkpoint::Call;
using checkpoint::Header;
using checkpoint::kPage;

CheckpointView::CheckpointView(int fd) {
  struct stat info{};
  // A copy: the file is sealed, but nobody has to prove that here.
  Header header;
  if (fstat(fd, &info) != 0 || pread(fd, &header, sizeof header, kPage) != sizeof header) return;
  if (!checkpoint::IsSound(header) || header.window > static_cast<uint64_t>(info.st_size)) return;
  void* all = mmap(nullptr, header.window, PROT_READ, MAP_SHARED, fd, 0);
  if (all == MAP_FAILED) return;
  bytes_ = static_cast<const unsigned char*>(all);
  size_ = header.window;
  header_ = reinterpret_cast<const Header*>(bytes_ + kPage);
  if (!checkpoint::IsSound(*header_)) header_ = nullptr;
}

CheckpointView::~CheckpointView() {
  if (bytes_ != nullptr) munmap(const_cast<unsigned char*>(bytes_), size_);
}

#ifdef __x86_64__

namespace {

static_assert(sizeof(user_regs_struct) <= checkpoint::kMaxGeneral);

constexpr long kCallInstruction = 0x050f;  // syscall
constexpr uint64_t kCallInstructionSize = 2;
constexpr uint64_t kLowest = 0x10000, kTop = 0x7ffffffff000;

/// The payload, stopped before its first instruction. Each step returns 0 or an error number.
class Restored {
 public:
  Restored(pid_t pid, const CheckpointView& view)
      : pid_(pid), view_(view), header_(view.header()) {}

  int Make() {
    if (int error = AwaitTrap()) return error;
    if (ptrace(PTRACE_GETREGS, pid_, nullptr, &entry_) != 0) return errno;
    if (int error = FindVdso()) return error;
    if (int error = MapWindow()) return error;
    if (int error = SendOwnCalls()) return error;
    if (int error = MakeCalls()) return error;
    return GoOn();
  }

 private:
  int AwaitTrap() const {
    int status = 0;
    pid_t heard = 0;
    do {
      heard = waitpid(pid_, &status, __WALL);
    } while (heard < 0 && errno == EINTR);
    return heard == pid_ && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP ? 0 : ESRCH;
  }

  /// Where the new process has the kernel's own code.
  int FindVdso() {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", pid_);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    uint64_t entries[128];
    const ssize_t size = read(fd, entries, sizeof entries);
    close(fd);
    for (size_t i = 0; static_cast<ssize_t>((i + 2) * sizeof entries[0]) <= size; i += 2) {
      if (entries[i] == AT_SYSINFO_EHDR) vdso_ = entries[i + 1];
    }
    return vdso_ == 0 ? ENOEXEC : 0;
  }

  /// One system call of the process, made by the instruction at `at`.
  int MakeOne(uint64_t at, const Call& call) const {
    user_regs_struct registers = entry_;
    registers.rip = at;
    registers.rax = call.number;
    registers.orig_rax = ~0ULL;
    registers.rdi = call.arguments[0];
    registers.rsi = call.arguments[1];
    registers.rdx = call.arguments[2];
    registers.r10 = call.arguments[3];
    registers.r8 = call.arguments[4];
    registers.r9 = call.arguments[5];
    if (ptrace(PTRACE_SETREGS, pid_, nullptr, &registers) != 0) return errno;
    if (ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) return errno;
    if (int error = AwaitTrap()) return error;
    if (ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0) return errno;
    return ErrorOf(registers.rax, call.answer);
  }

  static int ErrorOf(uint64_t came, uint64_t wanted) {
    if (came == wanted) return 0;
    const auto number = static_cast<int64_t>(came);
    return number < 0 && number >= -4095 ? static_cast<int>(-number) : EPROTO;
  }

  /// The checkpoint's own code and calls, at a place that is free before and afterwards.
  int MapWindow() const {
    const uint64_t at = entry_.rip;
    if (ptrace(PTRACE_POKETEXT, pid_, at, kCallInstruction) != 0) return errno;
    const auto fd = static_cast<uint64_t>(header_.descriptor);
    constexpr uint64_t kFlags = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
    const Call code{
        SYS_mmap, {header_.place, kPage, PROT_READ | PROT_EXEC, kFlags, fd, 0}, header_.place};
    if (int error = MakeOne(at, code)) return error;
    const Call calls{
        SYS_mmap,
        {header_.place + kPage, header_.window - kPage, PROT_READ | PROT_WRITE, kFlags, fd, kPage},
        header_.place + kPage};
    return MakeOne(at, calls);
  }

  void Add(const Call& call) {
    if (own_count_ < checkpoint::kOwnCalls) own_[own_count_] = call;
    ++own_count_;
  }

  void AddUnmap(uint64_t begin, uint64_t end) {
    if (begin < end) Add({SYS_munmap, {begin, end - begin}, 0});
  }

  void AddMove(uint64_t from, uint64_t to, uint64_t size) {
    Add({SYS_mremap, {from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to}, to});
  }

  /// Everything that exec mapped goes, but for the kernel's own parts, which move to where they
  /// were.
  int SendOwnCalls() {
    const Header& header = header_;
    const uint64_t shift = vdso_ - header.vdso;
    const checkpoint::KernelPart& last = header.kernel[header.kernel_parts - 1];
    const uint64_t begin = header.kernel[0].begin + shift;
    const uint64_t size = last.begin + last.size - header.kernel[0].begin;
    AddUnmap(kLowest, header.place);
    AddUnmap(header.place + header.window, begin);
    AddUnmap(begin + size, kTop);
    if (shift != 0) {
      // In two steps where the places overlap: one that is moved onto itself is lost.
      const uint64_t aside = header.place + header.window + kPage;
      const bool overlap =
          begin < header.kernel[0].begin + size && header.kernel[0].begin < begin + size;
      for (uint32_t i = 0; i < header.kernel_parts; ++i) {
        const checkpoint::KernelPart& part = header.kernel[i];
        const uint64_t offset = part.begin - header.kernel[0].begin;
        AddMove(begin + offset, overlap ? aside + offset : part.begin, part.size);
      }
      for (uint32_t i = 0; overlap && i < header.kernel_parts; ++i) {
        const checkpoint::KernelPart& part = header.kernel[i];
        AddMove(aside + part.begin - header.kernel[0].begin, part.begin, part.size);
      }
    }
    if (own_count_ > checkpoint::kOwnCalls) return E2BIG;
    const iovec here{own_, own_count_ * sizeof own_[0]};
    const iovec there{reinterpret_cast<void*>(FirstCall()), here.iov_len};
    const ssize_t sent = process_vm_writev(pid_, &here, 1, &there, 1, 0);
    return sent == static_cast<ssize_t>(here.iov_len) ? 0 : EIO;
  }

  /// Where igloo-init's own calls begin: they end where the checkpoint's begin.
  uint64_t FirstCall() const {
    return header_.place + checkpoint::kFirstCall - own_count_ * sizeof(Call);
  }

  /// All of them, by the code on page 0: it takes them one after the other (r12) and traps behind
  /// the last one, or at the first that is not answered as it must be.
  int MakeCalls() const {
    user_regs_struct registers = entry_;
    registers.rip = header_.place;
    registers.r12 = FirstCall();
    registers.orig_rax = ~0ULL;
    if (ptrace(PTRACE_SETREGS, pid_, nullptr, &registers) != 0) return errno;
    if (ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0) return errno;
    if (int error = AwaitTrap()) return error;
    if (ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0) return errno;
    // What stands where it stopped; the process may have had its own calls written over, the
    // others are as they are in the file.
    const uint64_t at = registers.r12 - header_.place;
    if (at < checkpoint::kFirstCall || at > header_.window - sizeof(Call)) {
      return ErrorOf(registers.rax, ~registers.rax);
    }
    Call stopped;
    memcpy(&stopped, view_.bytes() + at, sizeof stopped);
    return stopped.number == checkpoint::kEnd ? 0 : ErrorOf(registers.rax, stopped.answer);
  }

  /// From the read in which it waited: that call is made again.
  int GoOn() const {
    user_regs_struct registers;
    memcpy(&registers, header_.general, sizeof registers);
    registers.rip -= kCallInstructionSize;
    const Call unmap{SYS_munmap, {header_.place, header_.window}, 0};
    if (int error = MakeOne(registers.rip, unmap)) return error;
    registers.rax = registers.orig_rax;
    registers.orig_rax = ~0ULL;
    iovec extended{const_cast<unsigned char*>(view_.bytes() + header_.extended_at),
                   header_.extended_size};
    if (ptrace(PTRACE_SETREGS, pid_, nullptr, &registers) != 0) return errno;
    if (ptrace(PTRACE_SETREGSET, pid_, NT_X86_XSTATE, &extended) != 0) return errno;
    return ptrace(PTRACE_DETACH, pid_, nullptr, nullptr) == 0 ? 0 : errno;
  }

  pid_t pid_;
  const CheckpointView& view_;
  const Header& header_;
  user_regs_struct entry_ = {};
  uint64_t vdso_ = 0;
  Call own_[checkpoint::kOwnCalls] = {};
  uint32_t own_count_ = 0;
};

}  // namespace

int Restore(pid_t pid, const CheckpointView& checkpoint) {
  const bool fits = checkpoint.header().pid == static_cast<uint32_t>(pid) &&
                    checkpoint.header().general_size == sizeof(user_regs_struct);
  const int error = fits ? Restored(pid, checkpoint).Make() : EINVAL;
  if (error == 0) return 0;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, __WALL);
  return error;
}

#else

int Restore(pid_t pid, const CheckpointView&) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, __WALL);
  return ENOSYS;
}

#endif

}  // namespace igloo::guest
