// Connections of which one side is gone, or as good as gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "proxy.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kAMomentMs = 500;

/// Closes as the kernel does for a process that was killed with bytes unread: nothing is sent but a
/// reset.
void Vanish(UniqueFd fd) {
  const linger none{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

struct Way {
  const char* name;
  std::string begin;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class HalfOpen : public ::testing::TestWithParam<Way> {};

const std::string kSocks(
    "\5\1\0\5\1\0\3\x0b"
    "example.com\0\x09",
    21);

INSTANTIATE_TEST_SUITE_P(
    Ways, HalfOpen,
    ::testing::Values(Way{"Plain",
                          "GET http://example.com:9/ HTTP/1.1\r\nHost: example.com:9\r\n\r\n"},
                      Way{"Body",
                          "POST http://example.com:9/ HTTP/1.1\r\nHost: example.com:9\r\n"
                          "Content-Length: 9\r\n\r\nhalf"},
                      Way{"Tunnel", "CONNECT example.com:9 HTTP/1.1\r\n\r\nhello"},
                      Way{"Socks", kSocks + "hello"}),
    [](const auto& info) { return info.param.name; });

/// The server has taken a connection and says nothing.
void WaitForServer() {
  EXPECT_TRUE(WaitFor([] {
    const auto seen = World::Get().Seen();
    return std::ranges::find(seen, "HIT 93.184.216.34 9 silent") != seen.end();
  }));
}

TEST_P(HalfOpen, AClientThatVanishesFreesItsPlaceThoughTheServerIsSilent) {
  Proxy proxy;
  proxy.Add({"example.com:9", "example.com"}, network::Tier::kAllow, {}, 1);
  UniqueFd fd = proxy.Connect();
  Send(fd.get(), GetParam().begin);
  WaitForServer();
  Vanish(std::move(fd));
  // There was one place, and it is free again.
  EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("\"at\""));
  EXPECT_THAT(proxy.ToldRefusals(), ::testing::IsEmpty()) << "nothing was refused";
}

TEST_P(HalfOpen, AClientThatOnlyHasNothingMoreToSayKeepsIt) {
  Proxy proxy;
  proxy.Add({"example.com:9", "example.com"}, network::Tier::kAllow, {}, 1);
  UniqueFd fd = proxy.Connect();
  Send(fd.get(), GetParam().begin);
  WaitForServer();
  if (GetParam().name == std::string_view("Body")) Send(fd.get(), "whole");
  ::shutdown(fd.get(), SHUT_WR);
  // While it waits for the answer, somebody else waits for its place.
  const UniqueFd next = proxy.Connect();
  Send(next.get(), "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n");
  pollfd answer{next.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&answer, 1, kAMomentMs), 0);
  Vanish(std::move(fd));
  EXPECT_THAT(ReadUntil(next.get(), 12), StartsWith("HTTP/1.1 200"));
}

/// Sends until nothing has gone any further for a moment.
std::size_t SendUntilStuck(int fd) {
  const std::string piece(256U << 10, 'x');
  std::size_t all = 0;
  pollfd room{fd, POLLOUT, 0};
  while (::poll(&room, 1, kAMomentMs) == 1) {
    const ssize_t sent = ::send(fd, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) break;
    all += sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }
  return all;
}

long ResidentKilobytes(pid_t pid) {
  const std::string status = ReadProc("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("VmRSS:");
  return at == std::string::npos ? -1 : std::stol(status.substr(at + 6));
}

TEST(HalfOpenServer, ThatDoesNotReadHoldsUpNobodyAndTakesNoMemory) {
  for (const std::string& begin :
       {std::string("POST http://example.com:13/ HTTP/1.1\r\nHost: example.com:13\r\n"
                    "Content-Length: 999999999\r\n\r\n"),
        std::string("POST http://example.com:13/ HTTP/1.1\r\nHost: example.com:13\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n3b9aca00\r\n"),
        std::string("CONNECT example.com:13 HTTP/1.1\r\n\r\n")}) {
    Proxy proxy;
    proxy.Add({"example.com", "example.com:13"});
    EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("\"at\""));
    const int before = CountDescriptors(proxy.pid());
    const long memory = ResidentKilobytes(proxy.pid());
    UniqueFd fd = proxy.Connect();
    Send(fd.get(), begin);
    EXPECT_GT(SendUntilStuck(fd.get()), 1U << 20) << "more than fits into one buffer";
    EXPECT_LT(ResidentKilobytes(proxy.pid()) - memory, 4096);
    EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("\"at\""));
    Vanish(std::move(fd));
    // Two pipes may stay for the next who needs one.
    EXPECT_TRUE(WaitFor([&] { return CountDescriptors(proxy.pid()) <= before + 4; }))
        << CountDescriptors(proxy.pid());
  }
}

TEST(HalfOpenClient, ThatIsGoneWithoutAWordIsAskedForByTheKernel) {
  Proxy proxy;
  proxy.Add({"example.com:9"});
  const UniqueFd fd = proxy.Connect();
  Send(fd.get(), "CONNECT example.com:9 HTTP/1.1\r\n\r\n");
  WaitForServer();
  // Of the connection's end at the proxy, the kernel's table says which timer runs: 02 is the one
  // that asks a silent peer.
  char local[32];
  std::snprintf(local, sizeof local, " 0100007F:%04X ", proxy.port());
  const std::string timer = " 02:";
  const auto row_of_proxy = [&] {
    const std::string table = World::Get().inside().RunHere({"/bin/cat", "/proc/net/tcp"}).out;
    for (std::size_t begin = 0; begin < table.size();) {
      const std::size_t end = std::min(table.find('\n', begin), table.size());
      const std::string row = table.substr(begin, end - begin);
      const std::size_t at = row.find(local);
      // Established, and its local side.
      if (at != std::string::npos && row.find(':') + 1 == at && row.find(" 01 ", at) < row.size()) {
        return row;
      }
      begin = end + 1;
    }
    return std::string();
  };
  EXPECT_THAT(row_of_proxy(), HasSubstr(timer));
}

}  // namespace
}  // namespace igloo::testing
