#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "base/unique_fd.h"
#include "mcp/server_core.h"

namespace igloo::mcp {

/// Serves one client over two descriptors, a message per line. The descriptors' flags stay as they
/// are, since others may share them; SIGPIPE must be ignored.
class StdioServer {
 public:
  /// Nobody else may write to `output`: a stray byte would break the client's reading.
  StdioServer(boost::asio::io_context& loop, std::shared_ptr<ServerCore> core, UniqueFd input,
              UniqueFd output);
  ~StdioServer();

  /// Returns when the client has closed its end or reads no more, or after Stop. Calls that run
  /// then are cancelled and not waited for; answers that are ready get a moment to leave. Call
  /// once.
  boost::asio::awaitable<void> Serve();
  /// Ends it as a client's end of file would.
  void Stop();

 private:
  class Pipe;
  std::shared_ptr<ServerCore> core_;  // shared with other transports
  std::shared_ptr<Pipe> pipe_;        // shared with its coroutines and with running calls
};

}  // namespace igloo::mcp
