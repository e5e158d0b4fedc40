#include "mcp/http_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/overloaded.h"
#include "base/private_directory.h"

namespace igloo::mcp {

namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

std::unexpected<Error> CannotListen(int saved_errno, const HttpAddress& address, std::string hint) {
  return FailSys(saved_errno, "cannot listen on " + ToText(address), std::move(hint));
}

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

sockaddr_un NameOf(const UnixSocket& socket) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  // Its length was looked at before.
  std::ranges::copy(socket.path, name.sun_path);
  return name;
}

/// Looks at the directory of a socket, in which nobody else may put anything.
Result<void> CheckDirectory(const UnixSocket& socket) {
  const std::string directory =
      socket.path.substr(0, std::max<std::size_t>(socket.path.rfind('/'), 1));
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + directory + "', where the socket is to be",
                   "make that directory: mkdir -p -m 700");
  }
  // SECURITY: whoever may write there could put a socket of their own in this one's place, and
  // clients would send them their code.
  const bool ours = info.st_uid == ::geteuid() || info.st_uid == 0;
  if (!ours || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Fail(Errc::kPermissionDenied, "others may write to '" + directory + "'",
                "use a directory of your own with mode 0700");
  }
  return {};
}

/// Of two servers that start at the same moment, the second would take the first for stale; a lock
/// file beside the socket keeps them apart while they start.
/// SECURITY: not the directory itself: others may open it, and could hold a lock on it for ever.
class StartLock {
 public:
  static Result<StartLock> Take(const UnixSocket& socket) {
    const std::string path = socket.path + ".lock";
    for (int tries = 0; tries < 3; ++tries) {
      auto fd = LockPrivateFile(path);
      if (!fd) {
        Error error = Wrap("cannot listen on " + ToText(socket), std::move(fd).error()).error();
        if (error.hint.empty()) error.hint = "choose a path where you may write";
        return std::unexpected(std::move(error));
      }
      // Another server has removed the file that was opened, and perhaps a third one made a new
      // one.
      struct stat named{}, open{};
      const bool same = ::lstat(path.c_str(), &named) == 0 && ::fstat(fd->get(), &open) == 0 &&
                        named.st_dev == open.st_dev && named.st_ino == open.st_ino;
      if (same) return StartLock(path, *std::move(fd));
    }
    return Fail(Errc::kFailedPrecondition,
                "other servers are starting on '" + socket.path + "' at this moment", "try again");
  }
  StartLock(StartLock&&) = default;
  StartLock& operator=(StartLock&&) = delete;
  ~StartLock() {
    if (fd_) ::unlink(path_.c_str());  // while it is still locked
  }

 private:
  StartLock(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
};

/// Makes room for a socket: what a server left that has ended, and nothing else, is removed.
Result<void> RemoveStale(const UnixSocket& socket, sockaddr_un name) {
  struct stat info{};
  if (::lstat(socket.path.c_str(), &info) != 0) return {};  // binding tells what is wrong, if it is
  if (!S_ISSOCK(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + socket.path + "' is there and no socket",
                "choose another name");
  }
  const UniqueFd probe(::socket(AF_UNIX, kSocketFlags, 0));
  const bool heard = ::connect(probe.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 ||
                     errno != ECONNREFUSED;
  if (heard) {
    return CannotListen(EADDRINUSE, socket, "a server is there already: use it, or end it first");
  }
  if (::unlink(socket.path.c_str()) != 0 && errno != ENOENT) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove the old socket '" + socket.path + "'");
  }
  return {};
}

}  // namespace

Result<HttpListener> HttpListener::Open(const HttpAddress& address) {
  return std::visit(Overloaded{[](const TcpAddress& tcp) { return OpenTcp(tcp); },
                               [](const UnixSocket& socket) { return OpenUnix(socket); }},
                    address);
}

Result<HttpListener> HttpListener::OpenTcp(const TcpAddress& address) {
  IGLOO_ASSIGN(Endpoint endpoint, EndpointOf(address));
  UniqueFd fd(::socket(endpoint.storage.ss_family, kSocketFlags, 0));
  const int on = 1;
  // Without it, the port of a server that has just ended stays taken for a minute.
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), endpoint.get(), endpoint.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), endpoint.get(), &endpoint.size) != 0) {
    const int saved_errno = errno;
    const bool taken = saved_errno == EADDRINUSE || saved_errno == EACCES;
    return CannotListen(saved_errno, address,
                        taken ? "choose another port" : "use an address that this machine has");
  }
  return HttpListener(std::move(fd), TcpAddress{address.host, endpoint.port()});
}

Result<HttpListener> HttpListener::OpenUnix(const UnixSocket& socket) {
  IGLOO_TRY(ParseHttpAddress(ToText(socket)));  // its form
  IGLOO_TRY(CheckDirectory(socket));
  IGLOO_ASSIGN(const StartLock lock, StartLock::Take(socket));
  sockaddr_un name = NameOf(socket);
  IGLOO_TRY(RemoveStale(socket, name));
  UniqueFd fd(::socket(AF_UNIX, kSocketFlags, 0));
  struct stat info{};
  // SECURITY: before it has a name: the file gets the mode of the socket, so there is no moment in
  // which others could connect, whatever the umask.
  if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 ||
      ::lstat(socket.path.c_str(), &info) != 0) {
    const int saved_errno = errno;
    return CannotListen(saved_errno, socket, "choose a path where you may write");
  }
  HttpListener listener(std::move(fd), socket);
  listener.inode_ = info.st_ino;
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0 || ::listen(listener.fd(), SOMAXCONN) != 0) {
    const int saved_errno = errno;
    return CannotListen(saved_errno, socket, "choose a path on a file system that keeps modes");
  }
  return listener;
}

HttpListener::~HttpListener() {
  const auto* socket = std::get_if<UnixSocket>(&address_);
  struct stat info{};
  if (!fd_ || socket == nullptr || ::lstat(socket->path.c_str(), &info) != 0) return;
  if (info.st_ino == inode_) ::unlink(socket->path.c_str());
}

Result<std::optional<UniqueFd>> HttpListener::Accept() const {
  UniqueFd client(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client) {
    const int saved_errno = errno;
    const bool lacks = saved_errno == EMFILE || saved_errno == ENFILE || saved_errno == ENOBUFS ||
                       saved_errno == ENOMEM || saved_errno == EBADF || saved_errno == EINVAL;
    if (lacks) return FailSys(saved_errno, "cannot take in a client");
    return std::nullopt;  // it has gone away again
  }
  if (std::holds_alternative<TcpAddress>(address_)) {
    const int on = 1;  // an event is worth a packet
    ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return client;
  }
  // SECURITY: not only by the file's mode, which its owner may change.
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = ::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (!known || !MayCall(peer.uid, ::geteuid())) return std::nullopt;
  return client;
}

}  // namespace igloo::mcp
