#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo {

/// Sends bytes and descriptors, a few at most, over a Unix socket; never waits. Fails if not all of
/// it could be sent at once; what of a stream was sent then is its beginning.
Result<void> SendWithFds(int socket, std::string_view bytes, std::span<const int> fds);

/// The same of a word.
Result<void> PassFds(int socket, char word, std::span<const int> fds);

/// What came over a Unix socket.
struct ReceivedBytes {
  std::size_t count = 0;  ///< 0: the other side has gone
  std::vector<UniqueFd> fds = {};
};
/// Reads into `buffer`; never waits: nullopt if nothing is there.
Result<std::optional<ReceivedBytes>> ReceiveWithFds(int socket, std::span<char> buffer);

}  // namespace igloo
