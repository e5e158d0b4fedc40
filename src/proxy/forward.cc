#include "proxy/forward.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "proxy/waiting.h"

namespace igloo::proxy {

using network::Record;

namespace {

/// Between two attempts when this process has no descriptor left.
constexpr std::chrono::milliseconds kBreath(50);

network::Address Loopback() { return *network::ParseAddress("127.0.0.1"); }

/// A socket that was connected can be connected again once it is told to forget.
bool Forget(int fd) {
  sockaddr nothing{};
  nothing.sa_family = AF_UNSPEC;
  return ::connect(fd, &nothing, sizeof nothing) == 0;
}

}  // namespace

/// One connection through a forward.
class Forwarded final : public Connection, public std::enable_shared_from_this<Forwarded> {
 public:
  Forwarded(std::shared_ptr<Forward> forward, UniqueFd from, UniqueFd to)
      : Connection(forward->box_),
        forward_(std::move(forward)),
        from_(box()->shared().executor, std::move(from)),
        to_(box()->shared().executor, std::move(to)) {}

  void Stop() override {
    from_.Close();
    to_.Close();
  }

  asio::awaitable<void> Serve() {
    const auto self = shared_from_this();
    if (box()->backlog().full()) co_await box()->backlog().Room();
    if (!from_.open()) co_return forward_->Return(to_.Release());  // the sandbox has ended
    const Endpoint target{Loopback(), forward_->order_.port};
    int failure = ConnectTo(to_.fd(), target) == 0 ? 0 : errno;
    if (failure == EINPROGRESS) failure = co_await FinishConnect(to_);
    Record record{
        .protocol = forward_->publishes() ? Record::Protocol::kPublish : Record::Protocol::kReach,
        .sandbox = box()->id(),
        .connection = ++box()->shared().connections,
        .host = ToText(target.address),
        .port = target.port,
        .address = ToText(target.address)};
    if (failure == 0) {
      record.event = Record::Event::kOpened;
      box()->Tell(record);
      const auto give_up = [this] {
        from_.Abort();
        to_.Abort();
      };
      // One whose side has ended would hold its place until the other side ends, too.
      from_.WhenBroken(self, give_up);
      to_.WhenBroken(self, give_up);
      Pipes& pipes = box()->shared().pipes;
      co_await Both(PumpToEnd(pipes, from_, to_, record.bytes_out),
                    PumpToEnd(pipes, to_, from_, record.bytes_in));
      record.event = Record::Event::kEnded;
    } else {
      record.refusal = "nobody answers there: " + ErrnoText(failure);
    }
    box()->Tell(record);
    from_.Close();
    forward_->Return(to_.Release());
  }

 private:
  std::shared_ptr<Forward> forward_;  // shared with all its connections
  Socket from_, to_;
};

Result<std::shared_ptr<Forward>> Forward::Make(std::shared_ptr<Box> box,
                                               const network::AddForward& order,
                                               std::vector<UniqueFd> descriptors) {
  const bool publishes = order.kind == network::AddForward::Kind::kPublish;
  const bool counted = publishes ? descriptors.size() >= 2 : descriptors.size() == 1;
  if (!counted || !IsListener(descriptors.front().get())) {
    return Fail(Errc::kProtocol, "a forward came without its listener or sockets");
  }
  UniqueFd listener = std::move(descriptors.front());
  descriptors.erase(descriptors.begin());
  for (const UniqueFd& each : descriptors) {
    if (!IsUnconnected(each.get())) {
      return Fail(Errc::kProtocol, "a socket for a forward is of the wrong kind");
    }
    Adopt(each.get());
  }
  return std::shared_ptr<Forward>(
      new Forward(std::move(box), order, std::move(listener), std::move(descriptors)));
}

Forward::Forward(std::shared_ptr<Box> box, const network::AddForward& order, UniqueFd listener,
                 std::vector<UniqueFd> stock)
    : box_(std::move(box)),
      order_(order),
      listener_(box_->Hold(std::move(listener))),
      stock_(std::move(stock)),
      returned_(box_->shared().executor, asio::steady_timer::time_point::max()) {}

asio::awaitable<UniqueFd> Forward::Outgoing() {
  while (!publishes() && listener_->open()) {
    auto fresh = NewSocket(network::Family::kFour, SOCK_STREAM);
    if (fresh) StayLocal(fresh->get());
    if (fresh) co_return *std::move(fresh);
    co_await Pause(kBreath);
  }
  while (stock_.empty() && listener_->open()) {
    boost::system::error_code cancelled;
    auto token = Redirect(cancelled);
    co_await returned_.async_wait(token);
  }
  if (stock_.empty()) co_return UniqueFd();
  UniqueFd socket = std::move(stock_.back());
  stock_.pop_back();
  co_return socket;
}

void Forward::Return(UniqueFd socket) {
  if (publishes() && socket && Forget(socket.get())) stock_.push_back(std::move(socket));
  returned_.cancel();
}

asio::awaitable<void> Forward::Serve() {
  const auto self = shared_from_this();
  while (co_await box_->HasRoom()) {
    // First the way out: who cannot be served yet waits in the listener's queue.
    UniqueFd to = co_await Outgoing();
    if (!to) break;
    UniqueFd from = co_await box_->NextOf(*listener_);
    if (!from) break;
    auto connection = std::make_shared<Forwarded>(self, std::move(from), std::move(to));
    asio::co_spawn(
        box_->shared().executor, [connection] { return connection->Serve(); }, asio::detached);
  }
}

}  // namespace igloo::proxy
