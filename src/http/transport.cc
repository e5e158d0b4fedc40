#include "http/transport.h"

#include <sys/socket.h>

#include <boost/asio/write.hpp>
#include <cerrno>
#include <vector>

#include "http/pch.h"

namespace igloo::http {

namespace asio = boost::asio;
using Socket = asio::generic::stream_protocol::socket;

namespace {

int FamilyOf(int fd) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

}  // namespace

Transport::Transport(const asio::any_io_executor& executor, UniqueFd socket) : socket_(executor) {
  const int family = FamilyOf(socket.get());
  socket_.assign({family, 0}, socket.Release());
}

asio::awaitable<std::size_t> Transport::Read(std::span<char> room) {
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const asio::mutable_buffer buffer(room.data(), room.size());
  const std::size_t count = co_await socket_.async_read_some(buffer, token);
  co_return error ? 0 : count;
}

asio::awaitable<bool> Transport::WaitUntilReadable() {
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  co_await socket_.async_wait(Socket::wait_read, token);
  co_return !error;
}

std::optional<std::size_t> Transport::ReadNow(std::span<char> room) {
  const ssize_t count = ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno == EAGAIN || errno == EINTR) return std::nullopt;
  return 0;
}

asio::awaitable<bool> Transport::Write(std::span<const std::string> parts) {
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  std::vector<asio::const_buffer> all;
  for (const std::string& part : parts) all.push_back(asio::buffer(part));
  co_await asio::async_write(socket_, all, token);
  co_return !error;
}

void Transport::WriteNow(std::string_view bytes) {
  // NOLINTNEXTLINE(bugprone-unused-return-value): whoever does not hear it is told by the end
  (void)::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Transport::Cancel() {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

bool Transport::CloseSending() {
  boost::system::error_code error;
  socket_.shutdown(Socket::shutdown_send, error);
  return !error;
}

void Transport::DropUnsent() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

void Transport::Close() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace igloo::http
