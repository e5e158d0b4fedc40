#include "session/driver_channel.h"

#include <unistd.h>

#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// Of what an interpreter said; more than its pipe holds.
constexpr std::size_t kAtOnce = 1U << 20;

}  // namespace

DriverChannel::DriverChannel(asio::io_context& loop, Heard heard)
    : heard_(std::move(heard)), orders_(loop), answers_(loop) {}

void DriverChannel::Open(UniqueFd orders, UniqueFd answers) {
  orders_.assign(orders.Release());
  orders_.non_blocking(true);
  answers_.assign(answers.Release());
  answers_.non_blocking(true);
}

void DriverChannel::Watch() {
  asio::co_spawn(answers_.get_executor(), WatchAnswers(), asio::detached);
}

asio::awaitable<void> DriverChannel::WatchAnswers() {
  const auto self = shared_from_this();
  for (;;) {
    boost::system::error_code error;
    auto token = Redirect(error);
    // Not a read: what it has taken would be on its way while somebody else listens.
    co_await answers_.async_wait(stream_descriptor::wait_read, token);
    if (error || !Listen()) co_return;
  }
}

bool DriverChannel::Listen() {
  // Not for ever: somebody may say more than we can hear.
  for (std::size_t taken = 0; answers_.is_open() && taken < kAtOnce;) {
    const ssize_t count = ::read(answers_.native_handle(), room_.data(), room_.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    // igloo-init holds the other end, too: an end of file means that the sandbox is gone.
    if (count == 0) return false;
    const auto came = static_cast<std::size_t>(count);
    frames_.Append({room_.data(), came});
    if (!TakeFrames()) return false;
    if (came < room_.size()) return true;
    taken += came;
  }
  return answers_.is_open();
}

bool DriverChannel::TakeFrames() {
  for (;;) {
    auto next = frames_.Next();
    if (!next) {
      (void)heard_(std::unexpected(std::move(next).error()));
      return false;
    }
    if (!*next) return true;
    if (!heard_(**std::move(next))) return false;
  }
}

void DriverChannel::Forget() {
  for (std::size_t taken = 0; answers_.is_open() && taken < kAtOnce;) {
    const ssize_t count = ::read(answers_.native_handle(), room_.data(), room_.size());
    if (count <= 0) break;
    taken += static_cast<std::size_t>(count);
  }
  frames_.Clear();
}

void DriverChannel::Send(std::string_view order) {
  // INVARIANT: orders follow each other; one that waits is not overtaken.
  if (!sending_ && orders_.is_open()) {
    const ssize_t count = ::write(orders_.native_handle(), order.data(), order.size());
    if (count > 0) order.remove_prefix(static_cast<std::size_t>(count));
  }
  if (order.empty()) return;
  unsent_ += order;
  if (std::exchange(sending_, true)) return;
  asio::co_spawn(orders_.get_executor(), SendUnsent(), asio::detached);
}

asio::awaitable<void> DriverChannel::SendUnsent() {
  const auto self = shared_from_this();
  while (sent_ < unsent_.size() && orders_.is_open()) {
    const ssize_t count =
        ::write(orders_.native_handle(), unsent_.data() + sent_, unsent_.size() - sent_);
    if (count > 0) {
      sent_ += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) break;
    boost::system::error_code dropped;  // then there is nothing left, or something new
    auto token = Redirect(dropped);
    co_await orders_.async_wait(stream_descriptor::wait_write, token);
  }
  sending_ = false;
  DropOrders();
}

void DriverChannel::DropOrders() {
  unsent_ = std::string();
  sent_ = 0;
  if (sending_ && orders_.is_open()) orders_.cancel();
}

void DriverChannel::Close() {
  boost::system::error_code ignored;
  for (stream_descriptor* each : {&answers_, &orders_}) {
    if (each->is_open()) each->close(ignored);
  }
}

}  // namespace igloo::session
