#include "http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/overloaded.h"

namespace igloo::http {

namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

/// An address of either family as the kernel takes it.
struct Endpoint {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  std::uint16_t port() const {
    return ntohs(storage.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                     : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  }
};

Result<Endpoint> EndpointOf(const TcpAddress& address) {
  Endpoint endpoint;
  auto& four = reinterpret_cast<sockaddr_in&>(endpoint.storage);
  auto& six = reinterpret_cast<sockaddr_in6&>(endpoint.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(address.port);
    endpoint.size = sizeof four;
  } else if (::inet_pton(AF_INET6, address.host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    endpoint.size = sizeof six;
  } else {
    return Fail(Errc::kInvalidArgument, "'" + address.host + "' is no address", "use 127.0.0.1");
  }
  return endpoint;
}

}  // namespace

Result<Listener> Listener::Open(const Address& address) {
  return std::visit(Overloaded{[](const TcpAddress& tcp) { return OpenTcp(tcp); },
                               [](const UnixSocket& socket) { return OpenUnix(socket); }},
                    address);
}

Result<Listener> Listener::OpenTcp(const TcpAddress& address) {
  IGLOO_ASSIGN(Endpoint endpoint, EndpointOf(address));
  UniqueFd fd(::socket(endpoint.storage.ss_family, kSocketFlags, 0));
  const int on = 1;
  // Without it, the port of a server that has just ended stays taken for a minute.
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), endpoint.get(), endpoint.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), endpoint.get(), &endpoint.size) != 0) {
    const int saved_errno = errno;
    const bool taken = saved_errno == EADDRINUSE || saved_errno == EACCES;
    return FailSys(saved_errno, "cannot listen on " + ToText(address),
                   taken ? "choose another port" : "use an address that this machine has");
  }
  return Listener(std::move(fd), TcpAddress{address.host, endpoint.port()});
}

Result<Listener> Listener::OpenUnix(const UnixSocket& socket) {
  IGLOO_ASSIGN(UnixListener listener, UnixListener::Open(socket.path));
  return Listener(std::move(listener), socket);
}

int Listener::fd() const {
  return std::visit(Overloaded{[](const UniqueFd& tcp) { return tcp.get(); },
                               [](const UnixListener& named) { return named.fd(); }},
                    socket_);
}

Result<std::optional<UniqueFd>> Listener::Accept() const {
  if (const auto* named = std::get_if<UnixListener>(&socket_)) return named->Accept();
  IGLOO_ASSIGN(std::optional<UniqueFd> client, AcceptClient(fd()));
  const int on = 1;  // an event is worth a packet
  if (client) ::setsockopt(client->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return client;
}

}  // namespace igloo::http
