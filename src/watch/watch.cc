#include "watch/watch.h"

#include <fcntl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace igloo::watch {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

struct Watch::State {
  State(asio::io_context& loop, Paths all) : paths(std::move(all)), readable(loop), pause(loop) {}

  /// Keeps itself alive by `self` while it waits.
  static asio::awaitable<bool> Changed(std::shared_ptr<State> self) {
    boost::system::error_code error;
    while (self->readable.is_open() && !self->paths.Drain()) {
      auto token = asio::redirect_error(asio::use_awaitable, error);
      co_await self->readable.async_wait(stream_descriptor::wait_read, token);
      if (error) co_return false;
    }
    if (!self->readable.is_open()) co_return false;
    // From the first change on, not from the last: who writes all the time is heard, too.
    self->pause.expires_after(kPause);
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await self->pause.async_wait(token);
    if (!self->readable.is_open()) co_return false;
    self->paths.Drain();
    co_return true;
  }

  Paths paths;
  stream_descriptor readable;  ///< of the same description as that of `paths`
  asio::steady_timer pause;
};

Result<Watch> Watch::Make(asio::io_context& loop, std::vector<Watched> watched) {
  IGLOO_ASSIGN(Paths paths, Paths::Make(std::move(watched)));
  UniqueFd copy(::fcntl(paths.fd(), F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot watch files");
  }
  // Shared with the coroutine that waits: it may end after whoever made this.
  auto state = std::make_shared<State>(loop, std::move(paths));
  state->readable.assign(copy.Release());
  return Watch(std::move(state));
}

asio::awaitable<bool> Watch::Changed() { return State::Changed(state_); }

void Watch::Set(std::vector<Watched> watched) { state_->paths.Set(std::move(watched)); }

const std::optional<Error>& Watch::incomplete() const { return state_->paths.incomplete(); }

void Watch::Close() {
  if (state_ == nullptr || !state_->readable.is_open()) return;
  boost::system::error_code ignored;
  state_->readable.close(ignored);
  state_->pause.cancel();
}

}  // namespace igloo::watch
