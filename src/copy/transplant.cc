#include "copy/transplant.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>

#include "base/file.h"
#include "copy/address_space.h"
#include "copy/copy_used.h"
#include "copy/faults.h"
#include "copy/inside.h"
#include "copy/proc.h"
#include "copy/supply.h"
#include "copy/tracee.h"
#include "copy/wall.h"

namespace igloo::copy {
namespace {

/// Of all that is looked through page by page: some interpreters reserve terabytes.
constexpr std::uint64_t kMostBytes = 64ULL << 30;
/// Reserved space that nobody can have written to.
constexpr std::uint64_t kLargeReserve = 1ULL << 30;
constexpr std::uint64_t kWindow = 64ULL << 20, kLarge = 4ULL << 20;
constexpr std::size_t kPiece = 1U << 20;
constexpr auto kLongest = std::chrono::seconds(60);
/// A mapping that is worth to be brought later, and how much of them makes it worth to begin.
constexpr std::uint64_t kLater = 512U << 10, kWorthIt = 8U << 20;
/// For the sandbox of a copy that is lost to be ended by whoever was told.
constexpr int kEndMs = 5'000;

Error Cannot(std::string why) {
  return {Errc::kFailedPrecondition, "the session cannot be forked: " + std::move(why),
          "begin another session and run the same code there", 0};
}

/// Each costs the copy a system call while both are held.
constexpr std::size_t kMostDescriptors = 4096;

/// Open descriptors of a process, by number; no more are listed than a fork takes over.
Result<std::set<int>> DescriptorsOf(pid_t pid) {
  IGLOO_ASSIGN(UniqueFd fd, OpenProc(pid, "fd", O_RDONLY | O_DIRECTORY));
  DIR* directory = ::fdopendir(fd.get());
  if (directory == nullptr) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list the descriptors of the session's interpreter");
  }
  (void)fd.Release();
  std::set<int> numbers;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.insert(number);
    if (numbers.size() > kMostDescriptors) break;
  }
  ::closedir(directory);
  // SECURITY: each costs a system call in the copy; hostile code opens as many as it may.
  if (numbers.size() > kMostDescriptors) {
    return std::unexpected(Cannot("it has too many open files"));
  }
  return numbers;
}

/// `hold` gets it and keeps it.
auto Find(const Inmate& inmate, const auto& hold) -> decltype(hold(pid_t{})) {
  IGLOO_ASSIGN(const pid_t pid, FindInside(inmate.init.get(), inmate.inner));
  IGLOO_ASSIGN(auto held, hold(pid));
  // SECURITY: it may have ended meanwhile, and its number may have become somebody else's. One that
  // is held keeps its number.
  IGLOO_ASSIGN(const pid_t again, FindInside(inmate.init.get(), inmate.inner));
  if (again != pid) return std::unexpected(Cannot("its interpreter ended"));
  return held;
}

/// Whether this process may read what is closed to everybody in the sandbox. Its igloo-init is.
bool SeesClosed(const Inmate& inmate) {
  const auto init = FindInside(inmate.init.get(), 1);
  return init && AddressSpace::Open(*init);
}

/// Whether the copy goes on as soon as the rest can come later.
enum class Haste { kWaits, kGoesOn };

/// The operation: one process becomes a copy of the other.
class Surgery {
 public:
  /// `faults`: of the copy, if there can be such.
  Surgery(const Tracee& original, AddressSpace from, Tracee& copy, AddressSpace to,
          std::optional<Faults> faults)
      : original_(original),
        copy_(copy),
        from_(std::move(from)),
        to_(std::move(to)),
        faults_(std::move(faults)) {}

  /// Looks at both.
  Result<void> Prepare(Haste haste) {
    IGLOO_ASSIGN(wanted_, from_.Regions());
    IGLOO_ASSIGN(old_, to_.Regions());
    IGLOO_TRY(CheckLayout());
    std::uint64_t later = 0;
    for (const Region& region : wanted_) later += CanComeLater(region) ? region.size() : 0;
    if (haste != Haste::kGoesOn || later < kWorthIt) faults_.reset();
    return {};
  }

  Result<void> Perform() {
    IGLOO_ASSIGN(Registers registers, original_.Read());
    IGLOO_ASSIGN(const std::uint64_t tid_address, FindTidAddress());
    hot_ = {tid_address, registers.general.fs_base, registers.general.rsp};
    IGLOO_TRY(RemoveOthers());
    for (const Region& region : wanted_) {
      if (!region.kernels()) IGLOO_TRY(Rebuild(region));
    }
    IGLOO_TRY(CopyUsed(from_, to_, large_, until_));
    IGLOO_TRY(SetTid(tid_address));
    return copy_.Resume(std::move(registers));
  }

  /// What the copy has to be brought when it goes on, if there is such a thing. From here on it
  /// cannot be made to do anything: it might wait for its own memory.
  Result<std::optional<Supply>> Promise(int init) && {
    if (!faults_) return std::nullopt;
    for (const Region& region : promised_)
      IGLOO_TRY(faults_->Register(region.begin, region.size()));
    Owed owed;
    for (const Region& region : promised_) {
      owed.Add({.at = region.begin, .size = region.size(), .from = region.begin});
    }
    return Supply::Make(std::move(from_), *std::move(faults_), std::move(owed), init);
  }

  /// Numbers that the original has open mean nothing in the copy, but its objects will close them
  /// some day: each gets something harmless.
  Result<void> PlaceDescriptors(const std::set<int>& numbers, const std::set<int>& own) {
    constexpr std::uint64_t kHere = ~0ULL - 99;  // AT_FDCWD
    IGLOO_ASSIGN(const std::uint64_t scratch, Scratch());
    IGLOO_TRY(to_.Write(scratch, "/", 2));
    // One that can be closed, and nothing else: reading it does not look like an end.
    IGLOO_ASSIGN(const std::int64_t path,
                 Make(SYS_openat, {kHere, scratch, O_PATH | O_CLOEXEC, 0}));
    for (const int number : numbers) {
      if (own.contains(number) || number == path) continue;
      IGLOO_TRY(Make(SYS_dup3, {static_cast<std::uint64_t>(path),
                                static_cast<std::uint64_t>(number), O_CLOEXEC}));
    }
    if (!numbers.contains(static_cast<int>(path))) {
      IGLOO_TRY(Make(SYS_close, {static_cast<std::uint64_t>(path)}));
    }
    return {};
  }

 private:
  /// A system call in the copy that must work.
  Result<std::int64_t> Make(long number, std::initializer_list<std::uint64_t> arguments) {
    IGLOO_ASSIGN(const std::int64_t answer, copy_.Call(number, arguments));
    if (answer < 0 && answer > -4096) {
      return FailSys(static_cast<int>(-answer), "cannot make room for the session's copy");
    }
    return answer;
  }

  /// The kernel's own pages cannot be copied: they must be where they are.
  Result<void> CheckLayout() const {
    const auto kernels = [](const std::vector<Region>& regions) {
      std::vector<Region> found;
      std::ranges::copy_if(regions, std::back_inserter(found), &Region::kernels);
      return found;
    };
    if (kernels(wanted_) != kernels(old_)) {
      return std::unexpected(Cannot("its interpreter was started anew since it began"));
    }
    return {};
  }

  /// A little of the copy's stack that nobody uses.
  Result<std::uint64_t> Scratch() const {
    IGLOO_ASSIGN(const Registers registers, copy_.Read());
    return (registers.general.rsp - 1024) & ~7ULL;
  }

  /// Where the C library keeps the number of the main thread.
  Result<std::uint64_t> FindTidAddress() {
    constexpr std::uint64_t kGetTidAddress = 40;  // PR_GET_TID_ADDRESS
    IGLOO_ASSIGN(const std::uint64_t scratch, Scratch());
    IGLOO_TRY(Make(SYS_prctl, {kGetTidAddress, scratch}));
    std::uint64_t address = 0;
    IGLOO_TRY(to_.Read(scratch, reinterpret_cast<char*>(&address), sizeof address));
    return address;
  }

  Result<void> SetTid(std::uint64_t address) {
    IGLOO_ASSIGN(const std::int64_t tid, Make(SYS_gettid, {}));
    const auto number = static_cast<std::int32_t>(tid);
    return to_.Write(address, reinterpret_cast<const char*>(&number), sizeof number);
  }

  Result<void> RemoveOthers() {
    for (const Region& region : old_) {
      if (region.kernels()) continue;
      std::uint64_t at = region.begin;
      for (const Region& other : wanted_) {
        if (other.end <= at || other.begin >= region.end) continue;
        if (other.begin > at) IGLOO_TRY(Make(SYS_munmap, {at, other.begin - at}));
        at = std::min(other.end, region.end);
      }
      if (at < region.end) IGLOO_TRY(Make(SYS_munmap, {at, region.end - at}));
    }
    return {};
  }

  /// The same mapping: what neither has changed since the checkpoint is there already. A file that
  /// both sandboxes show under one name is one file, although each may give it a number of its own.
  bool IsThere(const Region& region) const {
    const auto same = [&](const Region& other) {
      const bool file = region.name.starts_with("/") && !region.name.ends_with(" (deleted)");
      return other.begin == region.begin && other.end == region.end &&
             other.protection == region.protection && other.offset == region.offset &&
             !other.shared && other.name == region.name && (file || other.device == region.device);
    };
    return !region.shared && std::ranges::any_of(old_, same);
  }

  static bool IsReserve(const Region& region) {
    return region.protection == PROT_NONE && region.size() >= kLargeReserve;
  }

  /// Memory that is nobody's but the original's.
  bool CanComeLater(const Region& region) const {
    return region.anonymous() && !region.shared && !region.kernels() && region.name != "[stack]" &&
           region.size() >= kLater && !IsReserve(region) && !IsThere(region);
  }

  /// What the kernel itself looks at when the copy goes on comes now.
  Result<void> CopyHot(const Region& region) {
    constexpr std::uint64_t kAround = 2 * kPageSize;
    for (const std::uint64_t place : hot_) {
      Region window = region;
      const std::uint64_t page = place & ~(kPageSize - 1);
      window.begin = std::max(region.begin, page - std::min(page, kAround));
      window.end = std::min(region.end, page + kAround);
      if (window.begin < window.end) IGLOO_TRY(CopyUsed(from_, to_, {&window, 1}, until_));
    }
    return {};
  }

  Result<void> Rebuild(const Region& region) {
    if (std::chrono::steady_clock::now() > until_) {
      return std::unexpected(Cannot("its memory takes too long to copy"));
    }
    looked_ += region.size();
    const bool reserve = IsReserve(region);
    if (reserve) looked_ -= region.size();
    if (looked_ > kMostBytes) return std::unexpected(Cannot("it has mapped too much memory"));
    const bool there = IsThere(region);
    if (!there) {
      const std::uint64_t grows = region.name == "[stack]" ? MAP_GROWSDOWN | MAP_STACK : 0;
      IGLOO_TRY(Make(SYS_mmap,
                     {region.begin, region.size(), static_cast<std::uint64_t>(region.protection),
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | grows, ~0ULL, 0}));
    }
    if (reserve) return {};
    if (faults_ && CanComeLater(region)) {
      promised_.push_back(region);
      return CopyHot(region);
    }
    if (!there && region.anonymous() && region.size() >= kLarge) {
      large_.push_back(region);
      return PreferLarge(region);
    }
    for (std::uint64_t at = region.begin; at < region.end; at += kWindow) {
      Region window = region;
      window.begin = at;
      window.end = std::min(region.end, at + kWindow);
      IGLOO_TRY(CopyWindow(window, there));
    }
    return {};
  }

  /// Memory that is in use from end to end comes in large pages: five hundred fewer to ask for.
  Result<void> PreferLarge(const Region& region) {
    Region sample = region;
    sample.end = std::min(region.end, region.begin + kWindow);
    IGLOO_ASSIGN(const std::vector<Page> pages, from_.Pages(sample));
    const auto used = std::ranges::count_if(pages, [](Page page) { return page != Page::kAbsent; });
    if (static_cast<std::size_t>(used) * 10 < pages.size() * 9) return {};
    // Not everywhere: a kernel without them says no, and nothing is lost.
    IGLOO_ASSIGN(const std::int64_t ignored,
                 copy_.Call(SYS_madvise, {region.begin, region.size(), MADV_HUGEPAGE}));
    (void)ignored;
    return {};
  }

  Result<void> CopyWindow(const Region& window, bool there) {
    IGLOO_ASSIGN(const std::vector<PageEntry> pages, from_.Entries(window));
    std::vector<PageEntry> present(pages.size());
    if (there) {
      IGLOO_ASSIGN(present, to_.Entries(window));
    }
    const auto needed = [&](std::size_t i) {
      if (there) {
        const bool own = pages[i].kind() == Page::kOwn || present[i].kind() == Page::kOwn;
        return own && !pages[i].IsSameAs(present[i]);
      }
      // A file's pages that were never looked at are the file's all the same.
      return pages[i].kind() != Page::kAbsent || !window.anonymous();
    };
    for (std::size_t i = 0; i < pages.size();) {
      if (!needed(i)) {
        ++i;
        continue;
      }
      const std::size_t first = i;
      while (i < pages.size() && needed(i) && (i - first) * kPageSize < kPiece) ++i;
      IGLOO_TRY(CopyBytes(window, first, i, there));
    }
    return {};
  }

  Result<void> CopyBytes(const Region& window, std::size_t first, std::size_t last, bool there) {
    const std::uint64_t at = window.begin + first * kPageSize;
    buffer_.resize((last - first) * kPageSize);
    if (auto read = from_.Read(at, buffer_.data(), buffer_.size()); !read) {
      if (window.anonymous()) return read;
      // Behind the end of a file there is nothing to read: page by page, as far as it goes.
      if (last - first == 1) return {};
      for (std::size_t i = first; i < last; ++i) IGLOO_TRY(CopyBytes(window, i, i + 1, there));
      return {};
    }
    return there ? WriteChanges(at) : to_.Write(at, buffer_.data(), buffer_.size());
  }

  /// Most pages of both are still the checkpoint's; those that nobody writes to stay so.
  Result<void> WriteChanges(std::uint64_t at) {
    other_.resize(buffer_.size());
    IGLOO_TRY(to_.Read(at, other_.data(), other_.size()));
    for (std::size_t i = 0; i < buffer_.size();) {
      const std::size_t first = i;
      while (i < buffer_.size() && Differs(i)) i += kPageSize;
      if (i > first) IGLOO_TRY(to_.Write(at + first, buffer_.data() + first, i - first));
      while (i < buffer_.size() && !Differs(i)) i += kPageSize;
    }
    return {};
  }

  bool Differs(std::size_t at) const {
    return std::memcmp(buffer_.data() + at, other_.data() + at, kPageSize) != 0;
  }

  const Tracee& original_;
  Tracee& copy_;
  AddressSpace from_, to_;
  std::optional<Faults> faults_;
  std::vector<Region> wanted_ = {}, old_ = {};
  std::vector<Region> promised_ = {}, large_ = {};
  std::array<std::uint64_t, 3> hot_ = {};
  std::uint64_t looked_ = 0;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + kLongest;
  std::string buffer_ = {}, other_ = {};
};

/// The process that becomes the copy, and all that needs a right over it.
struct Target {
  Tracee tracee;
  AddressSpace memory;
  std::set<int> descriptors = {};
  std::optional<Faults> faults = {};

  static Result<Target> Hold(const Inmate& copy) {
    IGLOO_ASSIGN(Tracee tracee, Find(copy, Tracee::Hold));
    IGLOO_ASSIGN(AddressSpace memory, AddressSpace::Open(tracee.pid()));
    IGLOO_ASSIGN(std::set<int> descriptors, DescriptorsOf(tracee.pid()));
    IGLOO_ASSIGN(std::optional<Faults> faults, Faults::Of(tracee, memory));
    return Target{std::move(tracee), std::move(memory), std::move(descriptors), std::move(faults)};
  }
};

/// Everything up to the moment in which the copy goes on.
Result<std::optional<Supply>> Operate(const Newborn& source, Target target, int copy_init) {
  const pid_t pid = source.tracee.pid();
  IGLOO_ASSIGN(AddressSpace from, AddressSpace::Open(pid));
  IGLOO_ASSIGN(const std::set<int> numbers, DescriptorsOf(pid));
  // SECURITY: whoever writes to the source writes to what the copy has yet to get. It is as it was
  // born: if it is closed, nobody has ever opened it.
  const Haste haste = source.alone && from.IsClosed() ? Haste::kGoesOn : Haste::kWaits;
  // SECURITY: all that needs a right is open by now, and not a byte of hostile memory was read.
  // From here on this process has rights over the original's sandbox alone.
  IGLOO_TRY(EnterSandboxOf(pid));
  IGLOO_TRY(RaiseWall());
  Surgery surgery(source.tracee, std::move(from), target.tracee, std::move(target.memory),
                  std::move(target.faults));
  IGLOO_TRY(surgery.Prepare(haste));
  IGLOO_TRY(surgery.PlaceDescriptors(numbers, target.descriptors));
  IGLOO_TRY(surgery.Perform());
  return std::move(surgery).Promise(copy_init);
}

void AwaitEnd(int init) {
  pollfd end{init, POLLIN, 0};
  while (::poll(&end, 1, kEndMs) < 0 && errno == EINTR) {
  }
  ::syscall(SYS_pidfd_send_signal, init, SIGKILL, nullptr, 0);
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<void> Transplant(const Inmate& original, const Inmate& copy, const Progress& progress) {
  IGLOO_ASSIGN(Target target, Target::Hold(copy));
  IGLOO_ASSIGN(Birth birth, Find(original, Birth::Expect));
  progress.expects(SeesClosed(original));
  IGLOO_ASSIGN(const Newborn source, std::move(birth).Await(progress.answered));
  progress.holds(NumberInside(source.tracee.pid()));
  IGLOO_ASSIGN(std::optional<Supply> supply, Operate(source, std::move(target), copy.init.get()));
  progress.goes_on();
  if (!supply) return {};
  auto brought = supply->Bring();
  if (brought) return {};
  progress.lost(brought.error());
  // SECURITY: without the supply the copy would go on with zeros.
  AwaitEnd(copy.init.get());
  return brought;
}

}  // namespace igloo::copy
