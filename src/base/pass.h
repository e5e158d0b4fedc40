#pragma once

#include <span>

#include "base/error.h"

namespace igloo {

/// Sends a word and descriptors, a few at most, over a Unix socket; never waits.
Result<void> PassFds(int socket, char word, std::span<const int> fds);

}  // namespace igloo
