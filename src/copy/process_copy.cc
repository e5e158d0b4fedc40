#include "copy/process_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "copy/copy_used.h"

namespace igloo::copy {
namespace {

/// Of all that is looked through page by page: some interpreters reserve terabytes.
constexpr std::uint64_t kMostBytes = 64ULL << 30;
/// Reserved space that nobody can have written to.
constexpr std::uint64_t kLargeReserve = 1ULL << 30;
constexpr std::uint64_t kWindow = 64ULL << 20, kLarge = 4ULL << 20;
constexpr std::size_t kPiece = 1U << 20;
/// A mapping that is worth to be brought later, and how much of them makes it worth to begin.
constexpr std::uint64_t kLater = 512U << 10, kWorthIt = 8U << 20;

bool IsReserve(const Region& region) {
  return region.protection == PROT_NONE && region.size() >= kLargeReserve;
}

}  // namespace

Error CannotFork(std::string why) {
  return {Errc::kFailedPrecondition, "the session cannot be forked: " + std::move(why),
          "begin another session and run the same code there", 0};
}

Result<void> ProcessCopy::Prepare(Haste haste) {
  IGLOO_ASSIGN(wanted_, from_.Regions());
  IGLOO_ASSIGN(old_, to_.Regions());
  IGLOO_TRY(CheckLayout());
  std::uint64_t later = 0;
  for (const Region& region : wanted_) later += CanComeLater(region) ? region.size() : 0;
  if (haste != Haste::kGoesOn || later < kWorthIt) faults_.reset();
  return {};
}

Result<void> ProcessCopy::Perform() {
  IGLOO_ASSIGN(Registers registers, original_.Read());
  IGLOO_ASSIGN(const std::uint64_t tid_address, FindTidAddress());
  hot_ = {tid_address, ThreadPointerOf(registers), StackPointerOf(registers)};
  IGLOO_TRY(RemoveOthers());
  for (const Region& region : wanted_) {
    if (!region.kernels()) IGLOO_TRY(Rebuild(region));
  }
  IGLOO_TRY(CopyUsed(from_, to_, large_, until_));
  IGLOO_TRY(SetTid(tid_address));
  return copy_.Resume(std::move(registers));
}

Result<std::optional<PageSupplier>> ProcessCopy::Promise(int init) && {
  if (!faults_) return std::nullopt;
  for (const Region& region : promised_) IGLOO_TRY(faults_->Register(region.begin, region.size()));
  MissingMemory missing;
  for (const Region& region : promised_) {
    missing.Add({.at = region.begin, .size = region.size(), .from = region.begin});
  }
  return PageSupplier::Make(std::move(from_), *std::move(faults_), std::move(missing), init);
}

Result<void> ProcessCopy::PlaceDescriptors(const std::set<int>& numbers, const std::set<int>& own) {
  constexpr std::uint64_t kHere = ~0ULL - 99;  // AT_FDCWD
  IGLOO_ASSIGN(const std::uint64_t scratch, Scratch());
  IGLOO_TRY(to_.Write(scratch, "/", 2));
  // One that can be closed, and nothing else: reading it does not look like an end.
  IGLOO_ASSIGN(const std::int64_t path, Make(SYS_openat, {kHere, scratch, O_PATH | O_CLOEXEC, 0}));
  for (const int number : numbers) {
    if (own.contains(number) || number == path) continue;
    IGLOO_TRY(Make(SYS_dup3, {static_cast<std::uint64_t>(path), static_cast<std::uint64_t>(number),
                              O_CLOEXEC}));
  }
  if (!numbers.contains(static_cast<int>(path))) {
    IGLOO_TRY(Make(SYS_close, {static_cast<std::uint64_t>(path)}));
  }
  return {};
}

Result<std::int64_t> ProcessCopy::Make(long number,
                                       std::initializer_list<std::uint64_t> arguments) {
  IGLOO_ASSIGN(const std::int64_t answer, copy_.Call(number, arguments));
  if (answer < 0 && answer > -4096) {
    return FailSys(static_cast<int>(-answer), "cannot make room for the session's copy");
  }
  return answer;
}

Result<void> ProcessCopy::CheckLayout() const {
  const auto kernels = [](const std::vector<Region>& regions) {
    std::vector<Region> found;
    std::ranges::copy_if(regions, std::back_inserter(found), &Region::kernels);
    return found;
  };
  if (kernels(wanted_) != kernels(old_)) {
    return std::unexpected(CannotFork("its interpreter was started anew since it began"));
  }
  return {};
}

Result<std::uint64_t> ProcessCopy::Scratch() const {
  IGLOO_ASSIGN(const Registers registers, copy_.Read());
  return (StackPointerOf(registers) - 1024) & ~7ULL;
}

Result<std::uint64_t> ProcessCopy::FindTidAddress() {
  constexpr std::uint64_t kGetTidAddress = 40;  // PR_GET_TID_ADDRESS
  IGLOO_ASSIGN(const std::uint64_t scratch, Scratch());
  IGLOO_TRY(Make(SYS_prctl, {kGetTidAddress, scratch}));
  std::uint64_t address = 0;
  IGLOO_TRY(to_.Read(scratch, reinterpret_cast<char*>(&address), sizeof address));
  return address;
}

Result<void> ProcessCopy::SetTid(std::uint64_t address) {
  IGLOO_ASSIGN(const std::int64_t tid, Make(SYS_gettid, {}));
  const auto number = static_cast<std::int32_t>(tid);
  return to_.Write(address, reinterpret_cast<const char*>(&number), sizeof number);
}

Result<void> ProcessCopy::RemoveOthers() {
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

bool ProcessCopy::IsThere(const Region& region) const {
  const auto same = [&](const Region& other) {
    const bool file = region.name.starts_with("/") && !region.name.ends_with(" (deleted)");
    return other.begin == region.begin && other.end == region.end &&
           other.protection == region.protection && other.offset == region.offset &&
           !other.shared && other.name == region.name && (file || other.device == region.device);
  };
  return !region.shared && std::ranges::any_of(old_, same);
}

bool ProcessCopy::CanComeLater(const Region& region) const {
  return region.anonymous() && !region.shared && !region.kernels() && region.name != "[stack]" &&
         region.size() >= kLater && !IsReserve(region) && !IsThere(region);
}

Result<void> ProcessCopy::CopyHot(const Region& region) {
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

Result<void> ProcessCopy::Rebuild(const Region& region) {
  if (std::chrono::steady_clock::now() > until_) {
    return std::unexpected(CannotFork("its memory takes too long to copy"));
  }
  looked_ += region.size();
  const bool reserve = IsReserve(region);
  if (reserve) looked_ -= region.size();
  if (looked_ > kMostBytes) return std::unexpected(CannotFork("it has mapped too much memory"));
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

Result<void> ProcessCopy::PreferLarge(const Region& region) {
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

Result<void> ProcessCopy::CopyWindow(const Region& window, bool there) {
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

Result<void> ProcessCopy::CopyBytes(const Region& window, std::size_t first, std::size_t last,
                                    bool there) {
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

Result<void> ProcessCopy::WriteChanges(std::uint64_t at) {
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

bool ProcessCopy::Differs(std::size_t at) const {
  return std::memcmp(buffer_.data() + at, other_.data() + at, kPageSize) != 0;
}

}  // namespace igloo::copy
