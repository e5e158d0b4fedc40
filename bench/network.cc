#include "bench/network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/temp_dir.h"
#include "bench/layout.h"
#include "bench/memory.h"
#include "bench/stopwatch.h"
#include "network/channel.h"
#include "network/control.h"

namespace igloo::bench {
namespace {

constexpr std::uint64_t kBody = 256U << 20;
constexpr unsigned kRequests = 200;
constexpr int kPatienceMs = 10'000;
constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\nContent-Length: ";
constexpr const char* kHaproxy = "/usr/sbin/haproxy";

Error Broken(const std::string& what) { return {Errc::kProtocol, what, "", errno}; }

struct Listening {
  UniqueFd fd = {};
  std::uint16_t port = 0;
};

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Result<Listening> Listen() {
  Listening made{.fd = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* name = reinterpret_cast<sockaddr*>(&address);
  if (::bind(made.fd.get(), name, size) != 0 || ::listen(made.fd.get(), 1024) != 0 ||
      ::getsockname(made.fd.get(), name, &size) != 0) {
    return std::unexpected(Broken("cannot listen on loopback"));
  }
  made.port = ntohs(address.sin_port);
  return made;
}

Result<UniqueFd> Connect(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::unexpected(Broken("cannot connect to loopback"));
  }
  return fd;
}

/// Reads until the text ends with `end`, or to the end of the connection.
Result<std::string> ReadUntil(int fd, std::string_view end) {
  std::string text;
  std::array<char, 4096> buffer;
  while (!text.ends_with(end)) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) return std::unexpected(Broken("a connection ended early: " + text));
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

/// A server of this process: small answers for "GET /", a long one for "GET /body".
void Answer(UniqueFd connection) {
  const int yes = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const std::string small = std::string(kHead) + "2\r\n\r\nok";
  for (;;) {
    const auto request = ReadUntil(connection.get(), "\r\n\r\n");
    if (!request) return;
    if (request->find("/body") == std::string::npos) {
      if (!WriteAll(connection.get(), small)) return;
      continue;
    }
    if (!WriteAll(connection.get(), std::string(kHead) + std::to_string(kBody) + "\r\n\r\n"))
      return;
    const std::string piece(256U << 10, 'x');
    for (std::uint64_t sent = 0; sent < kBody; sent += piece.size()) {
      if (!WriteAll(connection.get(), piece)) return;
    }
  }
}

/// One request and its answer: microseconds.
Result<double> RoundTrip(int fd, const std::string& request) {
  const Stopwatch watch;
  IGLOO_TRY(WriteAll(fd, request));
  IGLOO_TRY(ReadUntil(fd, "ok"));
  return watch.micros();
}

/// A long answer, to its last byte: microseconds.
Result<double> Fetch(int fd, std::uint16_t server) {
  const Stopwatch watch;
  IGLOO_TRY(WriteAll(fd, fmt::format("GET /body HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server)));
  std::string buffer(256U << 10, '\0');
  for (std::uint64_t total = 0; total < kBody;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) return std::unexpected(Broken("a long answer ended early"));
    total += static_cast<std::uint64_t>(count);
  }
  return watch.micros();
}

}  // namespace

struct NetworkRuns::State {
  std::string programs = {};
  Listening server = {};
  std::jthread accepting = {};
  UniqueFd control = {};
  Child proxy = {}, haproxy = {};
  std::uint16_t proxy_port = 0, haproxy_port = 0;
  std::optional<TempDir> files = {};

  ~State() {
    if (!accepting.joinable()) return;
    accepting.request_stop();
    ::shutdown(server.fd.get(), SHUT_RDWR);
  }

  /// Once, at the first use: who measures something else does not pay for it.
  Result<void> Begin() {
    if (accepting.joinable()) return {};
    IGLOO_ASSIGN(server, Listen());
    accepting = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        UniqueFd accepted(::accept4(server.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (accepted)
          std::thread([fd = std::move(accepted)]() mutable { Answer(std::move(fd)); }).detach();
      }
    });
    return StartProxy();
  }

  Result<void> StartProxy() {
    IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_SEQPACKET));
    IGLOO_ASSIGN(proxy, Spawn({.program = programs + "/igloo-proxy",
                               .argv = {"igloo-proxy", "3"},
                               .fds = {{pair.second.get(), 3}}}));
    control = std::move(pair.first);
    IGLOO_ASSIGN(Listening inside, Listen());
    proxy_port = inside.port;
    network::AddSandbox add{.sandbox = "bench",
                            .rules = {"127.0.0.1:" + std::to_string(server.port)}};
    IGLOO_TRY(network::SendPacket(control.get(), network::Encode(network::Order{1, add}),
                                  {inside.fd.get()}));
    // Ready, then the answer.
    for (int i = 0; i < 2; ++i) {
      IGLOO_ASSIGN(const auto packet, network::ReceivePacket(control.get()));
      IGLOO_ASSIGN(const auto news, network::DecodeNews(packet->text));
      if (const auto* failed = std::get_if<network::Failed>(&news.front())) {
        return Fail(Errc::kProtocol, failed->what);
      }
    }
    IGLOO_TRY(SetNonBlocking(control.get()));
    return {};
  }

  /// Its decisions are taken, or it would have to keep them.
  void TakeNews() {
    while (true) {
      const auto packet = network::ReceivePacket(control.get());
      if (!packet || !*packet) return;
    }
  }

  Result<void> StartHaproxy() {
    if (haproxy) return {};
    if (::access(kHaproxy, X_OK) != 0) {
      return Fail(Errc::kNotFound, "haproxy is not installed", "make bench-peers");
    }
    IGLOO_ASSIGN(files, TempDir::Make("/tmp"));
    IGLOO_ASSIGN(Listening free, Listen());
    haproxy_port = free.port;
    const std::string path = files->path() + "/haproxy.cfg";
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    IGLOO_TRY(
        WriteAll(file.get(), fmt::format("global\n  nbthread 1\ndefaults\n  mode http\n"
                                         "  timeout client 60s\n  timeout server 60s\n"
                                         "  timeout connect 10s\nfrontend in\n  bind 127.0.0.1:{}\n"
                                         "  default_backend out\nbackend out\n"
                                         "  server one 127.0.0.1:{}\n",
                                         haproxy_port, server.port)));
    free.fd.Reset();
    IGLOO_ASSIGN(haproxy, Spawn({.program = kHaproxy, .argv = {"haproxy", "-db", "-f", path}}));
    for (const std::int64_t until = MonotonicMicros() + kPatienceMs * 1000;
         !Connect(haproxy_port);) {
      if (MonotonicMicros() > until) return Fail(Errc::kTimeout, "haproxy does not listen");
      std::this_thread::yield();
    }
    return {};
  }

  /// A tunnel through igloo-proxy to the server.
  Result<UniqueFd> Tunnel() {
    IGLOO_ASSIGN(UniqueFd fd, Connect(proxy_port));
    IGLOO_TRY(WriteAll(fd.get(), fmt::format("CONNECT 127.0.0.1:{0} HTTP/1.1\r\nHost: "
                                             "127.0.0.1:{0}\r\n\r\n",
                                             server.port)));
    IGLOO_ASSIGN(const std::string answer, ReadUntil(fd.get(), "\r\n\r\n"));
    if (!answer.starts_with("HTTP/1.1 200")) return std::unexpected(Broken(answer));
    return fd;
  }

  /// What each adds to a request, in microseconds.
  struct Hops {
    double igloo = 0, haproxy = 0;
  };

  /// A connection that requests go over, with or without a hop.
  struct Way {
    UniqueFd fd = {};
    std::string request = {};
    double micros = 0;
  };

  Result<Way> MakeWay(std::uint16_t port, std::string_view target) const {
    IGLOO_ASSIGN(UniqueFd fd, Connect(port));
    return Way{std::move(fd),
               fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", target, server.port)};
  }

  /// Kept: haproxy keeps its connection to the server, and the thread there, from round to round.
  std::array<Way, 3> ways = {};

  /// What each hop adds to a request: the same request directly and over both, in turns. Measured
  /// one after the other, what differed most was on which core the kernel had left the threads:
  /// haproxy alone took three times as long as haproxy in the same run as igloo-proxy.
  Result<Hops> MeasureHops(std::optional<Layout::Cores> cores) {
    IGLOO_TRY(Begin());
    IGLOO_TRY(StartHaproxy());
    if (!ways[0].fd) {
      IGLOO_ASSIGN(ways[0], MakeWay(server.port, "/"));
      IGLOO_ASSIGN(ways[1], MakeWay(proxy_port, fmt::format("http://127.0.0.1:{}/", server.port)));
      IGLOO_ASSIGN(ways[2], MakeWay(haproxy_port, "/"));
    }
    std::optional<Layout> layout;
    if (cores) layout.emplace(*cores, std::vector{proxy.pid(), haproxy.pid()});
    Samples igloo, other;
    for (unsigned i = 0; i < kRequests; ++i) {
      // Each comes after each of the others as often.
      std::array<unsigned, 3> order = {0, 1, 2};
      for (unsigned turn = 0; turn < i % 6; ++turn)
        std::next_permutation(order.begin(), order.end());
      for (const unsigned which : order) {
        IGLOO_ASSIGN(ways[which].micros, RoundTrip(ways[which].fd.get(), ways[which].request));
      }
      igloo.Add(ways[1].micros - ways[0].micros);
      other.Add(ways[2].micros - ways[0].micros);
    }
    TakeNews();
    return Hops{std::max(igloo.median(), 0.1), std::max(other.median(), 0.1)};
  }
};

NetworkRuns::NetworkRuns(std::string programs) : state_(std::make_unique<State>()) {
  state_->programs = std::move(programs);
}

NetworkRuns::~NetworkRuns() = default;

std::vector<Candidate> NetworkRuns::Candidates() {
  State& state = *state_;
  const auto add = [](std::string key, std::string name, Once once, unsigned every) {
    return Candidate{
        .key = std::move(key), .name = std::move(name), .every = every, .once = std::move(once)};
  };
  std::vector<Candidate> out;
  out.push_back(add(
      "net_direct", "256 MB over loopback",
      [&state]() -> Result<double> {
        IGLOO_TRY(state.Begin());
        IGLOO_ASSIGN(const UniqueFd fd, Connect(state.server.port));
        return Fetch(fd.get(), state.server.port);
      },
      4));
  out.push_back(add(
      "net_proxy", "256 MB through igloo-proxy",
      [&state]() -> Result<double> {
        IGLOO_TRY(state.Begin());
        IGLOO_ASSIGN(const UniqueFd fd, state.Tunnel());
        auto micros = Fetch(fd.get(), state.server.port);
        state.TakeNews();
        return micros;
      },
      4));
  struct Where {
    const char* key;
    const char* name;
    std::optional<Layout::Cores> cores;
  };
  for (const Where& where : {Where{"", "", {}}, Where{"_one", ", one core", Layout::Cores::kOne},
                             Where{"_two", ", two cores", Layout::Cores::kTwo}}) {
    if (where.cores && !Layout::Has(*where.cores)) continue;
    const auto hop = [&](const std::string& key, const std::string& who, double State::Hops::* of) {
      out.push_back(add(
          key + where.key, "a request, added by " + who + where.name,
          [&state, of, cores = where.cores]() -> Result<double> {
            IGLOO_ASSIGN(const State::Hops hops, state.MeasureHops(cores));
            return hops.*of;
          },
          1));
    };
    hop("net_hop", "igloo-proxy", &State::Hops::igloo);
    hop("net_hop_haproxy", "haproxy", &State::Hops::haproxy);
  }
  return out;
}

Figures NetworkRuns::MeasureIdle(unsigned connections) {
  Figures figures;
  const auto pss = [&]() -> double {
    const auto text =
        ReadFile("/proc/" + std::to_string(state_->proxy.pid()) + "/smaps_rollup", 1U << 16);
    return KilobytesOf(text.value_or(""), "Pss").value_or(0) / 1024;
  };
  if (auto begun = state_->Begin(); !begun) {
    figures.failure = begun.error().what;
    return figures;
  }
  std::vector<UniqueFd> idle;
  const double before = pss();
  for (unsigned i = 0; i < connections; ++i) {
    auto fd = state_->Tunnel();
    if (!fd) {
      figures.failure = fd.error().what;
      return figures;
    }
    idle.push_back(*std::move(fd));
    state_->TakeNews();
  }
  figures.Tell("net_idle_before", "igloo-proxy without a connection, MiB", before);
  figures.Tell("net_idle", fmt::format("igloo-proxy with {} idle connections, MiB", connections),
               pss(), 32);
  return figures;
}

}  // namespace igloo::bench
