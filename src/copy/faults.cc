#include "copy/faults.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <vector>

#include "base/pass.h"
#include "copy/proc.h"

namespace igloo::copy {
namespace {

constexpr std::uint64_t kWanted = UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP |
                                  UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP;

/// What goes along with the descriptor.
constexpr char kWord = 'd';

/// More than an interpreter has that nothing was run in.
constexpr std::size_t kMostDescriptors = 256;

/// What recvmsg needs, as it lies in the process that makes the call.
struct Receipt {
  msghdr message = {};
  iovec part = {};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  char word = 0;
};

/// A process that is held, and what it can be made to do with descriptors.
/// SECURITY: nothing is read from its memory, where somebody else may write: what a call has made
/// is seen by which numbers the kernel says are open.
class Hands {
 public:
  /// None where it cannot have numbers of its own.
  static Result<std::optional<Hands>> Of(const Tracee& tracee, const AddressSpace& memory) {
    UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, tracee.pid(), 0)));
    IGLOO_ASSIGN(const Registers registers, tracee.Read());
    // SECURITY: a process beside it that has all descriptors in common would have these, too.
    // Closes nothing but that: no number is that high.
    IGLOO_ASSIGN(const std::int64_t parted,
                 tracee.Call(SYS_close_range, {~0U, ~0U, CLOSE_RANGE_UNSHARE}));
    IGLOO_ASSIGN(std::set<int> before, OpenNumbers(tracee.pid(), kMostDescriptors));
    if (!process || parted != 0 || before.size() > kMostDescriptors) return std::nullopt;
    // Of its stack, and nobody's: see ProcessCopy::Scratch.
    const std::uint64_t at = (StackPointerOf(registers) - 1024) & ~15ULL;
    return Hands(tracee, memory, std::move(process), std::move(before), at);
  }

  /// Has it make a userfaultfd of its own by way of the device.
  Result<UniqueFd> MakeFaults(int device) const {
    IGLOO_ASSIGN(const std::uint64_t theirs, Give(device));
    IGLOO_ASSIGN(const std::int64_t made,
                 tracee_.Call(SYS_ioctl, {theirs, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK}));
    UniqueFd fd;
    if (made >= 0) {
      fd = Take(static_cast<std::uint64_t>(made));
      IGLOO_TRY(Close(static_cast<std::uint64_t>(made)));
    }
    IGLOO_TRY(Close(theirs));
    return fd;
  }

  /// SECURITY: nothing of what it was given stays in there. If something did, it never runs again.
  Result<void> CheckNothingStays() const {
    const auto gained = Gained();
    if (gained && gained->empty()) return {};
    ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    return Fail(Errc::kInternal, "a descriptor of the new session stays open",
                "try again: the session that it was to be a copy of is as it was");
  }

 private:
  Hands(const Tracee& tracee, const AddressSpace& memory, UniqueFd process, std::set<int> before,
        std::uint64_t at)
      : tracee_(tracee),
        memory_(memory),
        process_(std::move(process)),
        before_(std::move(before)),
        at_(at) {}

  static Error Unwilling() {
    return {Errc::kProtocol, "the new session's interpreter does not take what it is given",
            "try again: the session that it was to be a copy of is as it was", 0};
  }

  /// Ours, of one of its numbers.
  UniqueFd Take(std::uint64_t number) const {
    return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.get(), number, 0)));
  }

  Result<void> Close(std::uint64_t number) const {
    IGLOO_ASSIGN(const std::int64_t closed, tracee_.Call(SYS_close, {number}));
    if (closed != 0) return std::unexpected(Unwilling());
    return {};
  }

  /// What it has open by now and had not before.
  Result<std::vector<std::uint64_t>> Gained() const {
    IGLOO_ASSIGN(const std::set<int> now, OpenNumbers(tracee_.pid(), kMostDescriptors + 4));
    std::vector<std::uint64_t> gained;
    std::ranges::set_difference(now, before_, std::back_inserter(gained));
    return gained;
  }

  /// Gives it a descriptor; its number in there.
  Result<std::uint64_t> Give(int fd) const {
    IGLOO_ASSIGN(const std::int64_t made,
                 tracee_.Call(SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Place(0)}));
    IGLOO_ASSIGN(const std::vector<std::uint64_t> pair, Gained());
    if (made != 0 || pair.size() != 2) return std::unexpected(Unwilling());
    const UniqueFd socket = Take(pair[0]);
    IGLOO_TRY(Close(pair[0]));
    Result<void> received = std::unexpected(Unwilling());
    if (socket) received = Pass(socket.get(), fd, pair[1]);
    IGLOO_TRY(Close(pair[1]));
    IGLOO_TRY(received);
    IGLOO_ASSIGN(const std::vector<std::uint64_t> given, Gained());
    if (given.size() != 1) return std::unexpected(Unwilling());
    return given.front();
  }

  Result<void> Pass(int socket, int fd, std::uint64_t theirs) const {
    const int given[] = {fd};
    IGLOO_TRY(PassFds(socket, kWord, given));
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
                 tracee_.Call(SYS_recvmsg, {theirs, Place(offsetof(Receipt, message)),
                                            MSG_CMSG_CLOEXEC | MSG_DONTWAIT}));
    if (count != 1) return std::unexpected(Unwilling());
    return {};
  }

  std::uint64_t Place(std::size_t offset) const { return at_ + offset; }

  const Tracee& tracee_;
  const AddressSpace& memory_;
  UniqueFd process_;
  std::set<int> before_;  ///< its numbers
  std::uint64_t at_;
};

}  // namespace

Result<std::optional<Faults>> Faults::Of(const Tracee& tracee, const AddressSpace& memory) {
  const UniqueFd device(::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
  if (!device) return std::nullopt;
  IGLOO_ASSIGN(const std::optional<Hands> hands, Hands::Of(tracee, memory));
  if (!hands) return std::nullopt;
  auto fd = hands->MakeFaults(device.get());
  IGLOO_TRY(hands->CheckNothingStays());
  if (!fd) return std::unexpected(fd.error());
  uffdio_api api{.api = UFFD_API, .features = kWanted, .ioctls = 0};
  if (!*fd || ::ioctl(fd->get(), UFFDIO_API, &api) != 0) return std::nullopt;
  return Faults(std::move(*fd));
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
