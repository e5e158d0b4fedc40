#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "world.h"

namespace igloo::testing {

inline bool CanHaveDevice() {
  return UniqueFd(::open("/dev/net/tun", O_RDWR | O_CLOEXEC)).get() >= 0;
}

/// Skips where the kernel's tunnels are root's alone; where everything is required, that fails.
#define NEED_DEVICE() \
  if (!CanHaveDevice()) GTEST_SKIP() << "/dev/net/tun cannot be opened"

/// Lets the kernel outside answer for pings, as most systems have it.
inline void AllowPings() { Shell("echo 0 0 >/proc/sys/net/ipv4/ping_group_range"); }

}  // namespace igloo::testing
