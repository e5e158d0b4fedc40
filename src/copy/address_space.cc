#include "copy/address_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/file.h"
#include "base/text.h"
#include "copy/proc.h"

namespace igloo::copy {
namespace {

/// More than any interpreter has; a hostile one makes as many as it may.
constexpr std::size_t kMostRegions = 8192;
constexpr std::uint64_t kPresent = 1ULL << 63, kSwapped = 1ULL << 62, kFileOrShared = 1ULL << 61,
                        kFrame = (1ULL << 55) - 1;

Error BadMaps() { return {Errc::kProtocol, "a process's list of mappings cannot be read", {}, 0}; }

/// Takes the number in front, and the character behind it.
bool TakeHex(std::string_view& text, char behind, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const auto size = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || size >= text.size() || text[size] != behind) return false;
  text.remove_prefix(size + 1);
  return true;
}

Result<Region> ParseRegion(std::string_view line) {
  Region region;
  if (!TakeHex(line, '-', region.begin) || !TakeHex(line, ' ', region.end) || line.size() < 5 ||
      region.begin >= region.end || region.begin % kPageSize != 0 || region.end % kPageSize != 0) {
    return std::unexpected(BadMaps());
  }
  region.protection = (line[0] == 'r' ? PROT_READ : 0) | (line[1] == 'w' ? PROT_WRITE : 0) |
                      (line[2] == 'x' ? PROT_EXEC : 0);
  region.shared = line[3] == 's';
  line.remove_prefix(5);
  if (!TakeHex(line, ' ', region.offset)) return std::unexpected(BadMaps());
  // Device, inode, then blanks and the name.
  const std::size_t device = line.find(' ');
  const std::size_t inode = device == line.npos ? device : line.find(' ', device + 1);
  region.device = std::string(line.substr(0, inode));
  const std::size_t name = inode == line.npos ? inode : line.find_first_not_of(' ', inode);
  if (name != line.npos) region.name = std::string(line.substr(name));
  return region;
}

}  // namespace

bool Region::kernels() const { return name.starts_with("[v"); }

Result<std::vector<Region>> ParseRegions(std::string_view maps) {
  std::vector<Region> regions;
  while (!maps.empty()) {
    const std::size_t end = maps.find('\n');
    if (end == maps.npos || regions.size() == kMostRegions) return std::unexpected(BadMaps());
    IGLOO_ASSIGN(Region region, ParseRegion(maps.substr(0, end)));
    regions.push_back(std::move(region));
    maps.remove_prefix(end + 1);
  }
  return regions;
}

Result<AddressSpace> AddressSpace::Open(pid_t pid) {
  AddressSpace space;
  space.pid_ = pid;
  IGLOO_ASSIGN(space.memory_, OpenProc(pid, "mem", O_RDWR));
  IGLOO_ASSIGN(space.pages_, OpenProc(pid, "pagemap", O_RDONLY));
  IGLOO_ASSIGN(space.maps_, OpenProc(pid, "maps", O_RDONLY));
  return space;
}

bool AddressSpace::IsClosed() const {
  struct stat process{};
  struct stat memory{};
  return ::fstatat(ProcDirectory(), std::to_string(pid_).c_str(), &process, 0) == 0 &&
         ::fstat(memory_.get(), &memory) == 0 && process.st_uid != memory.st_uid;
}

Result<std::vector<Region>> AddressSpace::Regions() const {
  // From its beginning each time.
  ::lseek(maps_.get(), 0, SEEK_SET);
  IGLOO_ASSIGN(const std::string maps, ReadAll(maps_.get(), 4U << 20));
  return ParseRegions(maps);
}

Result<std::vector<PageEntry>> AddressSpace::Entries(const Region& region) const {
  std::vector<PageEntry> entries(region.size() / kPageSize);
  static_assert(sizeof entries[0] == sizeof(std::uint64_t));
  const std::size_t bytes = entries.size() * sizeof entries[0];
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count =
        ::pread(pages_.get(), reinterpret_cast<char*>(entries.data()) + done, bytes - done,
                static_cast<off_t>(region.begin / kPageSize * sizeof entries[0] + done));
    if (count <= 0) {
      const int saved_errno = count == 0 ? ESRCH : errno;
      return FailSys(saved_errno, "cannot read which pages the session's interpreter has");
    }
    done += static_cast<std::size_t>(count);
  }
  return entries;
}

Result<std::vector<Page>> AddressSpace::Pages(const Region& region) const {
  IGLOO_ASSIGN(const std::vector<PageEntry> entries, Entries(region));
  std::vector<Page> pages;
  pages.reserve(entries.size());
  for (const PageEntry entry : entries) pages.push_back(entry.kind());
  return pages;
}

Page PageEntry::kind() const {
  return (bits & (kPresent | kSwapped)) == 0 ? Page::kAbsent
         : (bits & kFileOrShared) != 0       ? Page::kFile
                                             : Page::kOwn;
}

bool PageEntry::IsSameAs(PageEntry other) const {
  return (bits & other.bits & kPresent) != 0 && (bits & kFrame) != 0 &&
         (bits & kFrame) == (other.bits & kFrame);
}

Result<void> AddressSpace::Read(std::uint64_t from, char* to, std::size_t size) const {
  // Not with process_vm_readv: it makes the process a page of its own of everything that it shares
  // with another since a fork.
  for (std::size_t done = 0; done < size;) {
    const ssize_t count =
        ::pread(memory_.get(), to + done, size - done, static_cast<off_t>(from + done));
    if (count <= 0) {
      const int saved_errno = count == 0 ? ESRCH : errno;
      return FailSys(saved_errno, "cannot read the memory of the session's interpreter");
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Result<void> AddressSpace::Write(std::uint64_t to, const char* from, std::size_t size) const {
  const iovec here{const_cast<char*>(from), size};
  const iovec there{reinterpret_cast<void*>(to), size};
  const ssize_t direct = ::process_vm_writev(pid_, &here, 1, &there, 1, 0);
  for (std::size_t done = direct > 0 ? static_cast<std::size_t>(direct) : 0; done < size;) {
    const ssize_t count =
        ::pwrite(memory_.get(), from + done, size - done, static_cast<off_t>(to + done));
    if (count <= 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot write the memory of the new session's interpreter");
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace igloo::copy
