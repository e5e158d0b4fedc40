#include "proxy/waiting.h"

namespace igloo::proxy {

Deadline::Deadline(const asio::any_io_executor& executor, std::chrono::milliseconds patience,
                   std::function<void()> late)
    : timer_(executor, patience), state_(std::make_shared<State>(State{std::move(late)})) {
  timer_.async_wait([state = state_](boost::system::error_code cancelled) {
    // It may have been dropped while this was on its way.
    if (cancelled || !state->late) return;
    state->passed = true;
    state->late();
  });
}

Deadline::~Deadline() { state_->late = nullptr; }

asio::awaitable<void> Both(asio::awaitable<void> one, asio::awaitable<void> other) {
  struct State {
    explicit State(const asio::any_io_executor& executor)
        : over(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer over;
    bool done = false;
  };
  const auto executor = co_await asio::this_coro::executor;
  const auto state = std::make_shared<State>(executor);
  asio::co_spawn(executor, std::move(one), [state](const std::exception_ptr&) {
    state->done = true;
    state->over.cancel();
  });
  co_await std::move(other);
  if (state->done) co_return;
  boost::system::error_code cancelled;
  auto token = Redirect(cancelled);
  co_await state->over.async_wait(token);
}

asio::awaitable<void> GiveWay() {
  const auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

asio::awaitable<void> Pause(std::chrono::milliseconds time) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, time);
  boost::system::error_code cancelled;
  auto token = Redirect(cancelled);
  co_await timer.async_wait(token);
}

}  // namespace igloo::proxy
