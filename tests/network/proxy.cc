#include "proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/file.h"
#include "network/channel.h"

namespace igloo::testing {

using network::Record;

namespace {

constexpr int kPatienceMs = 30'000, kPatienceSeconds = 30;
constexpr int kControl = 3;

[[noreturn]] void Die(const std::string& what) { throw std::runtime_error(what); }

}  // namespace

std::string ReadUntil(int fd, std::size_t count) {
  std::string text;
  char buffer[65536];
  while (text.size() < count) {
    const ssize_t got = ::recv(fd, buffer, std::min(sizeof buffer, count - text.size()), 0);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

std::size_t CountToEnd(int fd) {
  std::size_t all = 0;
  std::string buffer(1U << 20, '\0');
  for (ssize_t got = 0; (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
    all += static_cast<std::size_t>(got);
  }
  return all;
}

void Send(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Proxy::Proxy() {
  World& world = World::Get();
  (void)world.Seen();  // what earlier tests did
  FdPair pair = MakeSocketPair(SOCK_SEQPACKET).value();
  control_ = std::move(pair.first);
  child_ = Spawn({.program = BinDirectory() + "/igloo-proxy",
                  .argv = {"igloo-proxy", std::to_string(kControl), "--resolver=93.184.216.53:53",
                           "--roots=" + world.roots_file()},
                  .env = {},
                  .fds = {{2, 2}, {pair.second.get(), kControl}}})
               .value();
  pair.second.Reset();
  if (!std::holds_alternative<network::Ready>(Next())) Die("the proxy is not ready");
}

network::News Proxy::Next() {
  if (told_.empty()) {
    pollfd waiting{control_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kPatienceMs) != 1) Die("the proxy says nothing");
    TakeMessage();
  }
  network::News news = std::move(told_.front());
  told_.pop_front();
  return news;
}

void Proxy::TakeMessage() {
  auto packet = network::ReceivePacket(control_.get());
  if (!packet || !*packet) Die("the proxy has gone");
  auto news = network::DecodeNews((*packet)->text);
  if (!news) Die("the proxy says nonsense: " + news.error().what);
  std::ranges::move(*news, std::back_inserter(told_));
}

std::optional<Record> Proxy::TakeTold(const std::function<bool(const Record&)>& suits) {
  pollfd waiting{control_.get(), POLLIN, 0};
  while (::poll(&waiting, 1, 0) == 1) TakeMessage();
  for (; !told_.empty(); told_.pop_front()) {
    if (auto* record = std::get_if<Record>(&told_.front())) records_.push_back(std::move(*record));
  }
  const auto found = std::ranges::find_if(records_, suits);
  if (found == records_.end()) return std::nullopt;
  Record record = *found;
  records_.erase(found);
  return record;
}

std::vector<std::string> Proxy::ToldRefusals() {
  std::vector<std::string> hosts;
  while (auto record = TakeTold([](const Record& each) { return !each.refusal.empty(); })) {
    hosts.push_back(record->host);
  }
  return hosts;
}

void Proxy::Add(std::vector<std::string> rules, network::Tier tier,
                std::vector<network::Secret> secrets, std::uint32_t connections) {
  port_ = 0;
  const UniqueFd listener = World::Get().inside().Listen(port_);
  const std::string wrong =
      Order(network::AddSandbox{"box", tier, std::move(rules), std::move(secrets), connections},
            {listener.get()});
  if (!wrong.empty()) Die(wrong);
}

std::string Proxy::Order(network::Command command, const std::vector<int>& descriptors) {
  const std::uint64_t number = ++orders_;
  const std::string text = network::Encode(network::Order{number, std::move(command)});
  if (!network::SendPacket(control_.get(), text, descriptors)) Die("the proxy takes no orders");
  while (true) {
    network::News news = Next();
    if (const auto* done = std::get_if<network::Done>(&news); done && done->order == number)
      return "";
    // Its last words belong to no order; the end of the channel follows.
    if (const auto* failed = std::get_if<network::Failed>(&news); failed && failed->order != 0)
      return failed->what;
    if (auto* record = std::get_if<Record>(&news)) records_.push_back(std::move(*record));
  }
}

std::string Proxy::Replace(std::vector<std::string> rules) {
  return Order(network::ReplaceRules{"box", network::Tier::kAllow, std::move(rules), {}});
}

std::string Proxy::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_);
}

int Proxy::Abandon() {
  control_.Reset();
  const int status = child_.Wait().value();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Record Proxy::WaitForRecord(const std::function<bool(const Record&)>& suits) {
  while (true) {
    const auto found = std::ranges::find_if(records_, suits);
    if (found != records_.end()) {
      Record record = *found;
      records_.erase(found);
      return record;
    }
    network::News news = Next();
    if (auto* record = std::get_if<Record>(&news)) records_.push_back(std::move(*record));
  }
}

Record Proxy::WaitForRefusal() {
  return WaitForRecord([](const Record& each) { return each.event == Record::Event::kRefused; });
}

Outcome Proxy::Curl(std::vector<std::string> words) const {
  std::vector<std::string> all = {
      "/usr/bin/curl",          "--silent", "--show-error", "--max-time", "25", "--cacert",
      World::Get().roots_file()};
  // Unless the test chooses its own way.
  if (std::ranges::none_of(words, [](const std::string& word) {
        return word == "--proxy" || word == "--noproxy";
      })) {
    all.insert(all.end(), {"--proxy", url()});
  }
  all.insert(all.end(), words.begin(), words.end());
  return World::Get().inside().RunHere(all);
}

UniqueFd Proxy::ConnectTo(std::uint16_t port) {
  UniqueFd fd = World::Get().inside().NewSocket();
  const timeval patience{kPatienceSeconds, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.Reset();
  return fd;
}

std::string Proxy::Talk(const std::string& bytes) const {
  const UniqueFd fd = Connect();
  if (!fd) return "";
  Send(fd.get(), bytes);
  ::shutdown(fd.get(), SHUT_WR);
  return ReadUntil(fd.get());
}

}  // namespace igloo::testing
