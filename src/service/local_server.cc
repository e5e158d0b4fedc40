#include "service/local_server.h"

#include <optional>
#include <vector>

#include "base/file.h"
#include "session/asio.h"

namespace igloo::service {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

struct LocalServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& loop, UnixListener own, Serve s, std::size_t m)
      : listener(std::move(own)),
        ready(loop, Duplicate(listener->fd()).Release()),
        serve(std::move(s)),
        most(m) {}

  asio::awaitable<void> Accept() {
    const auto self = shared_from_this();
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      co_await ready.async_wait(stream_descriptor::wait_read, token);
      if (error || !listener) co_return;
      auto came = listener->Accept();
      if (!came) co_return;
      std::erase_if(clients, [](const auto& each) { return each.expired(); });
      if (!*came || clients.size() >= most) continue;
      clients.push_back(serve(*std::move(*came)));
    }
  }

  std::optional<UnixListener> listener;
  stream_descriptor ready;
  Serve serve;
  std::size_t most;
  std::vector<std::weak_ptr<void>> clients = {};
};

LocalServer::LocalServer(asio::io_context& loop, UnixListener listener, Serve serve,
                         std::size_t most)
    : state_(std::make_shared<State>(loop, std::move(listener), std::move(serve), most)) {
  asio::co_spawn(loop, state_->Accept(), asio::detached);
}

LocalServer::~LocalServer() {
  state_->listener.reset();
  boost::system::error_code ignored;
  state_->ready.close(ignored);
}

}  // namespace igloo::service
