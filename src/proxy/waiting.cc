#include "proxy/waiting.h"

namespace igloo::proxy {

using Clock = std::chrono::steady_clock;

/// All deadlines of an event loop, and the one timer that looks after them.
class Deadlines final : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;

  explicit Deadlines(asio::execution_context& context)
      : service(context), timer_(static_cast<asio::io_context&>(context)) {}

  void Add(Deadline& deadline) {
    open_.push_back(deadline);
    if (deadline.until_ < at_) WakeAt(deadline.until_);
  }

 private:
  using List = boost::intrusive::list<Deadline, boost::intrusive::constant_time_size<false>>;

  void shutdown() override { timer_.cancel(); }

  void WakeAt(Clock::time_point time) {
    at_ = time;
    timer_.expires_at(time);
    timer_.async_wait([this](boost::system::error_code cancelled) {
      if (!cancelled) Look();
    });
  }

  void Look() {
    at_ = Clock::time_point::max();
    const auto now = Clock::now();
    // Taken out before any is called: what a call ends takes its own deadlines with it.
    List passed;
    Clock::time_point next = Clock::time_point::max();
    for (auto each = open_.begin(); each != open_.end();) {
      Deadline& deadline = *each++;
      if (deadline.until_ > now) {
        next = std::min(next, deadline.until_);
        continue;
      }
      deadline.unlink();
      passed.push_back(deadline);
    }
    while (!passed.empty()) {
      Deadline& deadline = passed.front();
      passed.pop_front();
      deadline.passed_ = true;
      deadline.late_();
    }
    if (next < at_) WakeAt(next);
  }

  asio::steady_timer timer_;
  List open_ = {};
  /// When the timer wakes. Perhaps for nothing: who is dropped does not change it.
  Clock::time_point at_ = Clock::time_point::max();
};

Deadline::Deadline(const asio::any_io_executor& executor, std::chrono::milliseconds patience,
                   std::function<void()> late)
    : until_(Clock::now() + patience), late_(std::move(late)) {
  asio::use_service<Deadlines>(asio::query(executor, asio::execution::context)).Add(*this);
}

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
