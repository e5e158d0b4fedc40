#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::copy {

/// One mapping of a process.
struct Region {
  std::uint64_t begin = 0, end = 0;
  int protection = 0;  ///< PROT_*
  bool shared = false;
  std::uint64_t offset = 0;
  std::string device = {};  ///< "fe:00" and the inode behind it: which file; "00:00" 0: none
  std::string name = {};    ///< "[heap]", a path, or nothing

  std::uint64_t size() const { return end - begin; }
  bool anonymous() const { return device.starts_with("00:00 0"); }
  /// The kernel's own: the same in every process, or nobody's to change.
  bool kernels() const;
  bool operator==(const Region&) const = default;
};

/// What /proc/PID/maps says. Fails on anything that the kernel does not write.
Result<std::vector<Region>> ParseRegions(std::string_view maps);

/// What a page is, as far as copying it goes.
enum class Page : std::uint8_t {
  kAbsent,  ///< never touched: zeros, or what the file has
  kFile,    ///< a file's, or shared memory
  kOwn,     ///< this process's
};

/// What the kernel says of a page.
struct PageEntry {
  std::uint64_t bits = 0;

  Page kind() const;
  /// Two processes share it, so it is equal. Never true where the user may not know.
  bool IsSameAs(PageEntry other) const;
};

/// Another process's memory, read and written from outside.
class AddressSpace {
 public:
  static Result<AddressSpace> Open(pid_t pid);

  /// Whether others with its user id cannot open it: the kernel makes it root's then (prctl(2),
  /// PR_SET_DUMPABLE). False also where that cannot be told.
  bool IsClosed() const;

  Result<std::vector<Region>> Regions() const;
  /// One for each page of the region.
  Result<std::vector<PageEntry>> Entries(const Region& region) const;
  Result<std::vector<Page>> Pages(const Region& region) const;
  Result<void> Read(std::uint64_t from, char* to, std::size_t size) const;
  Result<void> Write(std::uint64_t to, const char* from, std::size_t size) const;

 private:
  pid_t pid_ = 0;
  /// Opened once: the right to open them may be given up before they are read.
  UniqueFd memory_ = {}, pages_ = {}, maps_ = {};
};

inline constexpr std::uint64_t kPageSize = 4096;

}  // namespace igloo::copy
