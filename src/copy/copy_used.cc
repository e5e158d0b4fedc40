#include "copy/copy_used.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace igloo::copy {
namespace {

/// What one thread takes at a time, and what it reads before it writes: that stays in a cache.
constexpr std::uint64_t kShare = 4U << 20;
constexpr std::size_t kPiece = 512U << 10;
/// Memory is the limit, not computing.
constexpr unsigned kMostThreads = 4;

class Work {
 public:
  Work(const AddressSpace& from, const AddressSpace& to, std::span<const Region> regions,
       std::chrono::steady_clock::time_point until)
      : from_(from), to_(to), until_(until) {
    for (const Region& region : regions) {
      for (std::uint64_t at = region.begin; at < region.end; at += kShare) {
        shares_.push_back({.begin = at, .end = std::min(region.end, at + kShare)});
      }
    }
  }

  Result<void> Do() {
    const unsigned most = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min<std::size_t>(most, shares_.size())) {
        others.emplace_back([this] { Share(); });
      }
    } catch (const std::system_error&) {
      // Fewer do as well.
    }
    Share();
    others.clear();
    if (failure_) return std::unexpected(*failure_);
    return {};
  }

 private:
  void Share() {
    std::string buffer(kPiece, '\0');
    while (!failed_) {
      const std::size_t mine = next_++;
      if (mine >= shares_.size()) return;
      if (auto copied = Copy(shares_[mine], buffer); !copied) {
        const std::scoped_lock lock(mutex_);
        failure_ = std::move(copied).error();
        failed_ = true;
      }
    }
  }

  Result<void> Copy(const Region& share, std::string& buffer) const {
    if (std::chrono::steady_clock::now() > until_) {
      return Fail(Errc::kTimeout, "the session's memory takes too long to copy",
                  "begin another session and run the same code there");
    }
    IGLOO_ASSIGN(const std::vector<Page> pages, from_.Pages(share));
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const std::size_t first = i;
      while (i < pages.size() && pages[i] != Page::kAbsent && (i - first) * kPageSize < kPiece) ++i;
      const std::size_t size = (i - first) * kPageSize;
      if (size == 0) continue;
      const std::uint64_t at = share.begin + first * kPageSize;
      IGLOO_TRY(from_.Read(at, buffer.data(), size));
      IGLOO_TRY(to_.Write(at, buffer.data(), size));
      --i;  // the one behind is yet to be looked at
    }
    return {};
  }

  const AddressSpace& from_;
  const AddressSpace& to_;
  std::chrono::steady_clock::time_point until_;
  std::vector<Region> shares_ = {};
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_ = {};
  std::optional<Error> failure_ = {};
};

}  // namespace

Result<void> CopyUsed(const AddressSpace& from, const AddressSpace& to,
                      std::span<const Region> regions,
                      std::chrono::steady_clock::time_point until) {
  return Work(from, to, regions, until).Do();
}

}  // namespace igloo::copy
