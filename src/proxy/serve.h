#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::proxy {

struct Options {
  UniqueFd control = {};        ///< a SOCK_SEQPACKET socket to igloo
  std::string servers = {};     ///< name servers to ask instead of the system's
  std::string roots_file = {};  ///< PEM certificates to trust instead of the system's
};

/// Raises the wall and serves until the control socket ends. An error is that of the start, or of
/// an order that could not be read: then everything is closed.
Result<void> Serve(Options options);

}  // namespace igloo::proxy
