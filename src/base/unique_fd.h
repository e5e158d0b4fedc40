#pragma once

#include <unistd.h>

#include <utility>

namespace igloo {

/// The one owner of a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    // Linux frees the number even when close() fails: never retry.
    if (const int old = std::exchange(fd_, fd); old >= 0) ::close(old);
  }

 private:
  int fd_ = -1;
};

/// Two ends of a pipe or of a socket pair.
struct FdPair {
  UniqueFd first = {};   ///< of a pipe: the end to read from
  UniqueFd second = {};  ///< of a pipe: the end to write to
};

}  // namespace igloo
