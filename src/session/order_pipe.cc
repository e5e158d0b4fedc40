#include "session/order_pipe.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace igloo::session {

namespace {

constexpr int kUsual = 64 << 10;

}  // namespace

Result<FdPair> MakeOrderPipe() {
  IGLOO_ASSIGN(FdPair ends, MakePipe());
  // Room for one buffer, whose size is a page's.
  (void)::fcntl(ends.second.get(), F_SETPIPE_SZ, 1);
  return ends;
}

bool TellsWhenRead(int pipe) {
  return ::fcntl(pipe, F_GETPIPE_SZ) == static_cast<int>(::sysconf(_SC_PAGESIZE));
}

bool IsRead(int pipe) {
  int left = 0;
  return ::ioctl(pipe, FIONREAD, &left) == 0 && left == 0;
}

void Widen(int pipe) { (void)::fcntl(pipe, F_SETPIPE_SZ, kUsual); }

}  // namespace igloo::session
