#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo {

/// A Unix socket that listens. Its file goes away with it, unless another has taken its place.
class UnixListener {
 public:
  /// It is for its owner alone (0600), in a directory where nobody else may write; what a server
  /// that has ended left there is replaced.
  static Result<UnixListener> Open(const std::string& path);
  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  /// A client that is there, or nothing. Only this user's and root's are taken in.
  Result<std::optional<UniqueFd>> Accept() const;

 private:
  UnixListener(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  UniqueFd fd_;
  std::string path_;
  ino_t inode_ = 0;  ///< of the socket's file
};

/// Whether `path` can be the name of a socket: whole, and short enough for the kernel.
Result<void> CheckSocketPath(std::string_view path);

/// Connects to a server of this user's, or of root's.
Result<UniqueFd> ConnectToOwn(const std::string& path);

/// A client of any socket that listens, or nothing when it has gone away again. Fails when this
/// process cannot take in any more.
Result<std::optional<UniqueFd>> AcceptClient(int listener);

/// Whether a server of `self` works for `peer`. Root could do all of it without asking.
constexpr bool MayCall(uid_t peer, uid_t self) { return peer == self || peer == 0; }

}  // namespace igloo
