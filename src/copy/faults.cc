#include "copy/faults.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/pass.h"

namespace igloo::copy {
namespace {

constexpr std::uint64_t kWanted = UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP |
                                  UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP;

/// What goes along with the descriptor.
constexpr char kWord = 'd';

/// What recvmsg needs, as it lies in the process that makes the call.
struct Receipt {
  msghdr message = {};
  iovec part = {};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  char word = 0;
  int sockets[2] = {-1, -1};  ///< as socketpair leaves them
};

/// A process that is held, and what it can be made to do with descriptors.
class Hands {
 public:
  static Result<Hands> Of(const Tracee& tracee, const AddressSpace& memory) {
    UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, tracee.pid(), 0)));
    IGLOO_ASSIGN(const Registers registers, tracee.Read());
    // Of its stack, and nobody's: see ProcessCopy::Scratch.
    return Hands(tracee, memory, std::move(process), (registers.general.rsp - 1024) & ~15ULL);
  }

  /// Ours, of one of its numbers.
  UniqueFd Take(std::uint64_t number) const {
    return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.get(), number, 0)));
  }

  /// SECURITY: nothing of what it was given stays in there.
  Result<void> Close(std::uint64_t number) const {
    IGLOO_ASSIGN(const std::int64_t closed, tracee_.Call(SYS_close, {number}));
    if (closed != 0) return Fail(Errc::kInternal, "a descriptor of the new session stays open");
    return {};
  }

  /// Gives it a descriptor; its number in there. None where igloo may take none of its.
  Result<std::optional<std::uint64_t>> Give(int fd) const {
    Receipt receipt;
    IGLOO_TRY(memory_.Write(at_, reinterpret_cast<const char*>(&receipt), sizeof receipt));
    IGLOO_ASSIGN(const std::int64_t made,
                 tracee_.Call(SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
                                               Place(offsetof(Receipt, sockets))}));
    if (made != 0) return std::unexpected(Unwilling());
    IGLOO_TRY(memory_.Read(at_, reinterpret_cast<char*>(&receipt), sizeof receipt));
    const auto ours = static_cast<std::uint64_t>(receipt.sockets[0]);
    const auto theirs = static_cast<std::uint64_t>(receipt.sockets[1]);
    const UniqueFd socket = Take(ours);
    IGLOO_TRY(Close(ours));
    std::optional<std::uint64_t> number;
    if (socket) {
      const int given[] = {fd};
      IGLOO_TRY(PassFds(socket.get(), kWord, given));
      IGLOO_ASSIGN(number, Receive(theirs));
    }
    IGLOO_TRY(Close(theirs));
    return number;
  }

 private:
  Hands(const Tracee& tracee, const AddressSpace& memory, UniqueFd process, std::uint64_t at)
      : tracee_(tracee), memory_(memory), process_(std::move(process)), at_(at) {}

  static Error Unwilling() {
    return {Errc::kProtocol, "the new session's interpreter does not take what it is given", {}, 0};
  }

  std::uint64_t Place(std::size_t offset) const { return at_ + offset; }

  Result<std::uint64_t> Receive(std::uint64_t socket) const {
    // Addresses of the other process, as the kernel wants them.
    const auto place = [&](std::size_t offset) {
      return reinterpret_cast<void*>(Place(offset));  // NOLINT(performance-no-int-to-ptr)
    };
    Receipt receipt;
    receipt.part = {place(offsetof(Receipt, word)), 1};
    receipt.message.msg_iov = static_cast<iovec*>(place(offsetof(Receipt, part)));
    receipt.message.msg_iovlen = 1;
    receipt.message.msg_control = place(offsetof(Receipt, control));
    receipt.message.msg_controllen = sizeof receipt.control;
    IGLOO_TRY(memory_.Write(at_, reinterpret_cast<const char*>(&receipt), sizeof receipt));
    IGLOO_ASSIGN(const std::int64_t count,
                 tracee_.Call(SYS_recvmsg, {socket, Place(offsetof(Receipt, message)),
                                            MSG_CMSG_CLOEXEC | MSG_DONTWAIT}));
    IGLOO_TRY(memory_.Read(at_, reinterpret_cast<char*>(&receipt), sizeof receipt));
    const auto* header = reinterpret_cast<const cmsghdr*>(receipt.control);
    if (count != 1 || receipt.word != kWord || header->cmsg_type != SCM_RIGHTS) {
      return std::unexpected(Unwilling());
    }
    int number = -1;
    ::memcpy(&number, CMSG_DATA(header), sizeof number);
    return static_cast<std::uint64_t>(number);
  }

  const Tracee& tracee_;
  const AddressSpace& memory_;
  UniqueFd process_;
  std::uint64_t at_;
};

}  // namespace

Result<std::optional<Faults>> Faults::Of(const Tracee& tracee, const AddressSpace& memory) {
  const UniqueFd device(::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
  if (!device) return std::nullopt;
  IGLOO_ASSIGN(const Hands hands, Hands::Of(tracee, memory));
  IGLOO_ASSIGN(const std::optional<std::uint64_t> theirs, hands.Give(device.get()));
  if (!theirs) return std::nullopt;
  IGLOO_ASSIGN(const std::int64_t made,
               tracee.Call(SYS_ioctl, {*theirs, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK}));
  UniqueFd fd;
  if (made >= 0) {
    fd = hands.Take(static_cast<std::uint64_t>(made));
    IGLOO_TRY(hands.Close(static_cast<std::uint64_t>(made)));
  }
  IGLOO_TRY(hands.Close(*theirs));
  uffdio_api api{.api = UFFD_API, .features = kWanted, .ioctls = 0};
  if (!fd || ::ioctl(fd.get(), UFFDIO_API, &api) != 0) return std::nullopt;
  return Faults(std::move(fd));
}

Result<void> Faults::Register(std::uint64_t at, std::uint64_t size) const {
  uffdio_register order{};
  order.range = {.start = at, .len = size};
  order.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (::ioctl(fd_.get(), UFFDIO_REGISTER, &order) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot watch the memory of the new session's interpreter");
}

void Faults::Wake(std::uint64_t page) const {
  uffdio_range range{.start = page, .len = kPageSize};
  ::ioctl(fd_.get(), UFFDIO_WAKE, &range);
}

Result<Faults::Outcome> Faults::Give(std::uint64_t at, const char* bytes, std::size_t size) const {
  std::size_t step = size;
  bool unknown = false;
  for (std::size_t done = 0; done < size;) {
    uffdio_copy order{.dst = at + done,
                      .src = reinterpret_cast<std::uint64_t>(bytes) + done,
                      .len = std::min(step, size - done),
                      .mode = 0,
                      .copy = 0};
    const bool fine = ::ioctl(fd_.get(), UFFDIO_COPY, &order) == 0;
    const int saved_errno = errno;
    if (fine || order.copy > 0) {
      done += static_cast<std::size_t>(order.copy);
      unknown = false;
    } else if (saved_errno == EAGAIN) {
      return Outcome::kChanging;
    } else if (saved_errno == EEXIST) {
      Wake(at + done);
      done += kPageSize;
    } else if (saved_errno == ESRCH || saved_errno == ENOSPC) {
      return Outcome::kGone;
    } else if (saved_errno == ENOENT && step > kPageSize) {
      step = kPageSize;  // the process has made several mappings of it
    } else if (saved_errno == ENOENT && !unknown) {
      // The process may be taking it away just now: then the kernel says so the next time.
      unknown = true;
    } else {
      return FailSys(saved_errno, "cannot write the memory of the new session's interpreter");
    }
  }
  return Outcome::kDone;
}

Result<Faults::Outcome> Faults::GiveZeros(std::uint64_t page) const {
  uffdio_zeropage order{};
  order.range = {.start = page, .len = kPageSize};
  if (::ioctl(fd_.get(), UFFDIO_ZEROPAGE, &order) == 0) return Outcome::kDone;
  const int saved_errno = errno;
  if (saved_errno == EAGAIN) return Outcome::kChanging;
  if (saved_errno == ESRCH || saved_errno == ENOSPC) return Outcome::kGone;
  if (saved_errno == EEXIST || saved_errno == ENOENT) {
    Wake(page);  // somebody was faster, or it is no more
    return Outcome::kDone;
  }
  return FailSys(saved_errno, "cannot write the memory of the new session's interpreter");
}

Result<std::optional<uffd_msg>> Faults::Hear() const {
  uffd_msg said{};
  const ssize_t count = ::read(fd_.get(), &said, sizeof said);
  if (count == sizeof said) return said;
  const int saved_errno = errno;
  if (count < 0 && (saved_errno == EAGAIN || saved_errno == EINTR)) return std::nullopt;
  return FailSys(saved_errno, "cannot hear what the new session's interpreter waits for");
}

}  // namespace igloo::copy
