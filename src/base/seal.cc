#include "base/seal.h"

#include <cerrno>

namespace igloo {

Result<void> SealFile(int fd, const char* doing) {
  // While the kernel itself works with a page (it moves one, or looks how often it is used), the
  // page counts as one that somebody might write to. The kernel waits 150 ms for that, then says
  // EBUSY, although nobody is there who would write.
  constexpr int kTries = 20;
  int failure = 0;
  for (int i = 0; i < kTries; ++i) {
    if (::fcntl(fd, F_ADD_SEALS, kAllSeals) == 0) return {};
    failure = errno;
    if (failure != EBUSY) break;
  }
  return FailSys(failure, doing);
}

}  // namespace igloo
