#include "mcp/http_stream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Socket = asio::generic::stream_protocol::socket;
using Parser = http::request_parser<http::string_body>;
using Milliseconds = std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadSize = 16U << 10;
/// What a client gets to hear why it was not served.
constexpr Milliseconds kFarewell(1000);

std::string Field(const Parser& parser, std::string_view name) {
  const auto found = parser.get().find(name);
  return found != parser.get().end() ? std::string(found->value()) : std::string();
}

HttpFailure FailureOf(const boost::system::error_code& error) {
  if (error == http::error::body_limit) {
    return {413, "the message is too long; send less at once"};
  }
  if (error == http::error::header_limit) return {431, "the headers are too long"};
  if (error.category() == make_error_code(http::error::bad_method).category()) {
    return {400, "this is not HTTP: " + error.message()};
  }
  return {};
}

HttpHead HeadOf(const Parser& parser) {
  return {.method = std::string(parser.get().method_string()),
          .target = std::string(parser.get().target()),
          .headers = {.host = Field(parser, "Host"),
                      .origin = Field(parser, "Origin"),
                      .authorization = Field(parser, "Authorization"),
                      .content_type = Field(parser, "Content-Type"),
                      .version = Field(parser, "MCP-Protocol-Version"),
                      .method = Field(parser, "Mcp-Method"),
                      .name = Field(parser, "Mcp-Name"),
                      .session = Field(parser, "Mcp-Session-Id")},
          .version = parser.get().version(),
          .keep_alive = parser.get().keep_alive(),
          .expects_continue = Field(parser, "Expect") == "100-continue"};
}

std::string Chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

std::string_view ConnectionField(After after) {
  return after == After::kClose ? "Connection: close\r\n" : "";
}

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
  std::optional<Parser> parser = {};
  bool late = false;
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

asio::awaitable<std::expected<HttpHead, HttpFailure>> HttpStream::ReadHead() {
  State& state = *state_;
  Parser& parser = state.parser.emplace();
  parser.header_limit(static_cast<std::uint32_t>(state.limits.longest_head));
  parser.body_limit(state.limits.longest_body);
  bool begun = false;
  state.SetDeadline(state.limits.idle_limit);
  while (!parser.is_header_done()) {
    // SECURITY: the time for the whole head, not for its next byte: or else a client that sends
    // a byte now and then keeps its place for ever.
    if (!state.pending.empty() && !std::exchange(begun, true)) {
      state.SetDeadline(state.limits.head_limit);
    }
    boost::system::error_code error;
    const std::size_t used = parser.put(asio::buffer(state.pending), error);
    state.pending.erase(0, used);
    if (error && error != http::error::need_more) co_return std::unexpected(FailureOf(error));
    if (parser.is_header_done()) break;
    const bool more = co_await state.ReadMore();
    if (more) continue;
    if (state.late && begun) {
      co_return std::unexpected(HttpFailure{408, "the head of the request took too long"});
    }
    co_return std::unexpected(HttpFailure{});
  }
  state.deadline.cancel();
  co_return HeadOf(parser);
}

asio::awaitable<std::expected<std::string, HttpFailure>> HttpStream::ReadBody() {
  State& state = *state_;
  Parser& parser = *state.parser;
  state.SetDeadline(state.limits.body_limit);
  while (!parser.is_done()) {
    boost::system::error_code error;
    const std::size_t used = parser.put(asio::buffer(state.pending), error);
    state.pending.erase(0, used);
    if (error && error != http::error::need_more) co_return std::unexpected(FailureOf(error));
    if (parser.is_done()) break;
    if (used > 0 && !state.pending.empty()) continue;
    const bool more = co_await state.ReadMore();
    if (more) continue;
    if (state.late) {
      co_return std::unexpected(HttpFailure{408, "the body of the request took too long"});
    }
    co_return std::unexpected(HttpFailure{});
  }
  state.deadline.cancel();
  co_return std::move(parser.get().body());
}

asio::awaitable<bool> HttpStream::Write(std::string bytes) {
  State& state = *state_;
  state.SetDeadline(state.limits.write_limit);
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const asio::const_buffer all = asio::buffer(bytes);
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
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  co_await state.socket.async_wait(Socket::wait_read, token);
  if (error) co_return false;
  char byte = 0;
  const ssize_t count = ::recv(state.socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  co_return count == 0 || (count < 0 && errno != EAGAIN);
}

void HttpStream::CancelWait() {
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

std::string ToBytes(const HttpResponse& response, After after) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\n{}", response.status,
      std::string_view(http::obsolete_reason(static_cast<http::status>(response.status))),
      ConnectionField(after));
  if (!response.body.empty()) bytes += "Content-Type: application/json\r\n";
  for (const auto& [name, value] : response.fields) bytes += fmt::format("{}: {}\r\n", name, value);
  bytes += fmt::format("Content-Length: {}\r\n\r\n", response.body.size());
  return bytes + response.body;
}

std::string EventsHead(After after) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\n{}Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
      "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n",
      ConnectionField(after));
}

std::string EventChunk(std::string_view message) {
  if (message.empty()) return Chunk(": \n\n");
  return Chunk(fmt::format("event: message\ndata: {}\n\n", message));
}

std::string EventsEnd() { return "0\r\n\r\n"; }

}  // namespace igloo::mcp
