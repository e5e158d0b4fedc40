#include "mcp/stdio.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <string>

#include "mcp/dispatcher.h"
#include "mcp/message_lines.h"
#include "mcp/outlet.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

constexpr std::size_t kReadSize = 64U << 10;
/// With this much unread, progress and log messages are left out ...
constexpr std::size_t kCongested = 256U << 10;
/// ... and with this much, nothing more is taken in.
constexpr std::size_t kFull = 4U << 20;
/// What a client that has gone away gets to fetch its last answers.
constexpr auto kFarewell = std::chrono::milliseconds(50);

}  // namespace

class StdioServer::Pipe : public Channel, public std::enable_shared_from_this<Pipe> {
 public:
  Pipe(asio::io_context& loop, UniqueFd input, UniqueFd output)
      : outlet_(output.get()), input_(loop), output_(loop), left_(loop), room_(loop) {
    input_.assign(input.Release());
    output_.assign(output.Release());
  }

  void Send(Outgoing message) override {
    if (gone_) return;
    message.text += '\n';
    queued_ += message.text.size();
    queue_.push_back(std::move(message.text));
    shares_.push_back(std::move(message.share));
    if (!gathering_) WriteNow();
  }
  bool congested() const override { return queued_ > kCongested; }

  asio::awaitable<void> Read(std::shared_ptr<Dispatcher> dispatcher);
  /// Writes what could not be written at once.
  asio::awaitable<void> Write();
  asio::awaitable<void> Flush();
  void StopReading() {
    stopped_ = true;
    boost::system::error_code ignored;
    input_.cancel(ignored);
    room_.cancel();
  }
  /// Nothing is sent any more.
  void Close() {
    gone_ = true;
    queue_.clear();
    shares_.clear();
    queued_ = 0;
    boost::system::error_code ignored;
    if (input_.is_open()) input_.close(ignored);
    if (output_.is_open()) output_.close(ignored);
    outlet_.Close();
    left_.cancel();
    room_.cancel();
  }

 private:
  /// As much as goes without waiting.
  void WriteNow();
  /// The messages of what was read in one go, each a line; false when answers must leave before
  /// the rest of them can be taken.
  bool Take(MessageLines& lines, Dispatcher& dispatcher);
  asio::awaitable<bool> WaitFor(stream_descriptor& descriptor, stream_descriptor::wait_type what);

  Outlet outlet_;
  stream_descriptor input_, output_;
  asio::steady_timer left_;  ///< cancelled when something is left for Write to do
  asio::steady_timer room_;  ///< cancelled when the queue has shrunk
  std::deque<std::string> queue_ = {};
  std::deque<Backlog::Share> shares_ = {};  ///< one for each of the queue
  std::size_t begun_ = 0;                   ///< how much of the first is written
  std::size_t queued_ = 0;                  ///< bytes in the queue
  bool gathering_ = false;                  ///< more answers are about to come
  bool stopped_ = false, broken_ = false, gone_ = false;
};

namespace {

/// Until the timer is cancelled, or the deadline.
asio::awaitable<void> WaitAt(
    asio::steady_timer& timer,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max()) {
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  // A shared timer: moving its deadline would wake everybody, who then look again.
  if (timer.expiry() > deadline || timer.expiry() <= std::chrono::steady_clock::now()) {
    timer.expires_at(deadline);
  }
  co_await timer.async_wait(token);
}

}  // namespace

void StdioServer::Pipe::WriteNow() {
  while (!queue_.empty() && !broken_ && !gone_) {
    const ssize_t count = outlet_.WriteSome(queue_, begun_);
    if (count == 0) break;
    if (count < 0) {
      broken_ = true;
      break;
    }
    auto written = static_cast<std::size_t>(count);
    queued_ -= written;
    for (written += begun_; !queue_.empty() && written >= queue_.front().size();) {
      written -= queue_.front().size();
      queue_.pop_front();
      shares_.pop_front();
    }
    begun_ = written;
    room_.cancel();
  }
  if (!queue_.empty()) left_.cancel();
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

asio::awaitable<void> StdioServer::Pipe::Read(std::shared_ptr<Dispatcher> dispatcher) {
  MessageLines lines;
  std::string buffer(kReadSize, '\0');
  while (!stopped_ && !gone_) {
    // A client that does not read its answers is not asked for more requests.
    if (queued_ > kFull) {
      co_await WaitAt(room_);
      continue;
    }
    if (!Take(lines, *dispatcher)) continue;
    const bool readable = co_await WaitFor(input_, stream_descriptor::wait_read);
    if (!readable) break;
    const ssize_t count = ::read(input_.native_handle(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) break;
    lines.Append({buffer.data(), static_cast<std::size_t>(count)});
  }
}

bool StdioServer::Pipe::Take(MessageLines& lines, Dispatcher& dispatcher) {
  // Answers that are there at once leave together.
  gathering_ = true;
  bool all = false;
  while (queued_ <= kFull && !all) {
    const auto line = lines.Next();
    all = !line;
    if (all) break;
    if (line->too_long) {
      dispatcher.Receive(
          NotRead(line->outline,
                  {RpcCode::kInvalidRequest,
                   "the message is longer than 16 MB and was not read; send less at once",
                   {}}),
          0);
    } else {
      dispatcher.Receive(line->text);
    }
  }
  gathering_ = false;
  WriteNow();
  return all;
}

asio::awaitable<void> StdioServer::Pipe::Write() {
  const auto self = shared_from_this();
  while (!gone_) {
    if (queue_.empty()) {
      co_await WaitAt(left_);
      continue;
    }
    const bool room = !broken_ && co_await WaitFor(output_, stream_descriptor::wait_write);
    // Whoever cannot hear the answers is not served: reading ends as well.
    if (!room) co_return Close();
    WriteNow();
  }
}

asio::awaitable<void> StdioServer::Pipe::Flush() {
  const auto deadline = std::chrono::steady_clock::now() + kFarewell;
  while (queued_ > 0 && !gone_ && std::chrono::steady_clock::now() < deadline) {
    co_await WaitAt(room_, deadline);
  }
}

StdioServer::StdioServer(asio::io_context& loop, std::shared_ptr<ServerCore> core, UniqueFd input,
                         UniqueFd output)
    : core_(std::move(core)),
      pipe_(std::make_shared<Pipe>(loop, std::move(input), std::move(output))) {}

StdioServer::~StdioServer() { pipe_->Close(); }

void StdioServer::Stop() { pipe_->StopReading(); }

asio::awaitable<void> StdioServer::Serve() {
  const auto dispatcher = core_->Connect(pipe_);
  asio::co_spawn(core_->executor(), pipe_->Write(), asio::detached);
  co_await pipe_->Read(dispatcher);
  dispatcher->Close();
  co_await pipe_->Flush();
  pipe_->Close();
}

}  // namespace igloo::mcp
