#include "mcp/http_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <optional>

#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;
using Socket = asio::generic::stream_protocol::socket;
using Milliseconds = std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadSize = 16U << 10;
/// What a client may send ahead of the answer that it waits for.
constexpr std::size_t kMostAhead = 64U << 10;
/// What a client gets to hear why it was not served.
constexpr Milliseconds kFarewell(1000);

int FamilyOf(int fd) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

}  // namespace

struct HttpStream::State : std::enable_shared_from_this<State> {
  State(const asio::any_io_executor& executor, const HttpOptions& options)
      : socket(executor), deadline(executor), limits(options) {}

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
      self->socket.cancel(cancelled);
    });
  }

  Socket socket;
  asio::steady_timer deadline;
  const HttpOptions& limits;
  std::string pending = {};  ///< what was read and not looked at
  std::optional<HttpParser> parser = {};
  bool late = false;
  unsigned watches = 0;  ///< INVARIANT: while a wait counts, nobody else reads
};

HttpStream::HttpStream(const asio::any_io_executor& executor, UniqueFd socket,
                       const HttpOptions& options)
    : state_(std::make_shared<State>(executor, options)) {
  const int family = FamilyOf(socket.get());
  state_->socket.assign({family, 0}, socket.Release());
}

HttpStream::~HttpStream() = default;

asio::awaitable<bool> HttpStream::State::ReadMore() {
  const std::size_t before = pending.size();
  pending.resize(before + kReadSize);
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const asio::mutable_buffer room(pending.data() + before, kReadSize);
  const std::size_t count = co_await socket.async_read_some(room, token);
  pending.resize(before + count);
  co_return !error && !late;
}

asio::awaitable<std::expected<HttpHead, HttpFailure>> HttpStream::ReadHead(Milliseconds patience) {
  State& state = *state_;
  HttpParser& parser = state.parser.emplace(state.limits.longest_head, state.limits.longest_body);
  bool begun = false;
  state.SetDeadline(patience);
  for (;;) {
    // SECURITY: the time for the whole head, not for its next byte: or else a client that sends
    // a byte now and then keeps its place for ever.
    if (!state.pending.empty() && !std::exchange(begun, true)) {
      state.SetDeadline(state.limits.head_limit);
    }
    auto head = parser.Head(state.pending);
    if (!head) co_return std::unexpected(std::move(head).error());
    if (*head) {
      state.deadline.cancel();
      co_return **std::move(head);
    }
    const bool more = co_await state.ReadMore();
    if (more) continue;
    HttpFailure failure;
    if (state.late && begun) failure = {408, "the head of the request took too long"};
    co_return std::unexpected(std::move(failure));
  }
}

asio::awaitable<std::expected<std::string, HttpFailure>> HttpStream::ReadBody() {
  State& state = *state_;
  state.SetDeadline(state.limits.body_limit);
  for (;;) {
    auto body = state.parser->Body(state.pending);
    if (!body) co_return std::unexpected(std::move(body).error());
    if (*body) {
      state.deadline.cancel();
      co_return **std::move(body);
    }
    const bool more = co_await state.ReadMore();
    if (more) continue;
    HttpFailure failure;
    if (state.late) failure = {408, "the body of the request took too long"};
    co_return std::unexpected(std::move(failure));
  }
}

asio::awaitable<bool> HttpStream::Write(std::vector<std::string> parts) {
  State& state = *state_;
  state.SetDeadline(state.limits.write_limit);
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  std::vector<asio::const_buffer> all;
  for (const std::string& part : parts) all.push_back(asio::buffer(part));
  co_await asio::async_write(state.socket, all, token);
  state.deadline.cancel();
  if (error) {
    // A client that does not read must not leave its answers with the kernel, either.
    boost::system::error_code ignored;
    state.socket.set_option(asio::socket_base::linger(true, 0), ignored);
  }
  co_return !error;
}

asio::awaitable<bool> HttpStream::HungUp() {
  State& state = *state_;
  const unsigned mine = ++state.watches;
  // The end comes behind all that was sent, so that is taken in first.
  while (state.pending.size() < kMostAhead) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await state.socket.async_wait(Socket::wait_read, token);
    // What woke this may have been on its way when the wait was cancelled.
    if (error || mine != state.watches) co_return false;
    const std::size_t before = state.pending.size();
    state.pending.resize(before + kReadSize);
    const ssize_t count = ::recv(state.socket.native_handle(), state.pending.data() + before,
                                 kReadSize, MSG_DONTWAIT);
    const int saved_errno = errno;
    state.pending.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) co_return true;
    if (count < 0 && saved_errno != EAGAIN && saved_errno != EINTR) co_return true;
  }
  co_return false;
}

void HttpStream::CancelWait() {
  ++state_->watches;
  boost::system::error_code ignored;
  state_->socket.cancel(ignored);
}

asio::awaitable<void> HttpStream::Finish() {
  State& state = *state_;
  boost::system::error_code error;
  state.socket.shutdown(Socket::shutdown_send, error);
  state.SetDeadline(kFarewell);
  // Closing a socket that holds unread bytes would destroy what is still on its way out.
  for (std::size_t total = 0; !error && total < state.limits.longest_body;) {
    state.pending.clear();
    const bool more = co_await state.ReadMore();
    if (!more) break;
    total += state.pending.size();
  }
}

void HttpStream::Close() {
  state_->deadline.cancel();
  boost::system::error_code ignored;
  state_->socket.shutdown(Socket::shutdown_both, ignored);
  state_->socket.close(ignored);
}

}  // namespace igloo::mcp
