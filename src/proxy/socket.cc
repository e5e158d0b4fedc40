#include "proxy/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proxy/waiting.h"

namespace igloo::proxy {

using network::Address;
using network::Family;
using std::chrono::milliseconds;

namespace {

/// What a client gets to hear why it was not served.
constexpr milliseconds kFarewell(1000);

struct KernelEndpoint {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

std::optional<Endpoint> Understood(const KernelEndpoint& endpoint) {
  if (endpoint.storage.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(endpoint.storage);
    return Endpoint{network::FourOf(reinterpret_cast<const std::uint8_t*>(&four.sin_addr)),
                    ntohs(four.sin_port)};
  }
  if (endpoint.storage.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(endpoint.storage);
    return Endpoint{network::SixOf(six.sin6_addr.s6_addr), ntohs(six.sin6_port)};
  }
  return std::nullopt;
}

int Option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool IsTcp(int fd) {
  const int domain = Option(fd, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) && Option(fd, SO_TYPE) == SOCK_STREAM &&
         Option(fd, SO_PROTOCOL) == IPPROTO_TCP;
}

}  // namespace

Socket::Socket(const asio::any_io_executor& executor, UniqueFd fd) : descriptor_(executor) {
  boost::system::error_code error;
  const int number = fd.get();
  descriptor_.assign(number, error);
  if (!error) (void)fd.Release();
}

asio::awaitable<bool> Socket::Wait(asio::posix::descriptor_base::wait_type what) {
  if (!open()) co_return false;
  boost::system::error_code error;
  auto token = Redirect(error);
  co_await descriptor_.async_wait(what, token);
  co_return !error && open();
}

asio::awaitable<bool> Socket::Readable() {
  const bool ready = co_await Wait(asio::posix::descriptor_base::wait_read);
  co_return ready;
}

asio::awaitable<bool> Socket::Writable() {
  const bool ready = co_await Wait(asio::posix::descriptor_base::wait_write);
  co_return ready;
}

asio::awaitable<std::size_t> Socket::Read(std::string& into) {
  while (open()) {
    if (drained_) {
      // As Readable, which would be two coroutines more for every request.
      boost::system::error_code error;
      auto token = Redirect(error);
      co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, token);
      if (error || !open()) break;
    }
    const ssize_t count = ReadThrough(
        into, [this](char* to, std::size_t size) { return ::recv(fd(), to, size, MSG_DONTWAIT); });
    drained_ = count < static_cast<ssize_t>(kReadSize);
    if (count >= 0) co_return static_cast<std::size_t>(count);
    if (errno != EAGAIN && errno != EINTR) break;
  }
  co_return 0;
}

asio::awaitable<bool> Socket::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!open()) co_return false;
    const ssize_t count = ::send(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) co_return false;
    const bool ready = co_await Writable();
    if (!ready) co_return false;
  }
  co_return true;
}

asio::awaitable<void> Socket::Finish() {
  ShutdownWriting();
  const auto executor = co_await asio::this_coro::executor;
  const Deadline deadline(executor, kFarewell, [this] { Close(); });
  // Closing with bytes unread would take back what was sent.
  std::string thrown_away;
  while (co_await Read(thrown_away) > 0) thrown_away.clear();
  Close();
}

void Socket::Close() {
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

void Socket::CancelWaits() {
  boost::system::error_code ignored;
  if (open()) descriptor_.cancel(ignored);
}

void Socket::ShutdownWriting() {
  if (open()) ::shutdown(fd(), SHUT_WR);
}

void Socket::Abort() {
  if (!open()) return;
  ::shutdown(fd(), SHUT_RDWR);
  CancelWaits();
}

bool Socket::IsStale() const {
  char byte = 0;
  auto& descriptor = const_cast<asio::posix::stream_descriptor&>(descriptor_);
  if (!descriptor.is_open()) return true;
  return ::recv(descriptor.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
         errno != EAGAIN;
}

void Socket::Renew() {
  if (!open()) return;
  boost::system::error_code ignored;
  descriptor_.assign(descriptor_.release(), ignored);
}

void Socket::WhenBroken(std::weak_ptr<void> owner, std::function<void()> broken) {
  if (!open()) return;
  descriptor_.async_wait(asio::posix::descriptor_base::wait_error,
                         [this, owner = std::move(owner),
                          broken = std::move(broken)](boost::system::error_code cancelled) {
                           const auto held = owner.lock();
                           // Urgent data, and two sides that have ended, are told in the same way.
                           if (!cancelled && held && open() && Option(fd(), SO_ERROR) != 0)
                             broken();
                         });
}

UniqueFd Socket::Release() { return open() ? UniqueFd(descriptor_.release()) : UniqueFd(); }

std::optional<Endpoint> PeerOf(int fd) {
  KernelEndpoint endpoint;
  if (::getpeername(fd, endpoint.get(), &endpoint.size) != 0) return std::nullopt;
  return Understood(endpoint);
}

std::optional<Endpoint> SelfOf(int fd) {
  KernelEndpoint endpoint;
  if (::getsockname(fd, endpoint.get(), &endpoint.size) != 0) return std::nullopt;
  return Understood(endpoint);
}

int ConnectTo(int fd, const Endpoint& endpoint) {
  KernelEndpoint kernel;
  if (endpoint.address.family == Family::kFour) {
    auto& four = reinterpret_cast<sockaddr_in&>(kernel.storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(endpoint.port);
    std::memcpy(&four.sin_addr, endpoint.address.bytes.data(), sizeof four.sin_addr);
    kernel.size = sizeof four;
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(kernel.storage);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(endpoint.port);
    std::memcpy(&six.sin6_addr, endpoint.address.bytes.data(), sizeof six.sin6_addr);
    kernel.size = sizeof six;
  }
  return ::connect(fd, kernel.get(), kernel.size);
}

Result<UniqueFd> NewSocket(Family family, int type) {
  UniqueFd fd(::socket(family == Family::kFour ? AF_INET : AF_INET6,
                       type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a socket");
  }
  const int on = 1;
  if (type == SOCK_STREAM) {
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    NoticeAbsence(fd.get());
  }
  return fd;
}

void NoticeAbsence(int fd) {
  constexpr std::pair<int, int> kOptions[] = {
      {TCP_KEEPIDLE, 60}, {TCP_KEEPINTVL, 15}, {TCP_KEEPCNT, 4}};
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  for (const auto& [name, value] : kOptions) {
    ::setsockopt(fd, IPPROTO_TCP, name, &value, sizeof value);
  }
}

void StayLocal(int fd) {
  constexpr std::string_view kUnpaced = "reno";  // the one that every kernel has
  // Where it is not allowed, bytes go more slowly and nothing else.
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kUnpaced.data(), kUnpaced.size());
}

void Adopt(int fd) {
  // SECURITY: one that blocks would stop the network of every sandbox.
  if (const int flags = ::fcntl(fd, F_GETFL); flags >= 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  StayLocal(fd);
  NoticeAbsence(fd);
}

bool IsListener(int fd) { return IsTcp(fd) && Option(fd, SO_ACCEPTCONN) == 1; }

bool IsUnconnected(int fd) { return IsTcp(fd) && Option(fd, SO_ACCEPTCONN) == 0 && !PeerOf(fd); }

UniqueFd Accept(int listener) {
  UniqueFd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int on = 1;
  if (client) ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return client;
}

asio::awaitable<int> FinishConnect(Socket& socket) {
  const bool ready = co_await socket.Writable();
  if (!ready) co_return ETIMEDOUT;
  socket.Renew();
  co_return socket.open() ? Option(socket.fd(), SO_ERROR) : ETIMEDOUT;
}

}  // namespace igloo::proxy
