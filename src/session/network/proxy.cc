#include "session/network/proxy.h"

#include <fmt/format.h>

#include <algorithm>

#include "session/asio.h"
#include "session/network/connection.h"

namespace igloo::session {

namespace asio = boost::asio;

std::string TrustDomainOf(const network::Wanted& wanted) {
  std::vector<std::string> placeholders;
  for (const network::Secret& each : wanted.secrets) placeholders.push_back(each.placeholder);
  std::ranges::sort(placeholders);
  const auto twice = std::ranges::unique(placeholders);  // a secret of several hosts
  placeholders.erase(twice.begin(), twice.end());
  // SECURITY: its length first, so that no principal's name can be read as another's and secrets.
  std::string domain = fmt::format("{}:{}", wanted.principal.size(), wanted.principal);
  for (const std::string& each : placeholders) domain += "\n" + each;
  return domain;
}

Proxy::Proxy(asio::io_context& loop, Options options) : loop_(loop), options_(std::move(options)) {}

Proxy::~Proxy() { Close(); }

Result<std::shared_ptr<ProxyProcess>> Proxy::Join(const std::string& domain) {
  auto found = served_.find(domain);
  if (found == served_.end()) {
    if (served_.size() >= options_.most && !EndIdle()) {
      return Fail(Errc::kExhausted,
                  fmt::format("{} igloo-proxy processes run already, one for each client and set "
                              "of secrets, and all of them serve sandboxes",
                              served_.size()),
                  "close a session of an environment with secrets, or wait for its run");
    }
    IGLOO_ASSIGN(auto process, Start(domain));
    found = served_.emplace(domain, Served{.process = std::move(process)}).first;
  }
  ++found->second.sandboxes;
  found->second.idle.reset();
  return found->second.process;
}

Result<std::shared_ptr<ProxyProcess>> Proxy::Start(const std::string& domain) {
  std::vector<std::string> arguments;
  if (!options_.resolver.empty()) arguments.push_back("--resolver=" + options_.resolver);
  if (!options_.roots.empty()) arguments.push_back("--roots=" + options_.roots);
  return ProxyProcess::Start(
      loop_, {.program = options_.program,
              .arguments = std::move(arguments),
              .record = [this](const ProxyProcess& from,
                               const network::Record& record) { Hear(from, record); },
              .lost = [this, domain](const Error& why) { Lost(domain, why); }});
}

void Proxy::Release(const std::shared_ptr<ProxyProcess>& process) {
  const auto found = std::ranges::find_if(
      served_, [&](const auto& each) { return each.second.process == process; });
  if (found == served_.end() || --found->second.sandboxes > 0) return;
  auto timer = std::make_unique<asio::steady_timer>(loop_, options_.idle);
  timer->async_wait([this, domain = found->first](boost::system::error_code cancelled) {
    // One that is due is not cancelled any more, even if somebody has joined since.
    const auto idle = served_.find(domain);
    if (!cancelled && idle != served_.end() && idle->second.sandboxes == 0) served_.erase(idle);
  });
  found->second.idle = std::move(timer);
}

bool Proxy::EndIdle() {
  auto longest = served_.end();
  for (auto each = served_.begin(); each != served_.end(); ++each) {
    if (!each->second.idle) continue;
    if (longest == served_.end() || each->second.idle->expiry() < longest->second.idle->expiry()) {
      longest = each;
    }
  }
  if (longest == served_.end()) return false;
  served_.erase(longest);
  return true;
}

void Proxy::Hear(const ProxyProcess& from, const network::Record& record) const {
  const bool decision = record.event != network::Record::Event::kUsed;
  if (decision) Tell(record);
  // SECURITY: sessions are called alike, one after the other, and a process may still tell of one
  // that it served. What it says must not reach the next of that name, in another trust domain.
  Connection* of = Find(record.sandbox);
  if (of != nullptr && of->IsServedBy(from)) of->Hear(record);
}

void Proxy::Lost(const std::string& domain, const Error& why) {
  const auto found = served_.find(domain);
  if (found == served_.end()) return;
  const auto process = found->second.process;
  served_.erase(found);
  if (options_.note) options_.note(why.what);
  for (auto& [name, connection] : connections_) connection->Lose(*process, why);
}

Connection* Proxy::Find(std::string_view sandbox) const {
  const auto found = connections_.find(sandbox);
  return found == connections_.end() ? nullptr : found->second;
}

Connection* Proxy::HolderOf(std::uint16_t port) const {
  const auto found = std::ranges::find_if(
      connections_, [&](const auto& each) { return each.second->HasPort(port); });
  return found == connections_.end() ? nullptr : found->second;
}

bool Proxy::Enter(const std::string& sandbox, Connection& connection) {
  return connections_.emplace(sandbox, &connection).second;
}

void Proxy::Leave(const std::string& sandbox) { connections_.erase(sandbox); }

void Proxy::Close() {
  for (auto& each : served_) each.second.process->Close();
  served_.clear();
}

}  // namespace igloo::session
