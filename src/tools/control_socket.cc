#include "tools/control_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <optional>
#include <thread>

#include "base/lines.h"
#include "base/private_directory.h"
#include "base/unix_listener.h"
#include "mcp/pch.h"
#include "session/asio.h"

namespace igloo::tools {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// Output that somebody does not read is dropped from here on; answers are not.
constexpr std::size_t kMostUnread = 8U << 20;

/// Somebody who asks for something.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(asio::io_context& loop, UniqueFd fd, service::SessionControl& control)
      : socket_(loop), control_(control) {
    socket_.assign(fd.Release());
  }
  ~Client() { cancellation_.Request(); }

  /// Reads the request, and goes on reading for as long as it is served: an end of file means that
  /// nobody waits for the answer.
  asio::awaitable<void> Serve() {
    const auto self = shared_from_this();
    LineBuffer lines(kLongestRequest);
    std::array<char, 16384> buffer;
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      const auto space = asio::buffer(buffer);
      const std::size_t count = co_await socket_.async_read_some(space, token);
      if (error) break;
      if (asked_) continue;  // one request is all
      lines.Append({buffer.data(), count});
      if (auto line = lines.Next()) {
        asked_ = true;
        if (line->too_long) break;
        asio::co_spawn(co_await asio::this_coro::executor, Answer(std::move(line->text)),
                       asio::detached);
      }
    }
    cancellation_.Request();
    Close();
  }

 private:
  asio::awaitable<void> Answer(std::string request) {
    const auto self = shared_from_this();
    const std::weak_ptr<Client> weak = self;
    std::function<void(const mcp::JsonObject&)> emit = [weak](const mcp::JsonObject& answer) {
      if (const auto client = weak.lock()) client->Send(answer);
    };
    co_await tools::Serve(control_, std::move(request), cancellation_, std::move(emit));
    last_ = true;
    if (queue_.empty()) Close();
  }

  void Send(const mcp::JsonObject& answer) {
    if (!socket_.is_open()) return;
    std::string line = boost::json::serialize(answer) + "\n";
    if (answer.contains("output") && unread_ + line.size() > kMostUnread) return;
    unread_ += line.size();
    queue_.push_back(std::move(line));
    if (queue_.size() == 1) asio::co_spawn(socket_.get_executor(), Write(), asio::detached);
  }

  asio::awaitable<void> Write() {
    const auto self = shared_from_this();
    while (!queue_.empty() && socket_.is_open()) {
      boost::system::error_code error;
      std::size_t sent = 0;
      while (!error && sent < queue_.front().size()) {
        auto token = session::Redirect(error);
        const auto rest = asio::buffer(queue_.front()) + sent;
        sent += co_await socket_.async_write_some(rest, token);
      }
      if (error) co_return Close();
      unread_ -= queue_.front().size();
      queue_.pop_front();
    }
    if (last_) Close();
  }

  void Close() {
    boost::system::error_code ignored;
    if (socket_.is_open()) socket_.close(ignored);
  }

  stream_descriptor socket_;
  service::SessionControl& control_;
  Cancellation cancellation_ = {};
  bool asked_ = false, last_ = false;
  std::deque<std::string> queue_ = {};
  std::size_t unread_ = 0;
};

}  // namespace

Result<UniqueFd> LockSockets(const std::string& directory) {
  // Nobody holds it for longer than it takes to make a socket, unless he was stopped in the middle:
  // a server does not wait for such a one.
  for (int tries = 0;; ++tries) {
    auto lock = LockPrivateFile(directory + "/lock");
    if (lock || lock.error().code != Errc::kFailedPrecondition || tries == 20) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::Open(asio::io_context& loop,
                                                           const std::string& state,
                                                           service::SessionControl& control) {
  const std::string directory = DirectoryIn(state);
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  IGLOO_ASSIGN(const UniqueFd lock, LockSockets(directory));
  const std::string name = fmt::format("{}/{}{}", directory, ::getpid(), kEnding);
  IGLOO_ASSIGN(UnixListener listener, UnixListener::Open(name));
  const auto serve = [&loop, &control](UniqueFd fd) {
    auto client = std::make_shared<Client>(loop, std::move(fd), control);
    asio::co_spawn(loop, client->Serve(), asio::detached);
    return client;
  };
  return std::unique_ptr<ControlSocket>(new ControlSocket(loop, std::move(listener), serve));
}

}  // namespace igloo::tools
