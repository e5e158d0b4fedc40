#include "backend/container/host_ids.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "base/private_directory.h"

namespace igloo::backend::container {
namespace {

/// The lock belongs to this open file, not to the process: another one that is opened for another
/// container of the same process meets it, too.
bool Lock(int fd, std::uint32_t block) {
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = block;
  range.l_len = 1;
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

std::uint32_t AnyBlock() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<std::uint32_t>(::getpid());
  }
  return number % kBlocks;
}

}  // namespace

Result<IdBlock> LeaseBlock(const std::string& directory) {
  IGLOO_ASSIGN(const UniqueFd place, OpenPrivateDirectory(directory));
  UniqueFd file(
      ::openat(place.get(), "container-ids", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + directory + "/container-ids'",
                   "root needs a directory '" + directory + "' to write to");
  }
  // Anywhere, so that a block that was just given back is rarely the next one.
  const std::uint32_t begin = AnyBlock();
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    const std::uint32_t block = (begin + i) % kBlocks;
    if (Lock(file.get(), block)) {
      return IdBlock{kFirstId + block * kIdsOfContainer, std::move(file)};
    }
    const int saved_errno = errno;
    if (saved_errno != EAGAIN && saved_errno != EACCES) {
      return FailSys(saved_errno, "cannot lock '" + directory + "/container-ids'");
    }
  }
  return Fail(Errc::kExhausted, "all blocks of host ids for containers are in use",
              "wait for a container to end");
}

}  // namespace igloo::backend::container
