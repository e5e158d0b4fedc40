#include "copy/serve.h"

#include <sys/socket.h>

#include <array>
#include <vector>

#include "base/descriptors.h"
#include "copy/address_space.h"
#include "copy/inside.h"
#include "copy/proc.h"
#include "copy/protocol.h"
#include "copy/tracee.h"
#include "copy/transplant.h"
#include "copy/wall.h"
#include "copy/write_checkpoint.h"

namespace igloo::copy {
namespace {

struct Received {
  Order order;
  std::vector<UniqueFd> inits;
};

Result<Received> Receive(int socket) {
  std::array<char, kLongestPacket> bytes;
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<4> room;
  room.Receive(message);
  const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) return Fail(Errc::kProtocol, "igloo gave igloo-copy no order");
  std::vector<UniqueFd> inits = DescriptorsOf(message);
  IGLOO_ASSIGN(const Order order, DecodeOrder({bytes.data(), static_cast<std::size_t>(size)}));
  const std::size_t wanted = order.kind == Order::Kind::kFork ? 2 : 1;
  if (inits.size() != wanted) return Fail(Errc::kProtocol, "an order came without its sandboxes");
  return Received{order, std::move(inits)};
}

/// With a descriptor, or -1.
Result<void> Say(int socket, const News& news, int fd = -1) {
  std::string packet = Encode(news);
  iovec part{packet.data(), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<1> room;
  const int fds[] = {fd};
  if (fd >= 0) room.Send(message, fds);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "igloo does not listen any more");
}

Result<UniqueFd> Checkpoint(const Order& order, int init) {
  IGLOO_ASSIGN(const pid_t pid, FindInside(init, order.original));
  IGLOO_TRY(EnterSandboxOf(pid));
  IGLOO_ASSIGN(const Tracee tracee, Tracee::Hold(pid));
  // SECURITY: it may have ended meanwhile, and its number may have become somebody else's.
  IGLOO_ASSIGN(const pid_t again, FindInside(init, order.original));
  if (again != pid) return Fail(Errc::kFailedPrecondition, "the interpreter ended");
  IGLOO_ASSIGN(const AddressSpace memory, AddressSpace::Open(pid));
  IGLOO_ASSIGN(const ProcessTexts texts, ReadTexts(pid));
  // SECURITY: all that has a name is open by now, and not a byte of hostile memory was read.
  IGLOO_TRY(RaiseWall());
  return WriteCheckpoint(
      tracee, memory, texts,
      {.pid = order.restored_as, .descriptor = order.descriptor, .memory = order.memory});
}

Result<void> Fork(int socket, Received received) {
  const SandboxedProcess original{std::move(received.inits[0]), received.order.original};
  const SandboxedProcess copy{std::move(received.inits[1]), received.order.copy};
  bool answered = false;
  const Progress progress{
      .expects = [&](bool closed) { (void)Say(socket, news::Expects{closed}); },
      .answered =
          [&] {
            char word = 0;
            answered = answered || ::recv(socket, &word, 1, MSG_DONTWAIT) >= 0;
            return answered;
          },
      .holds = [&](pid_t inner) { (void)Say(socket, news::Holds{inner}); },
      .goes_on = [&] { (void)Say(socket, news::GoesOn{}); },
      .lost = [&](const Error& error) { (void)Say(socket, news::Failed{error.what, error.hint}); }};
  return Transplant(original, copy, progress);
}

}  // namespace

Result<void> Serve(int socket) {
  // Before anything is given up.
  if (ProcDirectory() < 0) return Fail(Errc::kFailedPrecondition, "there is no /proc");
  IGLOO_ASSIGN(Received received, Receive(socket));
  Error failure;
  if (received.order.kind == Order::Kind::kFork) {
    auto forked = Fork(socket, std::move(received));
    if (forked) return Say(socket, news::Complete{});
    failure = std::move(forked).error();
  } else {
    auto written = Checkpoint(received.order, received.inits[0].get());
    if (written) return Say(socket, news::Written{}, written->get());
    failure = std::move(written).error();
  }
  return Say(socket, news::Failed{failure.what, failure.hint});
}

}  // namespace igloo::copy
