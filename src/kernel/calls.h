#pragma once

// What programs without a C++ library share: descriptors, whole reads and writes, texts of /proc,
// time. Everything says by errno why it failed.

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace igloo::kernel {

/// Closes and keeps errno: for error paths.
inline void CloseQuietly(int fd) {
  const int saved_errno = errno;
  if (fd >= 0) close(fd);
  errno = saved_errno;
}

/// Closes a descriptor at the end of its scope; -1: none.
class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {}
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() { CloseQuietly(fd_); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Calls `move(done, left)`, which answers as read(2) does, until `size` bytes are moved.
template <class Move>
bool MoveAll(size_t size, Move move) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = move(done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

inline bool ReadAll(int fd, void* to, size_t size) {
  return MoveAll(size, [&](size_t done, size_t left) {
    return read(fd, static_cast<unsigned char*>(to) + done, left);
  });
}

/// The first bytes of a file as text; false, and an empty text, when it cannot be read.
inline bool ReadTextAt(int directory, const char* path, char* text, size_t size) {
  text[0] = '\0';
  const ScopedFd fd(openat(directory, path, O_RDONLY | O_CLOEXEC));
  const ssize_t count = fd ? read(fd.get(), text, size - 1) : -1;
  text[count > 0 ? count : 0] = '\0';
  return count > 0;
}

/// Writes a whole setting at once. Where nothing fails errno is not touched: jail/helper.cc shares
/// it with another process.
inline bool WriteTextAt(int directory, const char* path, const char* text) {
  const int fd = openat(directory, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const size_t size = strlen(text);
  if (write(fd, text, size) == static_cast<ssize_t>(size)) return close(fd) == 0;
  CloseQuietly(fd);
  return false;
}

/// The number that follows `label`.
inline uint64_t NumberBehind(const char* text, const char* label, uint64_t where_missing = 0) {
  const char* at = strstr(text, label);
  return at != nullptr ? strtoull(at + strlen(label), nullptr, 10) : where_missing;
}

inline uint64_t Micros(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<uint64_t>(time.tv_nsec) / 1'000;
}

inline uint64_t NowMicros() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Micros(now);
}

}  // namespace igloo::kernel
