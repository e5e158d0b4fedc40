#include "agent/sockets/served_sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <optional>
#include <utility>

#include "agent/sockets/gpg_filter.h"
#include "agent/sockets/ssh_filter.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unix_listener.h"
#include "session/asio.h"

namespace igloo::agent {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

constexpr std::size_t kMostClients = 32;
/// What waits for a side that does not read; a link with more is closed.
constexpr std::size_t kMostUnsent = 1U << 20;
constexpr int kListMillis = 5'000;

/// One connection of the box's and its own one to the host's program.
class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(asio::io_context& loop, UniqueFd client, UniqueFd server,
       std::unique_ptr<SocketFilter> filter)
      : client_(loop, std::move(client)),
        server_(loop, std::move(server)),
        filter_(std::move(filter)) {}

  void Start() {
    const auto self = shared_from_this();
    const auto run = [&](asio::awaitable<void> work) {
      asio::co_spawn(client_.stream.get_executor(), std::move(work), asio::detached);
    };
    run(Pass(self, client_, &SocketFilter::FromClient));
    run(Pass(self, server_, &SocketFilter::FromServer));
  }

 private:
  using Step = Result<Passed> (SocketFilter::*)(std::string_view);

  struct Side {
    Side(asio::io_context& loop, UniqueFd fd) : stream(loop, fd.Release()) {}
    stream_descriptor stream;
    std::string unsent = {};
    bool sending = false;
  };

  asio::awaitable<void> Pass(std::shared_ptr<Link> self, Side& from, Step step) {
    std::array<char, 16384> buffer;
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      const auto space = asio::buffer(buffer);
      const std::size_t count = co_await from.stream.async_read_some(space, token);
      if (error) break;
      auto passed = ((*filter_).*step)({buffer.data(), count});
      if (!passed) break;
      // Nothing more is read from this side until it has gone on: nothing piles up.
      if (!co_await Send(server_, std::move(passed->to_server))) break;
      if (!co_await Send(client_, std::move(passed->to_client))) break;
    }
    Close();
  }

  /// Both directions may have something for one side; whoever comes second leaves it to the first,
  /// so that no message gets into the middle of another one.
  asio::awaitable<bool> Send(Side& to, std::string bytes) {
    to.unsent += bytes;
    if (to.sending) co_return to.unsent.size() <= kMostUnsent;
    to.sending = true;
    while (!to.unsent.empty() && to.stream.is_open()) {
      const std::string now = std::exchange(to.unsent, {});
      std::size_t sent = 0;
      while (sent < now.size()) {
        boost::system::error_code error;
        auto token = session::Redirect(error);
        const auto rest = asio::buffer(now) + sent;
        sent += co_await to.stream.async_write_some(rest, token);
        if (error) co_return false;
      }
    }
    to.sending = false;
    co_return to.stream.is_open();
  }

  void Close() {
    boost::system::error_code ignored;
    if (client_.stream.is_open()) client_.stream.close(ignored);
    if (server_.stream.is_open()) server_.stream.close(ignored);
  }

  Side client_, server_;
  std::unique_ptr<SocketFilter> filter_;
};

Result<std::string> ReadSome(int fd) {
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, kListMillis) <= 0) {
    return Fail(Errc::kTimeout, "the ssh-agent does not answer");
  }
  std::array<char, 16384> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count <= 0) return Fail(Errc::kProtocol, "the ssh-agent closes the connection");
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

bool HasEnded(const Child& child) {
  pollfd ended{child.pidfd(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

}  // namespace

struct ServedSockets::Socket : std::enable_shared_from_this<Socket> {
  Socket(ServedSocket what, UnixListener own)
      : description(std::move(what)), listener(std::move(own)) {}

  std::unique_ptr<SocketFilter> NewFilter() {
    SocketFilter::Note here = [this](std::string_view event, std::string_view what) {
      if (note) note(description.protocol, event, what);
    };
    if (description.protocol == ServedSocket::Protocol::kGpgAgent) {
      return std::make_unique<GpgFilter>(std::move(here));
    }
    return std::make_unique<SshFilter>(description.keys, std::move(here));
  }

  /// Everything that belongs to the loop is in this frame, and goes away with the loop.
  asio::awaitable<void> Accept(asio::io_context& loop) {
    const auto self = shared_from_this();
    stream_descriptor ready(loop, Duplicate(listener.fd()).Release());
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      co_await ready.async_wait(stream_descriptor::wait_read, token);
      if (error) co_return;
      auto client = AcceptClient(listener.fd());
      if (!client) co_return;
      std::erase_if(links, [](const auto& each) { return each.expired(); });
      std::erase_if(relays, [](const Child& each) { return HasEnded(each); });
      if (!*client || links.size() + relays.size() >= kMostClients) continue;
      if (description.protocol == ServedSocket::Protocol::kNixDaemon) {
        auto relay = StartNixRelay(description.upstream, (*client)->get());
        if (relay) relays.push_back(*std::move(relay));
        continue;
      }
      auto server = ConnectTo(description.upstream);
      if (!server) continue;  // the agent has ended: the client sees that nobody answers
      auto link =
          std::make_shared<Link>(loop, **std::move(client), *std::move(server), NewFilter());
      links.push_back(link);
      link->Start();
    }
  }

  ServedSocket description;
  UnixListener listener;
  Note note = {};
  std::vector<std::weak_ptr<Link>> links = {};
  std::vector<Child> relays = {};
};

ServedSockets::ServedSockets() = default;
ServedSockets::~ServedSockets() = default;

Result<std::unique_ptr<ServedSockets>> ServedSockets::Open(
    const std::vector<ServedSocket>& sockets) {
  std::unique_ptr<ServedSockets> served(new ServedSockets);
  for (const ServedSocket& each : sockets) {
    IGLOO_ASSIGN(UnixListener listener, UnixListener::Open(each.path));
    if (::chmod(each.path.c_str(), 0666) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot open '" + each.path + "' to the box");
    }
    served->sockets_.push_back(std::make_shared<Socket>(each, std::move(listener)));
  }
  return served;
}

void ServedSockets::Serve(asio::io_context& loop, Note note) {
  for (const std::shared_ptr<Socket>& each : sockets_) {
    each->note = note;
    asio::co_spawn(loop, each->Accept(loop), asio::detached);
  }
}

Result<UniqueFd> ConnectTo(const std::string& path) {
  IGLOO_TRY(CheckSocketPath(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::ranges::copy(path, name.sun_path);
  if (fd && ::connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0) return fd;
  const int saved_errno = errno;
  return FailSys(saved_errno, "nobody answers on '" + Printable(path) + "'");
}

Result<Child> StartNixRelay(const std::string& nix, int client) {
  // What it was accepted with would fail the daemon's first read.
  const int flags = ::fcntl(client, F_GETFL);
  if (flags < 0 || ::fcntl(client, F_SETFL, flags & ~O_NONBLOCK) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot prepare a connection to Nix");
  }
  return Spawn(
      {.program = nix,
       .argv = {"nix", "daemon", "--stdio", "--force-untrusted"},
       .env = {"PATH=/usr/bin:/bin", "HOME=/root", "NIX_REMOTE=local",
               "NIX_CONFIG=extra-experimental-features = nix-command daemon-trust-override"},
       .fds = {{client, 0}, {client, 1}}});
}

Result<std::vector<SshKey>> ListSshKeys(const std::string& socket) {
  IGLOO_ASSIGN(const UniqueFd agent, ConnectTo(socket));
  IGLOO_TRY(WriteAll(agent.get(), SshFrame(std::string(1, ssh_message::kList))));
  std::string buffer;
  for (;;) {
    IGLOO_ASSIGN(const std::string more, ReadSome(agent.get()));
    buffer += more;
    IGLOO_ASSIGN(const std::optional<std::string> message, TakeSshFrame(buffer));
    if (message) return ParseSshKeys(*message);
  }
}

}  // namespace igloo::agent
