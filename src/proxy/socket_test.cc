#include "proxy/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "proxy/wall.h"

namespace igloo::proxy {
namespace {

/// A listener as somebody else makes one, and somebody who connects to it.
struct Local {
  UniqueFd listener = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  UniqueFd client = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));

  bool Listen() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
           ::listen(listener.get(), 1) == 0;
  }
  bool Connect() const {
    const auto self = SelfOf(listener.get());
    return self && ConnectTo(client.get(), *self) == 0;
  }
};

std::string CongestionControl(int fd) {
  char name[16] = {};
  socklen_t size = sizeof name - 1;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0 ? name : "";
}

int TcpOption(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, IPPROTO_TCP, option, &value, &size) == 0 ? value : -1;
}

/// What the proxy takes over behind its wall, in a process of its own: 0, or which line was wrong.
int AdoptBehindTheWall() {
  const Local local;
  if (!local.Listen()) return __LINE__;
  if (!RaiseWall()) return __LINE__;
  Adopt(local.listener.get());
  if (Accept(local.listener.get()) || errno != EAGAIN) return __LINE__;
  if (!local.Connect()) return __LINE__;
  const UniqueFd accepted = Accept(local.listener.get());
  if (!accepted) return __LINE__;
  if (CongestionControl(accepted.get()) != "reno") return __LINE__;
  if (TcpOption(accepted.get(), TCP_KEEPIDLE) != 60) return __LINE__;
  if (TcpOption(accepted.get(), TCP_NODELAY) != 1) return __LINE__;
  return 0;
}

TEST(Adopted, ListenersDoNotBlockAndTheirConnectionsAreUnpacedAndWatched) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(AdoptBehindTheWall());
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line of this file that was wrong";
}

}  // namespace
}  // namespace igloo::proxy
