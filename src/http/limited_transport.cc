#include "http/limited_transport.h"

#include <optional>
#include <span>

#include "http/pch.h"

namespace igloo::http {

namespace asio = boost::asio;
using Milliseconds = std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadSize = 16U << 10;
/// What a client may send ahead of the answer that it waits for.
constexpr std::size_t kMostAhead = 64U << 10;
/// What a client gets to hear why it was not served.
constexpr Milliseconds kFarewell(1000);

}  // namespace

struct LimitedTransport::State : std::enable_shared_from_this<State> {
  State(const asio::any_io_executor& executor, UniqueFd socket, const Limits& own_limits,
        const std::vector<std::string>& single_fields)
      : transport(std::make_shared<Transport>(executor, std::move(socket))),
        deadline(executor),
        limits(own_limits),
        single(single_fields) {}

  /// Reads more within the deadline; false when there is no more, or not in time.
  asio::awaitable<bool> ReadMore();
  void SetDeadline(Milliseconds patience) {
    late = false;
    deadline.expires_after(patience);
    deadline.async_wait([weak = weak_from_this()](boost::system::error_code cancelled) {
      const auto self = weak.lock();
      // It may have been set anew while this was on its way.
      if (cancelled || !self || self->deadline.expiry() > std::chrono::steady_clock::now()) return;
      self->late = true;
      self->transport->Cancel();
    });
  }
  /// Room for what is read next, behind what is pending.
  std::span<char> Grow() {
    const std::size_t before = pending.size();
    pending.resize(before + kReadSize);
    return std::span(pending).subspan(before);
  }
  /// Of that room only this much was used.
  void Shrink(std::size_t used) { pending.resize(pending.size() - kReadSize + used); }

  std::shared_ptr<Transport> transport;  // shared with who took the connection over
  asio::steady_timer deadline;
  const Limits& limits;
  const std::vector<std::string>& single;
  std::string pending = {};  ///< what was read and not looked at
  std::optional<Parser> parser = {};
  bool late = false;
  unsigned watches = 0;  ///< INVARIANT: while a wait counts, nobody else reads
};

LimitedTransport::LimitedTransport(const asio::any_io_executor& executor, UniqueFd socket,
                                   const Limits& limits, const std::vector<std::string>& single)
    : state_(std::make_shared<State>(executor, std::move(socket), limits, single)) {}

LimitedTransport::~LimitedTransport() = default;

asio::awaitable<bool> LimitedTransport::State::ReadMore() {
  const std::span<char> room = Grow();
  const std::size_t count = co_await transport->Read(room);
  Shrink(count);
  co_return count > 0 && !late;
}

asio::awaitable<std::expected<Head, Failure>> LimitedTransport::ReadHead(Milliseconds patience) {
  State& state = *state_;
  Parser& parser =
      state.parser.emplace(state.limits.longest_head, state.limits.longest_body, state.single);
  bool begun = false;
  state.SetDeadline(patience);
  for (;;) {
    // SECURITY: the time for the whole head, not for its next byte: or else a client that sends
    // a byte now and then keeps its place for ever.
    if (!state.pending.empty() && !std::exchange(begun, true)) {
      state.SetDeadline(state.limits.head_time);
    }
    auto head = parser.ReadHead(state.pending);
    if (!head) co_return std::unexpected(std::move(head).error());
    if (*head) {
      state.deadline.cancel();
      co_return **std::move(head);
    }
    const bool more = co_await state.ReadMore();
    if (more) continue;
    Failure failure;
    if (state.late && begun) failure = {408, "the head of the request took too long"};
    co_return std::unexpected(std::move(failure));
  }
}

asio::awaitable<std::expected<std::string, Failure>> LimitedTransport::ReadBody() {
  State& state = *state_;
  state.SetDeadline(state.limits.body_time);
  for (;;) {
    auto body = state.parser->ReadBody(state.pending);
    if (!body) co_return std::unexpected(std::move(body).error());
    if (*body) {
      state.deadline.cancel();
      co_return **std::move(body);
    }
    const bool more = co_await state.ReadMore();
    if (more) continue;
    Failure failure;
    if (state.late) failure = {408, "the body of the request took too long"};
    co_return std::unexpected(std::move(failure));
  }
}

asio::awaitable<bool> LimitedTransport::Write(std::vector<std::string> parts) {
  State& state = *state_;
  state.SetDeadline(state.limits.write_time);
  const bool written = co_await state.transport->Write(parts);
  state.deadline.cancel();
  // A client that does not read must not leave its answers with the kernel, either.
  if (!written) state.transport->DropUnsent();
  co_return written;
}

asio::awaitable<bool> LimitedTransport::HungUp() {
  State& state = *state_;
  const unsigned mine = ++state.watches;
  // The end comes behind all that was sent, so that is taken in first.
  while (state.pending.size() < kMostAhead) {
    const bool readable = co_await state.transport->WaitUntilReadable();
    // What woke this may have been on its way when the wait was cancelled.
    if (!readable || mine != state.watches) co_return false;
    const auto count = state.transport->ReadNow(state.Grow());
    state.Shrink(count.value_or(0));
    if (count == 0) co_return true;
  }
  co_return false;
}

void LimitedTransport::CancelWait() {
  ++state_->watches;
  state_->transport->Cancel();
}

asio::awaitable<void> LimitedTransport::Finish() {
  State& state = *state_;
  bool more = state.transport->CloseSending();
  state.SetDeadline(kFarewell);
  // Closing a socket that holds unread bytes would destroy what is still on its way out. A client
  // hears that its body is too long if it is not more than twice so.
  for (std::size_t total = 0; more && total < 2 * state.limits.longest_body;) {
    state.pending.clear();
    more = co_await state.ReadMore();
    total += state.pending.size();
  }
}

void LimitedTransport::Close() {
  state_->deadline.cancel();
  state_->transport->Close();
}

std::shared_ptr<Transport> LimitedTransport::transport() const { return state_->transport; }

std::string LimitedTransport::TakeAhead() { return std::exchange(state_->pending, {}); }

}  // namespace igloo::http
