#include "session/network/connection.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/error_text.h"
#include "base/file.h"
#include "base/text.h"
#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using network::AddForward;
using network::Level;
using network::Record;

namespace {

constexpr int kBacklog = 128;

constexpr std::string_view kRun = "run-";

std::string NextName() {
  static std::uint64_t last = 0;
  return std::string(kRun) + std::to_string(::getpid()) + "-" + std::to_string(++last);
}

template <class Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

/// SECURITY: on the host's loopback, never on an address that others reach.
Result<UniqueFd> ListenOutside(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(fd.get(), kBacklog) == 0) {
    return fd;
  }
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot publish at port " + std::to_string(port) + " of this machine",
                 saved_errno == EADDRINUSE
                     ? "something listens there already; choose another port: "
                       "--publish HOST:BOX"
                     : "choose another port: --publish HOST:BOX");
}

network::Tier TierOf(const network::Wanted& wanted) {
  return wanted.level == Level::kInternet ? network::Tier::kInternet : network::Tier::kAllow;
}

/// A port leads to one sandbox, and two of one environment want the same ports.
std::unexpected<Error> HeldBy(const std::string& holder, std::uint16_t port) {
  const bool run = ParseRunName(holder).has_value();
  return Fail(
      Errc::kExhausted,
      "port " + std::to_string(port) + " of this machine leads to " +
          (run ? "another run of this environment" : "session '" + Printable(holder) + "'") +
          " already",
      run ? "wait until it has ended, or publish other ports"
          : "go on in that session, close it first, or use an environment that publishes "
            "other ports");
}

std::string Canonical(const std::string& rule) {
  const auto parsed = network::ParseRule(rule);
  return parsed ? ToText(*parsed) : rule;
}

}  // namespace

std::optional<RunName> ParseRunName(std::string_view name) {
  if (!name.starts_with(kRun)) return std::nullopt;
  name.remove_prefix(kRun.size());
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto pid = NumberIn<std::int64_t>(name.substr(0, dash));
  const auto number = NumberIn<std::uint64_t>(name.substr(dash + 1));
  if (!pid || !number) return std::nullopt;
  return RunName{*pid, *number};
}

Connection::Connection(asio::io_context& loop, Proxy& proxy, network::Wanted wanted)
    : loop_(loop), proxy_(proxy), wanted_(std::move(wanted)), name_(NextName()), listener_(loop) {
  proxy_.Enter(name_, *this);
}

Connection::~Connection() {
  RecordDevice(Record::Event::kEnded);
  Unpublish();
  proxy_.Leave(name_);
  if (!process_) return;
  if (!removed_) Send(network::RemoveSandbox{name_}, {}, [](auto) {});
  proxy_.Release(process_);
}

void Connection::Send(network::Command command, std::vector<UniqueFd> descriptors,
                      Proxy::Answer answer) {
  if (!process_ || !process_->alive()) {
    return answer(Fail(Errc::kFailedPrecondition,
                       "the network of '" + name_ + "' is closed: igloo-proxy has ended",
                       "start another sandbox"));
  }
  process_->Send(std::move(command), std::move(descriptors), std::move(answer));
}

void Connection::Rename(std::string name) {
  if (handed_over_ || !proxy_.Enter(name, *this)) return;
  proxy_.Leave(name_);
  name_ = std::move(name);
}

bool Connection::HasPort(std::uint16_t outside) const {
  return !ports_.empty() && std::ranges::any_of(wanted_.publish, [&](const auto& each) {
    return each.outside == outside;
  });
}

Result<void> Connection::Publish() {
  if (published_) return {};
  for (const network::PublishedPort& port : wanted_.publish) {
    auto fd = ListenOutside(port.outside);
    if (!fd) {
      Unpublish();  // all of them or none
      const Connection* holder = proxy_.HolderOf(port.outside);
      if (holder != nullptr) return HeldBy(holder->name(), port.outside);
      return std::unexpected(std::move(fd).error());
    }
    ports_.push_back(Duplicate(fd->get()));
    if (!ports_.back()) {
      Unpublish();
      return Fail(Errc::kExhausted, "no descriptor is left to publish a port",
                  "raise the limit on open files: ulimit -n 4096");
    }
    outside_.push_back({.listener = Descriptor(loop_, fd->Release()),
                        .order = {.kind = AddForward::Kind::kPublish, .port = port.inside}});
  }
  published_ = true;
  RecordDevice(Record::Event::kOpened);
  if (handed_over_) {
    PassOn(outside_);
  } else if (attached_) {
    WatchAll(outside_);
  }
  return {};
}

void Connection::Unpublish() {
  outside_.clear();
  // igloo-proxy closes what it was given, but not at once, and might never. What does not listen
  // any more is in nobody's way.
  for (const UniqueFd& port : ports_) ::shutdown(port.get(), SHUT_RDWR);
  ports_.clear();
}

Result<void> Connection::Attach(backend::Sandbox& sandbox) {
  IGLOO_ASSIGN(backend::Sockets made, sandbox.TakeSockets());
  const std::size_t own = wanted_.proxied() ? 1 : 0;
  if (made.listeners.size() != own + wanted_.reach.size() ||
      made.unconnected.size() != wanted_.publish.size() * network::kSocketsPerPort) {
    return Fail(Errc::kProtocol, "the sandbox did not hand out the sockets of its network",
                "raise the limit on open files: ulimit -n 4096");
  }
  if (wanted_.proxied()) listener_.assign(made.listeners.front().Release());
  for (std::size_t i = 0; i < wanted_.reach.size(); ++i) {
    inside_.push_back({.listener = Descriptor(loop_, made.listeners[own + i].Release()),
                       .order = {.kind = AddForward::Kind::kReach, .port = wanted_.reach[i]}});
  }
  sockets_ = std::move(made.unconnected);
  attached_ = true;
  if (listener_.is_open()) Watch(listener_);
  WatchAll(inside_);
  WatchAll(outside_);
  return {};
}

void Connection::Watch(Descriptor& listener) {
  listener.async_wait(Descriptor::wait_read,
                      [weak = weak_from_this()](boost::system::error_code error) {
                        const auto self = weak.lock();
                        if (self && !error) self->HandOver();
                      });
}

void Connection::WatchAll(std::vector<Door>& doors) {
  for (Door& each : doors) Watch(each.listener);
}

void Connection::HandOver() {
  if (std::exchange(handed_over_, true)) return;
  network::AddSandbox add{.sandbox = name_,
                          .tier = TierOf(wanted_),
                          .rules = wanted_.rules,
                          .secrets = wanted_.secrets};
  auto joined = proxy_.Join(TrustDomainOf(wanted_));
  if (!joined) {
    // SECURITY: closed, and not served by the process of somebody else.
    Refuse("", InOneLine(joined.error()), "");
    boost::system::error_code ignored;
    listener_.close(ignored);
    inside_.clear();
    return Unpublish();
  }
  process_ = *std::move(joined);
  std::vector<UniqueFd> own;
  if (listener_.is_open()) own.emplace_back(listener_.release());
  Send(std::move(add), std::move(own), Told());
  PassOn(inside_);
  PassOn(outside_);
  if (!once_.empty()) ReplaceRules([](auto) {});
}

void Connection::PassOn(std::vector<Door>& doors) {
  for (Door& door : doors) {
    std::vector<UniqueFd> descriptors;
    descriptors.emplace_back(door.listener.release());
    door.order.sandbox = name_;
    if (door.order.kind == AddForward::Kind::kPublish) {
      const auto begin = sockets_.end() - network::kSocketsPerPort;
      std::move(begin, sockets_.end(), std::back_inserter(descriptors));
      sockets_.erase(begin, sockets_.end());
    }
    Send(door.order, std::move(descriptors), Told());
  }
  doors.clear();
}

Proxy::Answer Connection::Told() {
  return [weak = weak_from_this()](const Result<void>& done) {
    const auto self = weak.lock();
    if (self && !done) self->Refuse("", done.error().what, "");
  };
}

void Connection::Allow(const std::string& rule, Duration duration, Proxy::Answer answer) {
  if (const auto parsed = network::ParseRule(rule); !parsed) {
    return answer(std::unexpected(parsed.error()));
  }
  if (!wanted_.proxied()) {
    return answer(Fail(Errc::kFailedPrecondition, "'" + name_ + "' has no network to allow more of",
                       "start it with --network allow"));
  }
  const std::string added = Canonical(rule);
  // A rule for one connection is counted by igloo-proxy.
  if (attached_ && duration == Duration::kOnce) HandOver();
  (duration == Duration::kOnce ? once_ : wanted_.rules).push_back(added);
  ReplaceRules(
      [weak = weak_from_this(), added, duration, answer = std::move(answer)](Result<void> done) {
        const auto self = weak.lock();
        if (self && !done) {
          auto& list = duration == Duration::kOnce ? self->once_ : self->wanted_.rules;
          if (const auto found = std::ranges::find(list, added); found != list.end())
            list.erase(found);
        }
        answer(std::move(done));
      });
}

void Connection::ReplaceRules(Proxy::Answer answer) {
  if (!handed_over_) return answer({});  // they count from the first connection on
  network::ReplaceRules replace{
      .sandbox = name_, .tier = TierOf(wanted_), .rules = wanted_.rules, .once = once_};
  Send(std::move(replace), {}, std::move(answer));
}

void Connection::Hear(const Record& record) {
  if (record.event == Record::Event::kUsed) {
    const auto used = std::ranges::find(once_, record.rule);
    if (used != once_.end()) once_.erase(used);
    return;
  }
  const bool returned = record.event == Record::Event::kReturned;
  const bool warns = returned || record.event == Record::Event::kUnsearched;
  if (record.event == Record::Event::kOpened || (record.refusal.empty() && !warns)) return;
  const bool six = record.host.find(':') != std::string::npos && !record.host.starts_with('[');
  const std::string host = six ? "[" + record.host + "]" : record.host;
  // What could not be read names no place.
  const std::string place = host.empty() ? "" : host + ":" + std::to_string(record.port);
  if (!warns) return Refuse(place, record.refusal, record.remedy);
  for (const std::string& secret : record.secrets) {
    refusals_.Add({.kind = Refusal::Kind::kWarned,
                   .sandbox = name_,
                   .place = place,
                   .reason = returned ? "the server sent the value of the secret '" + secret +
                                            "' back; igloo took it out of the answer"
                                      : "the answer is compressed, so igloo could not look for the "
                                        "value of the secret '" +
                                            secret + "' in it"});
  }
}

void Connection::Lose(const ProxyProcess& process, const Error& why) {
  if (IsServedBy(process)) Refuse("", why.what, "");
}

void Connection::GainDevice() {
  device_ = DeviceState::kThere;
  RecordDevice(Record::Event::kOpened);
}

void Connection::RecordDevice(Record::Event event) {
  const bool opened = event == Record::Event::kOpened;
  if (device_ != (opened ? DeviceState::kThere : DeviceState::kRecorded)) return;
  // One that waits to be used has neither its name nor anybody's code.
  if (!published_) return;
  device_ = opened ? DeviceState::kRecorded : DeviceState::kNone;
  proxy_.Tell({.event = event,
               .protocol = Record::Protocol::kDevice,
               .sandbox = name_,
               .time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count(),
               .host = "eth0"});
}

void Connection::LoseDevice() {
  RecordDevice(Record::Event::kEnded);
  Refuse("", "pasta ended, and nothing passes through the sandbox's device any more", "");
}

void Connection::Refuse(std::string place, std::string reason, std::string rule) {
  refusals_.Add({.sandbox = name_,
                 .place = std::move(place),
                 .reason = std::move(reason),
                 .rule = std::move(rule)});
}

void Connection::End(Proxy::Answer answer) {
  RecordDevice(Record::Event::kEnded);
  Unpublish();
  if (!process_ || !process_->alive() || std::exchange(removed_, true)) return answer({});
  Send(network::RemoveSandbox{name_}, {}, std::move(answer));
}

Refusals Connection::TakeRefusals() {
  if (process_) process_->Settle();
  return std::exchange(refusals_, {});
}

}  // namespace igloo::session
