#include "service/changes/copy_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/file.h"

namespace igloo::service::changes {
namespace {

/// From where `from` is up to `end`.
Result<void> CopyPart(int from, int to, off_t end, std::vector<char>& buffer) {
  for (off_t at = ::lseek(from, 0, SEEK_CUR); at < end;) {
    const auto most = std::min<std::uint64_t>(buffer.size(), static_cast<std::uint64_t>(end - at));
    const ssize_t count = ::read(from, buffer.data(), most);
    if (count == 0) return {};  // it has become shorter
    if (count < 0) {
      const int saved_errno = errno;
      if (saved_errno == EINTR) continue;
      return FailSys(saved_errno, "cannot read");
    }
    IGLOO_TRY(WriteAll(to, {buffer.data(), static_cast<std::size_t>(count)}));
    at += count;
  }
  return {};
}

std::uint64_t RoomFor(const Operation& operation, const Tree& upper) {
  if (operation.kind != Operation::Kind::kPut || operation.link) return 0;
  if (operation.content) return operation.content->size();
  const UniqueFd file = OpenBeneath(upper.fd(), operation.path, O_PATH);
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

}  // namespace

Result<void> CopyBytes(int from, int to) {
  struct stat info{};
  if (::fstat(from, &info) != 0 || ::ftruncate(to, info.st_size) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a file of this size");
  }
  std::vector<char> buffer(1U << 20);
  for (off_t at = 0; at < info.st_size;) {
    const off_t begin = ::lseek(from, at, SEEK_DATA);
    if (begin < 0) {
      const int saved_errno = errno;
      if (saved_errno == ENXIO) return {};  // nothing but a hole is left
      return FailSys(saved_errno, "cannot read");
    }
    const off_t end = ::lseek(from, begin, SEEK_HOLE);
    if (end < 0 || ::lseek(from, begin, SEEK_SET) < 0 || ::lseek(to, begin, SEEK_SET) < 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot read");
    }
    IGLOO_TRY(CopyPart(from, to, end, buffer));
    at = end;
  }
  return {};
}

Result<void> CheckRoom(const Tree& project, const Tree& upper,
                       const std::vector<Operation>& operations) {
  std::uint64_t wanted = 0;
  for (const Operation& each : operations) wanted += RoomFor(each, upper);
  struct statvfs disk{};
  if (::fstatvfs(project.fd(), &disk) != 0) return {};  // a full one is noticed while writing
  const std::uint64_t room = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  // Some file systems say that they have nothing at all and mean that they do not count.
  if (wanted <= room || disk.f_blocks == 0) return {};
  return Fail(Errc::kExhausted,
              fmt::format("the changes need {} MB, and the project's disk has {} MB left",
                          (wanted >> 20) + 1, room >> 20),
              "make room, or apply some of the files by their names");
}

}  // namespace igloo::service::changes
