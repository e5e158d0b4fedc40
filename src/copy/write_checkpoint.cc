#include "copy/write_checkpoint.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/seal.h"
#include "base/text.h"
#include "checkpoint/format.h"
#include "copy/restore_calls.h"

#ifdef __x86_64__

namespace igloo::copy {
namespace {

using checkpoint::Header;
using checkpoint::kMaxMemory;
using checkpoint::kPage;

/// Of all that is looked through page by page. Large mappings that nobody can have written to are
/// only reserved.
constexpr std::uint64_t kMostLooked = 16ULL << 30;
constexpr auto kLongest = std::chrono::seconds(30);
/// Where pages begin in the file.
constexpr std::uint64_t kData = RestoreCalls::kMostBytes;
/// Below what programs are loaded to, above what non-relocatable ones have.
constexpr std::uint64_t kFirstPlace = 0x2000'0000'0000, kPlaces = 16, kPlaceStep = 1ULL << 40;
constexpr std::uint64_t kHere = ~0ULL - 99;  // AT_FDCWD
constexpr unsigned kSignals = 64;
constexpr std::uint64_t kMaskSize = 8;
constexpr auto kGetRseq = static_cast<__ptrace_request>(0x420f);  // PTRACE_GET_RSEQ_CONFIGURATION

// As the kernel has them.
struct KernelAction {
  std::uint64_t handler = 0, flags = 0, restorer = 0, mask = 0;
};
struct Rseq {
  std::uint64_t address = 0;
  std::uint32_t size = 0, signature = 0, flags = 0, unused = 0;
};
struct RobustList {
  std::uint64_t head = 0, size = 0;
};
constexpr std::uint64_t kRobustListSize = 24;

Error Cannot(std::string why) {
  return {Errc::kFailedPrecondition,
          "no checkpoint can be made of the interpreter: " + std::move(why),
          {},
          0};
}

/// Bytes of a structure, as data of a call.
template <class T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

class Writer {
 public:
  Writer(const Tracee& tracee, const AddressSpace& memory, const ProcessTexts& texts,
         const RestoreOptions& options)
      : tracee_(tracee), memory_(memory), texts_(texts), options_(options) {}

  Result<UniqueFd> Write() {
    IGLOO_ASSIGN(registers_, tracee_.Read());
    IGLOO_ASSIGN(regions_, memory_.Regions());
    IGLOO_ASSIGN(const std::uint64_t place, FindPlace());
    RestoreCalls calls(place);
    IGLOO_TRY(FindThread());
    file_.Reset(::memfd_create("igloo-checkpoint", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file_) return std::unexpected(Fails("make a file in memory"));
    for (const Region& region : regions_) {
      if (!region.kernels()) IGLOO_TRY(AddRegion(region, calls));
    }
    CloseFile(calls);
    IGLOO_TRY(AddProcess(calls));
    IGLOO_TRY(AddSignals(calls));
    calls.Add(SYS_close, {static_cast<std::uint64_t>(options_.descriptor)});
    IGLOO_ASSIGN(Header header, MakeHeader());
    IGLOO_ASSIGN(const std::string window, std::move(calls).Finish(header, registers_.extended));
    return Seal(window);
  }

 private:
  static Error Fails(const char* what) {
    const int saved_errno = errno;
    return FailSys(saved_errno, std::string("cannot ") + what + " for a checkpoint").error();
  }

  Result<std::uint64_t> FindPlace() const {
    for (std::uint64_t i = 0; i < kPlaces; ++i) {
      const std::uint64_t begin = kFirstPlace + i * kPlaceStep;
      const std::uint64_t end = begin + 4 * RestoreCalls::kMostBytes;
      const auto in_the_way = [&](const Region& r) { return r.begin < end && begin < r.end; };
      if (std::ranges::none_of(regions_, in_the_way)) return begin;
    }
    return std::unexpected(Cannot("its address space is full"));
  }

  /// Asks the process itself, by a system call that writes to its stack below what is in use.
  template <class T>
  Result<T> Ask(long number, std::initializer_list<std::uint64_t> before,
                std::initializer_list<std::uint64_t> after = {}) {
    IGLOO_TRY(CheckTime());
    T answer{};
    const std::uint64_t scratch = Scratch();
    std::vector<std::uint64_t> arguments(before);
    arguments.push_back(scratch);
    arguments.insert(arguments.end(), after);
    arguments.resize(6);
    IGLOO_TRY(memory_.Write(scratch, reinterpret_cast<const char*>(&answer), sizeof answer));
    IGLOO_ASSIGN(const std::int64_t came,
                 tracee_.Call(number, {arguments[0], arguments[1], arguments[2], arguments[3],
                                       arguments[4], arguments[5]}));
    if (came < 0) {
      return FailSys(static_cast<int>(-came), "cannot ask the interpreter about itself");
    }
    IGLOO_TRY(memory_.Read(scratch, reinterpret_cast<char*>(&answer), sizeof answer));
    return answer;
  }

  std::uint64_t Scratch() const { return (registers_.general.rsp - 1024) & ~15ULL; }
  /// For a second answer of eight bytes, behind a first one of as many.
  std::uint64_t ScratchEnd() const { return Scratch() + 8; }

  /// Where the C library keeps the number of the main thread.
  Result<void> FindThread() {
    IGLOO_ASSIGN(tid_address_, Ask<std::uint64_t>(SYS_prctl, {PR_GET_TID_ADDRESS}));
    return {};
  }

  void CloseFile(RestoreCalls& calls) {
    if (open_.empty()) return;
    calls.Add(SYS_close, {Next()});
    open_.clear();
  }

  std::uint64_t Own() const { return static_cast<std::uint64_t>(options_.descriptor); }
  std::uint64_t Next() const { return Own() + 1; }  ///< the first that is free

  /// A file that can be opened again by its name.
  static bool HasFile(const Region& region) {
    return !region.anonymous() && region.name.starts_with("/") &&
           !region.name.ends_with(" (deleted)") && !region.name.starts_with("/memfd:") &&
           region.name.find('\\') == region.name.npos;
  }

  /// SECURITY: whoever is copied decides how much there is to do.
  Result<void> CheckTime() const {
    if (std::chrono::steady_clock::now() <= until_) return {};
    return std::unexpected(Cannot("its memory takes too long to read"));
  }

  Result<std::vector<Page>> PagesOf(const Region& region) {
    IGLOO_TRY(CheckTime());
    if (region.protection == PROT_NONE && region.size() > kMaxMemory) return std::vector<Page>();
    looked_ += region.size();
    if (looked_ > kMostLooked) return std::unexpected(Cannot("it has mapped too much"));
    return memory_.Pages(region);
  }

  Result<void> AddRegion(const Region& region, RestoreCalls& calls) {
    const bool writes_through = region.shared && (region.protection & PROT_WRITE) != 0;
    if (writes_through) return std::unexpected(Cannot("it shares memory with others"));
    const auto protection = static_cast<std::uint64_t>(region.protection);
    IGLOO_ASSIGN(const std::vector<Page> pages, PagesOf(region));
    const bool own = std::ranges::find(pages, Page::kOwn) != pages.end();
    if (HasFile(region) && !own) {
      if (open_ != region.name) {
        CloseFile(calls);
        calls.AddWithData(SYS_openat, {kHere, 0, O_RDONLY | O_CLOEXEC}, 1,
                          region.name + std::string(1, '\0'), Next());
        open_ = region.name;
      }
      const std::uint64_t flags = region.shared ? MAP_SHARED : MAP_PRIVATE;
      calls.Add(SYS_mmap,
                {region.begin, region.size(), protection, flags | MAP_FIXED, Next(), region.offset},
                region.begin);
      return {};
    }
    const bool used = own || !region.anonymous();
    if (!used || region.name == "[stack]") {
      const std::uint64_t grows = region.name == "[stack]" ? MAP_GROWSDOWN | MAP_STACK : 0;
      calls.Add(SYS_mmap,
                {region.begin, region.size(), protection,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | grows, ~0ULL, 0},
                region.begin);
      return used ? AddStack(region, calls) : Result<void>();
    }
    IGLOO_TRY(Save(region, pages));
    calls.Add(SYS_mmap,
              {region.begin, region.size(), protection, MAP_PRIVATE | MAP_FIXED, Own(), size_},
              region.begin);
    size_ += region.size();
    return {};
  }

  /// A file cannot be mapped so that it grows: what is in use is read into it.
  Result<void> AddStack(const Region& region, RestoreCalls& calls) {
    constexpr std::uint64_t kRedZone = 256;
    Region used = region;
    used.begin = (registers_.general.rsp - kRedZone) & ~(kPage - 1);
    if (used.begin < region.begin || used.begin >= region.end) {
      return std::unexpected(Cannot("its stack is not where it should be"));
    }
    IGLOO_TRY(Save(used, std::vector<Page>(used.size() / kPage, Page::kOwn)));
    calls.Add(SYS_pread64, {Own(), used.begin, used.size(), size_}, used.size());
    size_ += used.size();
    return {};
  }

  /// Pages of zeros stay holes.
  Result<void> Save(const Region& region, const std::vector<Page>& pages) {
    if (size_ + region.size() > kData + kMaxMemory)
      return std::unexpected(Cannot("it is too large"));
    std::array<char, kPage> page;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      // A file's pages that were never looked at are the file's all the same.
      if (pages[i] == Page::kAbsent && region.anonymous()) continue;
      IGLOO_TRY(CheckTime());
      const std::uint64_t at = region.begin + i * kPage;
      if (!memory_.Read(at, page.data(), page.size())) continue;  // behind the end of a file
      if (tid_address_ >= at && tid_address_ + sizeof(std::int32_t) <= at + kPage) {
        const std::int32_t tid = options_.pid;
        std::memcpy(page.data() + (tid_address_ - at), &tid, sizeof tid);
      }
      if (std::ranges::all_of(page, [](char byte) { return byte == 0; })) continue;
      // SECURITY: the file is nobody's in the sandbox: no limit of the kernel's ends this.
      saved_ += kPage;
      if (options_.memory != 0 && saved_ > options_.memory) {
        return std::unexpected(Cannot("it needs more memory than a sandbox may have"));
      }
      const auto offset = static_cast<off_t>(size_ + i * kPage);
      if (::pwrite(file_.get(), page.data(), page.size(), offset) !=
          static_cast<ssize_t>(page.size())) {
        return std::unexpected(Fails("write memory"));
      }
    }
    return {};
  }

  Result<void> AddProcess(RestoreCalls& calls);
  Result<void> AddSignals(RestoreCalls& calls);
  Result<Header> MakeHeader() const;
  Result<UniqueFd> Seal(const std::string& window);

  const Tracee& tracee_;
  const AddressSpace& memory_;
  const ProcessTexts& texts_;
  RestoreOptions options_;
  Registers registers_ = {};
  std::vector<Region> regions_ = {};
  UniqueFd file_ = {};
  std::string open_ = {};       ///< the file that the calls have open
  std::uint64_t size_ = kData;  ///< of the file, as far as it is used
  std::uint64_t tid_address_ = 0;
  std::uint64_t looked_ = 0, saved_ = 0;  ///< bytes
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + kLongest;
};

/// What the kernel knows of a process besides its memory.
Result<void> Writer::AddProcess(RestoreCalls& calls) {
  const std::string& stat = texts_.stat;
  // The second field is a name in brackets, the third a letter; from the fourth on, numbers.
  std::array<std::uint64_t, 52> field = {};
  const std::size_t name_end = stat.rfind(')');
  const char* at = name_end == stat.npos ? "" : stat.c_str() + std::min(name_end + 3, stat.size());
  for (std::size_t i = 4; i < field.size(); ++i) {
    char* end = nullptr;
    field[i] = std::strtoull(at, &end, 10);
    if (end == at) return std::unexpected(Cannot("its places cannot be read"));
    at = end;
  }
  prctl_mm_map map{};
  map.start_code = field[26];
  map.end_code = field[27];
  map.start_stack = field[28];
  map.start_data = field[45];
  map.end_data = field[46];
  map.start_brk = map.brk = field[47];
  map.arg_start = field[48];
  map.arg_end = field[49];
  map.env_start = field[50];
  map.env_end = field[51];
  map.exe_fd = ~0U;
  map.auxv_size = static_cast<std::uint32_t>(texts_.auxiliary.size());
  for (const Region& region : regions_) {
    if (region.name == "[heap]") map.brk = std::max<std::uint64_t>(map.brk, region.end);
  }
  calls.AddWithData(SYS_prctl, {PR_SET_MM, PR_SET_MM_MAP, 0, sizeof map}, 2, BytesOf(map));
  calls.PointTo(offsetof(prctl_mm_map, auxv), texts_.auxiliary);
  std::string name = texts_.name;
  if (name.ends_with('\n')) name.back() = '\0';
  calls.AddWithData(SYS_prctl, {PR_SET_NAME, 0}, 1, name);
  calls.Add(SYS_set_tid_address, {tid_address_}, static_cast<std::uint64_t>(options_.pid));
  Rseq rseq;
  if (::ptrace(kGetRseq, tracee_.pid(), sizeof rseq, &rseq) > 0 && rseq.address != 0) {
    calls.Add(SYS_rseq, {rseq.address, rseq.size, 0, rseq.signature});
  }
  IGLOO_ASSIGN(const auto list, Ask<RobustList>(SYS_get_robust_list, {0}, {ScratchEnd()}));
  if (list.head != 0) calls.Add(SYS_set_robust_list, {list.head, kRobustListSize});
  return {};
}

Result<void> Writer::AddSignals(RestoreCalls& calls) {
  const std::string& status = texts_.status;
  const auto mask = [&](const std::string& name) -> std::uint64_t {
    const std::size_t at = status.find("\n" + name + ":\t");
    return at == status.npos ? 0
                             : std::strtoull(status.c_str() + at + name.size() + 3, nullptr, 16);
  };
  const std::uint64_t others = mask("SigIgn") | mask("SigCgt");
  for (unsigned signal = 1; signal <= kSignals; ++signal) {
    if ((others >> (signal - 1) & 1) == 0 || signal == SIGKILL || signal == SIGSTOP) continue;
    IGLOO_ASSIGN(const auto action, Ask<KernelAction>(SYS_rt_sigaction, {signal, 0}, {kMaskSize}));
    calls.AddWithData(SYS_rt_sigaction, {signal, 0, 0, kMaskSize}, 1, BytesOf(action));
  }
  if (const std::uint64_t blocked = mask("SigBlk"); blocked != 0) {
    calls.AddWithData(SYS_rt_sigprocmask, {SIG_SETMASK, 0, 0, kMaskSize}, 1, BytesOf(blocked));
  }
  IGLOO_ASSIGN(const auto stack, Ask<stack_t>(SYS_sigaltstack, {0}));
  if ((stack.ss_flags & SS_DISABLE) == 0) {
    calls.AddWithData(SYS_sigaltstack, {0, 0}, 0, BytesOf(stack));
  }
  return {};
}

Result<Header> Writer::MakeHeader() const {
  Header header{.pid = static_cast<std::uint32_t>(options_.pid), .descriptor = options_.descriptor};
  for (const Region& region : regions_) {
    if (!region.kernels() || region.name == "[vsyscall]") continue;
    if (header.kernel_parts == checkpoint::kMaxKernelParts) {
      return std::unexpected(Cannot("the kernel has more parts in it than are known"));
    }
    header.kernel[header.kernel_parts++] = {region.begin, region.size()};
    if (region.name == "[vdso]") header.vdso = region.begin;
  }
  const std::string& program = texts_.program;
  if (header.vdso == 0 || program.size() >= sizeof header.program || !program.starts_with("/") ||
      program.ends_with(" (deleted)")) {
    return std::unexpected(Cannot("its program cannot be found again"));
  }
  program.copy(header.program, program.size());
  header.general_size = sizeof registers_.general;
  std::memcpy(header.general, &registers_.general, sizeof registers_.general);
  if (registers_.extended.size() > checkpoint::kMaxExtended) {
    return std::unexpected(Cannot("its registers are larger than is known"));
  }
  return header;
}

Result<UniqueFd> Writer::Seal(const std::string& window) {
  const bool written =
      ::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0 &&
      ::pwrite(file_.get(), window.data(), window.size(), 0) == static_cast<ssize_t>(window.size());
  if (!written) return std::unexpected(Fails("finish the file"));
  // SECURITY: one who gets it cannot change what the next one gets.
  IGLOO_TRY(SealFile(file_.get(), "cannot seal the file of a checkpoint"));
  return std::move(file_);
}

}  // namespace

Result<UniqueFd> WriteCheckpoint(const Tracee& tracee, const AddressSpace& memory,
                                 const ProcessTexts& texts, const RestoreOptions& options) {
  return Writer(tracee, memory, texts, options).Write();
}

#else

namespace igloo::copy {

Result<UniqueFd> WriteCheckpoint(const Tracee&, const AddressSpace&, const ProcessTexts&,
                                 const RestoreOptions&) {
  return Fail(Errc::kFailedPrecondition, "checkpoints can be made on x86_64 only");
}

#endif

}  // namespace igloo::copy
