#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace igloo::guest {

/// The first bytes of a file below /proc as text, until the next call; empty when there is none.
inline const char* ReadProcText(int proc_fd, const char* path) {
  static char text[4096];
  text[0] = '\0';
  const int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  const ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  text[count > 0 ? count : 0] = '\0';
  return text;
}

}  // namespace igloo::guest
