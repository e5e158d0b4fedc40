#include "session/fork/copier.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/seal.h"
#include "checkpoint/format.h"
#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::descriptor_base;

namespace {

constexpr const char* kInstead = "begin another session and run the same code there";

/// SECURITY: every sandbox of a recipe gets the file. Sealed, so that nobody changes what the next
/// one gets, not even who has written it; of memory, so that reading it never waits; and what was
/// asked for, so that igloo-init finds in it what it expects.
Result<void> CheckCheckpoint(int file, const copy::Order& order) {
  struct stat info{};
  const int seals = ::fcntl(file, F_GET_SEALS);  // -1: what has no such thing
  const bool sealed = seals >= 0 && (seals & kAllSeals) == kAllSeals && ::fstat(file, &info) == 0 &&
                      S_ISREG(info.st_mode);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  checkpoint::Header header;
  if (!sealed || size > checkpoint::kMaxWindow + checkpoint::kMaxMemory ||
      ::pread(file, &header, sizeof header, checkpoint::kPage) != sizeof header) {
    return Fail(Errc::kProtocol, "igloo-copy's checkpoint is not a sealed file, or too large");
  }
  if (!checkpoint::IsSound(header) || header.window > size ||
      header.pid != static_cast<std::uint32_t>(order.restored_as) ||
      header.descriptor != order.descriptor) {
    return Fail(Errc::kProtocol, "igloo-copy's checkpoint is not the one that was asked for");
  }
  return {};
}

Result<std::optional<Copier::Heard>> Receive(int socket, const copy::Order& order) {
  std::array<char, copy::kLongestPacket> bytes;
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<1> room;
  room.Receive(message);
  const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size <= 0) return std::nullopt;
  std::vector<UniqueFd> came = DescriptorsOf(message);
  Copier::Heard heard;
  IGLOO_ASSIGN(heard.news, copy::DecodeNews({bytes.data(), static_cast<std::size_t>(size)}));
  const bool written = std::holds_alternative<copy::news::Written>(heard.news);
  if (came.size() != (written ? 1U : 0U)) {
    return Fail(Errc::kProtocol, "igloo-copy sent files that nobody asked for, or none");
  }
  if (written) {
    IGLOO_TRY(CheckCheckpoint(came.front().get(), order));
    heard.file = std::move(came.front());
  }
  return heard;
}

/// Whether there is a packet, or the end. The kernel tells once that the other side closed its end
/// without having read everything (ECONNRESET); what it had said before is still there.
bool IsSomethingThere(int socket) {
  char ignored = 0;
  const auto look = [&] { return ::recv(socket, &ignored, 1, MSG_PEEK | MSG_DONTWAIT); };
  ssize_t there = look();
  if (there < 0 && errno == ECONNRESET) there = look();
  return there >= 0 || (errno != EAGAIN && errno != EINTR);
}

}  // namespace

Copier::Copier(asio::io_context& loop, Child child, UniqueFd socket, const copy::Order& order,
               std::chrono::milliseconds limit)
    : child_(std::move(child)),
      socket_(loop, socket.Release()),
      order_(order),
      deadline_(loop, limit) {
  deadline_.async_wait([this, late = std::weak_ptr<bool>(late_)](boost::system::error_code error) {
    const auto here = late.lock();
    if (error || !here) return;
    *here = true;
    child_.Signal(SIGKILL);
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  });
}

Result<std::unique_ptr<Copier>> Copier::Start(asio::io_context& loop, const std::string& program,
                                              const copy::Order& order, std::span<const int> inits,
                                              std::chrono::milliseconds limit) {
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_SEQPACKET));
  std::string packet = copy::Encode(order);
  iovec part{packet.data(), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<2> room;
  room.Send(message, inits);
  if (::sendmsg(pair.first.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot give igloo-copy its order");
  }
  const SpawnOptions spawn{.program = program,
                           .argv = {"igloo-copy"},
                           .fds = {{pair.second.get(), copy::kSocket}},
                           .own_session = true};
  auto started = Spawn(spawn);
  if (!started) {
    Error error = Wrap("cannot start igloo-copy", std::move(started).error()).error();
    error.hint = "install igloo completely ('make install')";
    return std::unexpected(std::move(error));
  }
  return std::unique_ptr<Copier>(
      new Copier(loop, *std::move(started), std::move(pair.first), order, limit));
}

asio::awaitable<Result<std::optional<Copier::Heard>>> Copier::Hear() {
  for (;;) {
    if (*late_) co_return Fail(Errc::kTimeout, "igloo-copy takes too long", kInstead);
    if (IsSomethingThere(socket_.native_handle())) {
      co_return Receive(socket_.native_handle(), order_);
    }
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await socket_.async_wait(descriptor_base::wait_read, token);
    if (error && !*late_) co_return std::optional<Heard>();
  }
}

void Copier::Answered() {
  (void)::send(socket_.native_handle(), copy::kAnswered.data(), copy::kAnswered.size(),
               MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace igloo::session
