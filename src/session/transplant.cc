#include "session/transplant.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/file.h"
#include "session/address_space.h"
#include "session/inside.h"
#include "session/tracee.h"

namespace igloo::session {
namespace {

/// Of all that is looked through page by page: some interpreters reserve terabytes.
constexpr std::uint64_t kMostBytes = 64ULL << 30;
/// Reserved space that nobody can have written to.
constexpr std::uint64_t kLargeReserve = 1ULL << 30;
constexpr std::uint64_t kWindow = 64ULL << 20;
constexpr std::size_t kPiece = 1U << 20;

Error Cannot(std::string why) {
  return {Errc::kFailedPrecondition, "the session cannot be forked: " + std::move(why),
          "begin another session and run the same code there", 0};
}

/// Open descriptors of a process, by number.
Result<std::set<int>> DescriptorsOf(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd";
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list the descriptors of the session's interpreter");
  }
  std::set<int> numbers;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.insert(number);
  }
  ::closedir(directory);
  return numbers;
}

/// The operation: one process becomes a copy of the other.
class Surgery {
 public:
  Surgery(Tracee& original, AddressSpace from, Tracee& copy, AddressSpace to)
      : original_(original), copy_(copy), from_(std::move(from)), to_(std::move(to)) {}

  Result<void> Perform() {
    IGLOO_ASSIGN(const std::vector<Region> wanted, from_.Regions());
    IGLOO_ASSIGN(old_, to_.Regions());
    IGLOO_TRY(CheckLayout(wanted));
    IGLOO_ASSIGN(const std::uint64_t tid_address, FindTidAddress());
    IGLOO_TRY(RemoveOthers(wanted));
    for (const Region& region : wanted) {
      if (!region.kernels()) IGLOO_TRY(Rebuild(region));
    }
    IGLOO_TRY(SetTid(tid_address));
    IGLOO_ASSIGN(Registers registers, original_.Read());
    return copy_.Resume(std::move(registers));
  }

  /// Numbers that the original has open mean nothing in the copy, but its objects will close them
  /// some day: each gets something harmless.
  Result<void> PlaceDescriptors(const std::set<int>& numbers, const std::set<int>& own) {
    for (const int number : numbers) {
      if (own.contains(number)) continue;
      IGLOO_TRY(Make(SYS_dup2, {0, static_cast<std::uint64_t>(number)}));
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
  Result<void> CheckLayout(const std::vector<Region>& wanted) const {
    const auto kernels = [](const std::vector<Region>& regions) {
      std::vector<Region> found;
      std::ranges::copy_if(regions, std::back_inserter(found), &Region::kernels);
      return found;
    };
    if (kernels(wanted) != kernels(old_)) {
      return std::unexpected(Cannot("its interpreter was started anew since it began"));
    }
    return {};
  }

  /// Where the C library keeps the number of the main thread.
  Result<std::uint64_t> FindTidAddress() {
    constexpr std::uint64_t kGetTidAddress = 40;  // PR_GET_TID_ADDRESS
    IGLOO_ASSIGN(const Registers registers, copy_.Read());
    const std::uint64_t scratch = (registers.general.rsp - 1024) & ~7ULL;
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

  Result<void> RemoveOthers(const std::vector<Region>& wanted) {
    for (const Region& region : old_) {
      if (region.kernels()) continue;
      std::uint64_t at = region.begin;
      for (const Region& other : wanted) {
        if (other.end <= at || other.begin >= region.end) continue;
        if (other.begin > at) IGLOO_TRY(Make(SYS_munmap, {at, other.begin - at}));
        at = std::min(other.end, region.end);
      }
      if (at < region.end) IGLOO_TRY(Make(SYS_munmap, {at, region.end - at}));
    }
    return {};
  }

  /// The same mapping of the same file: what nobody changed in it is there already.
  bool IsThere(const Region& region) const {
    if (region.anonymous() || region.shared) return false;
    return std::ranges::find(old_, region) != old_.end();
  }

  Result<void> Rebuild(const Region& region) {
    looked_ += region.size();
    const bool reserve = region.protection == PROT_NONE && region.size() >= kLargeReserve;
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
    for (std::uint64_t at = region.begin; at < region.end; at += kWindow) {
      Region window = region;
      window.begin = at;
      window.end = std::min(region.end, at + kWindow);
      IGLOO_TRY(CopyWindow(window, there));
    }
    return {};
  }

  Result<void> CopyWindow(const Region& window, bool there) {
    IGLOO_ASSIGN(const std::vector<Page> pages, from_.Pages(window));
    std::vector<Page> present(pages.size(), Page::kAbsent);
    if (there) {
      IGLOO_ASSIGN(present, to_.Pages(window));
    }
    const auto needed = [&](std::size_t i) {
      if (there) return pages[i] == Page::kOwn || present[i] == Page::kOwn;
      // A file's pages that were never looked at are the file's all the same.
      return pages[i] != Page::kAbsent || !window.anonymous();
    };
    for (std::size_t i = 0; i < pages.size();) {
      if (!needed(i)) {
        ++i;
        continue;
      }
      const std::size_t first = i;
      while (i < pages.size() && needed(i) && (i - first) * kPageSize < kPiece) ++i;
      IGLOO_TRY(CopyBytes(window, first, i));
    }
    return {};
  }

  Result<void> CopyBytes(const Region& window, std::size_t first, std::size_t last) {
    const std::uint64_t at = window.begin + first * kPageSize;
    buffer_.resize((last - first) * kPageSize);
    if (auto read = from_.Read(at, buffer_.data(), buffer_.size()); !read) {
      return window.anonymous() ? read : CopyFileBytes(at);
    }
    return to_.Write(at, buffer_.data(), buffer_.size());
  }

  /// Behind the end of a file there is nothing to read, nor anything that was ever written.
  Result<void> CopyFileBytes(std::uint64_t at) {
    for (std::size_t done = 0; done < buffer_.size(); done += kPageSize) {
      if (!from_.Read(at + done, buffer_.data(), kPageSize)) break;
      IGLOO_TRY(to_.Write(at + done, buffer_.data(), kPageSize));
    }
    return {};
  }

  Tracee& original_;
  Tracee& copy_;
  AddressSpace from_, to_;
  std::vector<Region> old_ = {};
  std::uint64_t looked_ = 0;
  std::string buffer_ = {};
};

/// SECURITY: a number that was looked up may be another process's by the time it is held, even one
/// of the host's. Held, it cannot become another's any more, and is looked up again.
Result<void> CheckStillInside(const Patient& patient, pid_t held) {
  IGLOO_ASSIGN(const pid_t now, FindInside(patient.init_pidfd, patient.inner));
  if (now == held) return {};
  return std::unexpected(Cannot("its interpreter does not stand still"));
}

}  // namespace

Result<void> Transplant(const Patient& original, const Patient& copy) {
  IGLOO_ASSIGN(const pid_t original_pid, FindInside(original.init_pidfd, original.inner));
  IGLOO_ASSIGN(const pid_t copy_pid, FindInside(copy.init_pidfd, copy.inner));
  IGLOO_ASSIGN(Tracee held, Tracee::Hold(original_pid));
  IGLOO_TRY(CheckStillInside(original, original_pid));
  IGLOO_ASSIGN(Tracee changed, Tracee::Hold(copy_pid));
  IGLOO_TRY(CheckStillInside(copy, copy_pid));
  IGLOO_ASSIGN(AddressSpace from, AddressSpace::Open(original_pid));
  IGLOO_ASSIGN(AddressSpace to, AddressSpace::Open(copy_pid));
  IGLOO_ASSIGN(const std::set<int> numbers, DescriptorsOf(original_pid));
  IGLOO_ASSIGN(const std::set<int> own, DescriptorsOf(copy_pid));
  if (numbers.size() > 4096) return std::unexpected(Cannot("it has too many open files"));
  Surgery surgery(held, std::move(from), changed, std::move(to));
  IGLOO_TRY(surgery.PlaceDescriptors(numbers, own));
  return surgery.Perform();
}

}  // namespace igloo::session
