#include "proxy/box.h"

#include <algorithm>
#include <cerrno>

#include "proxy/client.h"
#include "proxy/forward.h"
#include "proxy/waiting.h"

namespace igloo::proxy {

namespace {

/// Between two attempts when this process has no descriptor left.
constexpr std::chrono::milliseconds kBreath(50);
/// Of a sandbox that ends. Only a name that is asked for, or a server that does not take a
/// connection, takes longer.
constexpr std::chrono::milliseconds kLastWords(200);

}  // namespace

Connection::Connection(std::shared_ptr<Box> box) : box_(std::move(box)) {
  box_->live_.insert(this);
}

Connection::~Connection() {
  box_->live_.erase(this);
  box_->room_.cancel();
}

Box::Box(Shared& shared, network::AddSandbox order, network::RuleSet rules)
    : shared_(shared),
      order_(std::move(order)),
      patterns_(order_.secrets),
      rules_(std::make_shared<const network::RuleSet>(std::move(rules))),
      backlog_(std::make_shared<Backlog>(shared.executor)),
      room_(shared.executor, asio::steady_timer::time_point::max()) {}

std::shared_ptr<Socket> Box::Hold(UniqueFd listener) {
  Adopt(listener.get());  // it is inside, or on the host's loopback
  auto held = std::make_shared<Socket>(shared_.executor, std::move(listener));
  listeners_.push_back(held);
  return held;
}

void Box::Listen(UniqueFd listener) {
  asio::co_spawn(
      shared_.executor,
      [self = shared_from_this(), held = Hold(std::move(listener))] { return self->Serve(held); },
      asio::detached);
}

asio::awaitable<bool> Box::HasRoom() {
  while (!stopped_ && live_.size() >= order_.max_connections) {
    boost::system::error_code cancelled;
    auto token = Redirect(cancelled);
    co_await room_.async_wait(token);
  }
  co_return !stopped_;
}

asio::awaitable<UniqueFd> Box::NextOf(Socket& listener) {
  while (!stopped_ && listener.open()) {
    UniqueFd client = Accept(listener.fd());
    if (client) co_return client;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      co_await Pause(kBreath);
      continue;
    }
    if (errno == EINVAL) break;     // igloo has it listen no more
    if (errno != EAGAIN) continue;  // it has gone away again
    const bool ready = co_await listener.Readable();
    if (!ready) break;
  }
  co_return UniqueFd();
}

asio::awaitable<void> Box::Serve(std::shared_ptr<Socket> listener) {
  while (co_await HasRoom()) {
    UniqueFd fd = co_await NextOf(*listener);
    if (!fd) break;
    auto client = std::make_shared<Client>(shared_from_this(), std::move(fd));
    asio::co_spawn(shared_.executor, [client] { return client->Serve(); }, asio::detached);
  }
}

Result<void> Box::AddForward(const network::AddForward& order, std::vector<UniqueFd> descriptors) {
  IGLOO_ASSIGN(auto forward, Forward::Make(shared_from_this(), order, std::move(descriptors)));
  asio::co_spawn(shared_.executor, [forward] { return forward->Serve(); }, asio::detached);
  return {};
}

void Box::SetRules(network::RuleSet rules) {
  rules_ = std::make_shared<const network::RuleSet>(std::move(rules));
  // A connection that ends may take itself out of the set.
  const std::vector<Connection*> all(live_.begin(), live_.end());
  for (Connection* each : all) {
    if (live_.contains(each)) each->ReconsiderRules();
  }
}

void Box::SetRules(const network::ReplaceRules& order, network::RuleSet rules) {
  listed_ = order;
  SetRules(std::move(rules));
}

bool Box::IsForOnce(const std::string& rule) const {
  return std::ranges::find(listed_.once, rule) != listed_.once.end();
}

bool Box::UseUp(const std::string& rule) {
  const auto found = std::ranges::find(listed_.once, rule);
  if (found == listed_.once.end()) return false;
  listed_.once.erase(found);
  std::vector<std::string> left = listed_.rules;
  left.insert(left.end(), listed_.once.begin(), listed_.once.end());
  auto rules = network::RuleSet::Parse(listed_.tier, left);
  // What is under way with it goes on; nobody else gets it.
  rules_ = std::make_shared<const network::RuleSet>(rules ? *std::move(rules) : network::RuleSet());
  return true;
}

asio::awaitable<void> Box::Gone() {
  const Deadline deadline(shared_.executor, kLastWords, [this] { room_.cancel(); });
  while (!live_.empty() && !deadline.passed()) {
    boost::system::error_code cancelled;
    auto token = Redirect(cancelled);
    co_await room_.async_wait(token);
  }
}

void Box::Stop() {
  stopped_ = true;
  room_.cancel();
  backlog_->Close();
  for (const auto& listener : listeners_) listener->Close();
  const std::vector<Connection*> all(live_.begin(), live_.end());
  for (Connection* each : all) {
    if (live_.contains(each)) each->Stop();
  }
}

}  // namespace igloo::proxy
