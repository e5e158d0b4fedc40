#include "base/unix_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/private_directory.h"
#include "base/text.h"

namespace igloo {

namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

std::unexpected<Error> CannotListen(int saved_errno, const std::string& path, std::string hint) {
  return FailSys(saved_errno, "cannot listen on unix:" + path, std::move(hint));
}

constexpr std::size_t kLongestName = sizeof(sockaddr_un::sun_path) - 1;

/// A socket's name as the kernel takes it. A path that is too long is reached through its
/// directory, which stays open as long as this is there.
class SocketName {
 public:
  static Result<SocketName> Of(const std::string& path) {
    SocketName made;
    std::string text = path;
    if (path.starts_with('/') && path.size() > kLongestName) {
      const std::size_t slash = path.rfind('/');
      made.directory_.Reset(
          ::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!made.directory_) {
        const int saved_errno = errno;
        return FailSys(saved_errno, "cannot open the directory of '" + Printable(path) + "'");
      }
      text = "/proc/self/fd/" + std::to_string(made.directory_.get()) + path.substr(slash);
    }
    IGLOO_TRY(CheckSocketPath(text));
    made.name_.sun_family = AF_UNIX;
    std::ranges::copy(text, made.name_.sun_path);
    return made;
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name_); }
  static constexpr socklen_t kSize = sizeof(sockaddr_un);

 private:
  UniqueFd directory_ = {};
  sockaddr_un name_ = {};
};

/// Who is at the other end; nobody (65534) if the kernel does not say.
uid_t PeerOf(int socket) {
  constexpr uid_t kNobody = 65534;
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known ? peer.uid : kNobody;
}

/// Looks at the directory of a socket, in which nobody else may put anything.
Result<void> CheckDirectory(const std::string& path) {
  const std::string directory = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
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
  static Result<StartLock> Take(const std::string& socket) {
    const std::string path = socket + ".lock";
    for (int tries = 0; tries < 3; ++tries) {
      auto fd = LockPrivateFile(path);
      if (!fd) {
        Error error = Wrap("cannot listen on unix:" + socket, std::move(fd).error()).error();
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
                "other servers are starting on '" + socket + "' at this moment", "try again");
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
Result<void> RemoveStale(const std::string& path, const SocketName& name) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return {};  // binding tells what is wrong, if it is
  if (!S_ISSOCK(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + path + "' is there and no socket",
                "choose another name");
  }
  const UniqueFd probe(::socket(AF_UNIX, kSocketFlags, 0));
  const bool heard =
      ::connect(probe.get(), name.get(), SocketName::kSize) == 0 || errno != ECONNREFUSED;
  if (heard) {
    return CannotListen(EADDRINUSE, path, "a server is there already: use it, or end it first");
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove the old socket '" + path + "'");
  }
  return {};
}

}  // namespace

Result<void> CheckSocketPath(std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/')) {
    return Fail(Errc::kInvalidArgument,
                "'" + Printable(path) + "' cannot be a socket's name: it must begin with '/'",
                "write unix: and the whole path, as in unix:/run/user/1000/igloo.sock");
  }
  if (path.find('\0') != std::string_view::npos || path.size() > kLongestName) {
    return Fail(Errc::kInvalidArgument,
                "the socket's path has " + std::to_string(path.size()) + " bytes",
                "choose one with at most 107 bytes, which is all that the kernel takes");
  }
  return {};
}

Result<UniqueFd> ConnectToOwn(const std::string& path) {
  IGLOO_ASSIGN(const SocketName name, SocketName::Of(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), name.get(), SocketName::kSize) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot reach the server at '" + Printable(path) + "'");
  }
  // SECURITY: whoever could put a socket there would get what is typed.
  if (MayCall(PeerOf(socket.get()), ::geteuid())) return socket;
  return Fail(Errc::kPermissionDenied,
              "the server at '" + Printable(path) + "' is somebody else's");
}

Result<std::optional<UniqueFd>> AcceptClient(int listener) {
  UniqueFd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client) return client;
  const int saved_errno = errno;
  const bool lacks = saved_errno == EMFILE || saved_errno == ENFILE || saved_errno == ENOBUFS ||
                     saved_errno == ENOMEM || saved_errno == EBADF || saved_errno == EINVAL;
  if (lacks) return FailSys(saved_errno, "cannot take in a client");
  return std::nullopt;  // it has gone away again
}

Result<UnixListener> UnixListener::Open(const std::string& path) {
  IGLOO_ASSIGN(const SocketName name, SocketName::Of(path));
  IGLOO_TRY(CheckDirectory(path));
  IGLOO_ASSIGN(const StartLock lock, StartLock::Take(path));
  IGLOO_TRY(RemoveStale(path, name));
  UniqueFd fd(::socket(AF_UNIX, kSocketFlags, 0));
  struct stat info{};
  // SECURITY: before it has a name: the file gets the mode of the socket, so there is no moment in
  // which others could connect, whatever the umask.
  if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(fd.get(), name.get(), SocketName::kSize) != 0 || ::lstat(path.c_str(), &info) != 0) {
    const int saved_errno = errno;
    return CannotListen(saved_errno, path, "choose a path where you may write");
  }
  UnixListener listener(std::move(fd), path);
  listener.inode_ = info.st_ino;
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0 || ::listen(listener.fd(), SOMAXCONN) != 0) {
    const int saved_errno = errno;
    return CannotListen(saved_errno, path, "choose a path on a file system that keeps modes");
  }
  return listener;
}

UnixListener::~UnixListener() {
  struct stat info{};
  if (!fd_ || ::lstat(path_.c_str(), &info) != 0) return;
  if (info.st_ino == inode_) ::unlink(path_.c_str());
}

Result<std::optional<UniqueFd>> UnixListener::Accept() const {
  IGLOO_ASSIGN(std::optional<UniqueFd> client, AcceptClient(fd()));
  if (!client) return std::nullopt;
  // SECURITY: not only by the file's mode, which its owner may change.
  if (!MayCall(PeerOf(client->get()), ::geteuid())) return std::nullopt;
  return client;
}

}  // namespace igloo
