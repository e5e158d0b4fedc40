#include "mcp/stdio.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <string>

#include "mcp/connection.h"
#include "mcp/lines.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

constexpr std::size_t kReadSize = 64U << 10;
/// A pipe that says it has room takes this much without blocking.
constexpr std::size_t kAtomic = 4096;
/// With this much unread, progress and log messages are left out ...
constexpr std::size_t kCongested = 256U << 10;
/// ... and with this much, nothing more is taken in.
constexpr std::size_t kFull = 4U << 20;
/// What a client that has gone away gets to fetch its last answers.
constexpr auto kFarewell = std::chrono::milliseconds(50);

/// Writes what fits without waiting: the count, 0 when nothing does, -1 when nobody reads.
ssize_t WriteSome(int fd, std::string_view bytes) {
  ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0 && errno == ENOTSOCK) {
    pollfd room{fd, POLLOUT, 0};
    if (::poll(&room, 1, 0) == 0) return 0;
    count = ::write(fd, bytes.data(), std::min(bytes.size(), kAtomic));
  }
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

}  // namespace

class StdioServer::Pipe : public Channel, public std::enable_shared_from_this<Pipe> {
 public:
  Pipe(asio::io_context& loop, UniqueFd input, UniqueFd output)
      : input_(loop), output_(loop), changed_(loop) {
    input_.assign(input.Release());
    output_.assign(output.Release());
  }

  void Send(Outgoing message) override {
    if (gone_) return;
    message.text += '\n';
    queued_ += message.text.size();
    queue_.push_back(std::move(message.text));
    changed_.cancel();
  }
  bool congested() const override { return queued_ > kCongested; }

  asio::awaitable<void> Read(std::shared_ptr<Connection> connection);
  asio::awaitable<void> Write();
  asio::awaitable<void> Flush();
  void StopReading() {
    stopped_ = true;
    boost::system::error_code ignored;
    input_.cancel(ignored);
    changed_.cancel();
  }
  /// Nothing is sent any more.
  void Close() {
    gone_ = true;
    queue_.clear();
    queued_ = 0;
    boost::system::error_code ignored;
    if (input_.is_open()) input_.close(ignored);
    if (output_.is_open()) output_.close(ignored);
    changed_.cancel();
  }

 private:
  /// Until something about the queue has changed.
  asio::awaitable<void> Wait(std::chrono::steady_clock::time_point deadline);
  asio::awaitable<bool> WaitFor(stream_descriptor& descriptor, stream_descriptor::wait_type what);

  stream_descriptor input_, output_;
  asio::steady_timer changed_;  ///< cancelled whenever the queue grows or shrinks
  std::deque<std::string> queue_ = {};
  std::size_t queued_ = 0;
  bool stopped_ = false, gone_ = false;
};

asio::awaitable<void> StdioServer::Pipe::Wait(std::chrono::steady_clock::time_point deadline) {
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  // A shared timer: moving its deadline would wake everybody, who then look again.
  if (changed_.expiry() > deadline || changed_.expiry() <= std::chrono::steady_clock::now()) {
    changed_.expires_at(deadline);
  }
  co_await changed_.async_wait(token);
}

asio::awaitable<bool> StdioServer::Pipe::WaitFor(stream_descriptor& descriptor,
                                                 stream_descriptor::wait_type what) {
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  co_await descriptor.async_wait(what, token);
  // Files cannot be watched and need not be: they never make anyone wait. Others get a turn.
  if (error == asio::error::operation_not_supported) {
    auto turn = asio::use_awaitable;
    co_await asio::post(turn);
    co_return true;
  }
  co_return !error;
}

asio::awaitable<void> StdioServer::Pipe::Read(std::shared_ptr<Connection> connection) {
  LineBuffer lines;
  std::string buffer(kReadSize, '\0');
  while (!stopped_ && !gone_) {
    // A client that does not read its answers is not asked for more requests.
    if (queued_ > kFull) {
      co_await Wait(std::chrono::steady_clock::time_point::max());
      continue;
    }
    const bool readable = co_await WaitFor(input_, stream_descriptor::wait_read);
    if (!readable) break;
    const ssize_t count = ::read(input_.native_handle(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) break;
    lines.Append({buffer.data(), static_cast<std::size_t>(count)});
    while (const auto line = lines.Next()) {
      if (line->too_long) {
        connection->Reject({RpcCode::kInvalidRequest,
                            "the message is longer than 16 MB and was not read; send less at once",
                            {}});
      } else {
        connection->Receive(line->text);
      }
    }
  }
}

asio::awaitable<void> StdioServer::Pipe::Write() {
  const auto self = shared_from_this();
  while (!gone_) {
    if (queue_.empty()) {
      co_await Wait(std::chrono::steady_clock::time_point::max());
      continue;
    }
    const std::string line = std::move(queue_.front());
    queue_.pop_front();
    for (std::string_view left = line; !left.empty() && !gone_;) {
      const ssize_t count = WriteSome(output_.native_handle(), left);
      if (count > 0) {
        left.remove_prefix(static_cast<std::size_t>(count));
        continue;
      }
      const bool room = count == 0 && co_await WaitFor(output_, stream_descriptor::wait_write);
      // Whoever cannot hear the answers is not served: reading ends as well.
      if (!room) {
        Close();
        co_return;
      }
    }
    if (!gone_) queued_ -= line.size();
    changed_.cancel();
  }
}

asio::awaitable<void> StdioServer::Pipe::Flush() {
  const auto deadline = std::chrono::steady_clock::now() + kFarewell;
  while (queued_ > 0 && !gone_ && std::chrono::steady_clock::now() < deadline) {
    co_await Wait(deadline);
  }
}

StdioServer::StdioServer(asio::io_context& loop, std::shared_ptr<ServerCore> core, UniqueFd input,
                         UniqueFd output)
    : core_(std::move(core)),
      pipe_(std::make_shared<Pipe>(loop, std::move(input), std::move(output))) {}

StdioServer::~StdioServer() { pipe_->Close(); }

void StdioServer::Stop() { pipe_->StopReading(); }

asio::awaitable<void> StdioServer::Serve() {
  const auto connection = core_->Connect(pipe_);
  asio::co_spawn(core_->executor(), pipe_->Write(), asio::detached);
  co_await pipe_->Read(connection);
  connection->Close();
  co_await pipe_->Flush();
  pipe_->Close();
}

}  // namespace igloo::mcp
