#include <arpa/inet.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "mcp/http.h"
#include "mcp/testing.h"

namespace {

using igloo::UniqueFd;
using namespace igloo::mcp;

UniqueFd CallPort(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    __builtin_trap();
  }
  // Hanging up leaves nothing behind that would keep the port.
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  return fd;
}

std::string Heard(int fd) {
  std::string heard;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
    heard.append(buffer, static_cast<std::size_t>(count));
  }
  return heard;
}

}  // namespace

/// What a hostile client can send to the server on HTTP, and then hang up: it is answered by HTTP
/// or not at all, and nothing goes on.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  testing::Conversation talk;
  HttpServer server(talk.loop, talk.core);
  const auto port = server.Listen();
  if (!port) __builtin_trap();
  boost::asio::co_spawn(talk.loop, server.Serve(), boost::asio::detached);
  UniqueFd client = CallPort(*port);
  // Two parts: a head that comes in pieces is the same head.
  const std::size_t cut = size == 0 ? 0 : bytes[0] * size / 256;
  for (const auto part :
       {std::string_view(reinterpret_cast<const char*>(bytes), cut),
        std::string_view(reinterpret_cast<const char*>(bytes) + cut, size - cut)}) {
    if (!part.empty()) (void)::send(client.get(), part.data(), part.size(), MSG_NOSIGNAL);
    talk.Listen();
  }
  const std::string heard = Heard(client.get());
  if (!heard.empty() && !heard.starts_with("HTTP/1.")) __builtin_trap();
  client.Reset();
  talk.Listen();
  server.Stop();
  talk.Listen();
  if (talk.core->running() != 0) __builtin_trap();
  return 0;
}
