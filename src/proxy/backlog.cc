#include "proxy/backlog.h"

namespace igloo::proxy {

asio::awaitable<void> Backlog::Room() {
  ++held_;
  while (full()) {
    boost::system::error_code cancelled;
    auto token = Redirect(cancelled);
    co_await taken_.async_wait(token);
  }
  --held_;
}

void Backlog::Close() {
  closed_ = true;
  taken_.cancel();
}

void Backlog::Leave() {
  // Not for each: all who are held look again.
  if (--waiting_ <= kMost / 2 && held_ > 0) taken_.cancel();
}

}  // namespace igloo::proxy
