#include "proxy/resolver.h"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace igloo::proxy {

using network::Address;
using network::Name;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr int kPatienceMs = 2000, kTries = 3;
constexpr milliseconds kTickTime(250);
constexpr int kLongestKept = 60;
constexpr std::size_t kMostKept = 4096, kMostAddresses = 32;

}  // namespace

struct Resolver::Socket {
  Socket(const asio::any_io_executor& executor, int number)
      : descriptor(executor, number), fd(number) {}
  asio::posix::stream_descriptor descriptor;
  int fd;
  bool wants_read = false, wants_write = false;
  bool reading = false, writing = false;  ///< a wait is on its way
  bool gone = false;
};

struct Resolver::Query {
  explicit Query(const asio::any_io_executor& executor)
      : answered(executor, asio::steady_timer::time_point::max()) {}
  asio::steady_timer answered;
  bool done = false;
  int status = ARES_SUCCESS;
  int lifetime = std::numeric_limits<int>::max();
  std::vector<Address> addresses = {};
};

Result<std::unique_ptr<Resolver>> Resolver::Make(const asio::any_io_executor& executor,
                                                 const std::string& servers) {
  std::unique_ptr<Resolver> resolver(new Resolver(executor));
  ares_library_init(ARES_LIB_INIT_ALL);
  ares_options options{};
  // SECURITY: the name that was allowed is the one that is asked for: with a search list it could
  // become another one, and files and aliases are not what the rules speak of.
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.timeout = kPatienceMs;
  options.tries = kTries;
  options.ndomains = 0;
  char lookups[] = "b";
  options.lookups = lookups;
  options.sock_state_cb = &Resolver::OnSocket;
  options.sock_state_cb_data = resolver.get();
  int status = ares_init_options(&resolver->channel_, &options,
                                 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                                     ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB);
  if (status == ARES_SUCCESS && !servers.empty()) {
    status = ares_set_servers_ports_csv(resolver->channel_, servers.c_str());
  }
  if (status != ARES_SUCCESS) {
    return Fail(Errc::kFailedPrecondition,
                std::string("cannot set up name resolution: ") + ares_strerror(status));
  }
  return resolver;
}

Resolver::~Resolver() {
  if (channel_ != nullptr) ares_destroy(channel_);
  for (const auto& [fd, socket] : sockets_) (void)socket->descriptor.release();
}

void Resolver::OnSocket(void* self, int fd, int readable, int writable) {
  auto& resolver = *static_cast<Resolver*>(self);
  auto found = resolver.sockets_.find(fd);
  if (readable == 0 && writable == 0) {
    if (found == resolver.sockets_.end()) return;
    // c-ares closes it.
    found->second->gone = true;
    (void)found->second->descriptor.release();
    resolver.sockets_.erase(found);
    return;
  }
  if (found == resolver.sockets_.end()) {
    found = resolver.sockets_.emplace(fd, std::make_shared<Socket>(resolver.executor_, fd)).first;
  }
  found->second->wants_read = readable != 0;
  found->second->wants_write = writable != 0;
  resolver.Watch(found->second);
}

void Resolver::Watch(const std::shared_ptr<Socket>& socket) {
  const auto wait = [&](auto what, bool Socket::* wanted, bool Socket::* waiting) {
    if (!((*socket).*wanted) || (*socket).*waiting) return;
    (*socket).*waiting = true;
    const bool reads = what == asio::posix::descriptor_base::wait_read;
    socket->descriptor.async_wait(what,
                                  [this, socket, waiting, reads](boost::system::error_code error) {
                                    (*socket).*waiting = false;
                                    if (error || socket->gone) return;
                                    ares_process_fd(channel_, reads ? socket->fd : ARES_SOCKET_BAD,
                                                    reads ? ARES_SOCKET_BAD : socket->fd);
                                    if (!socket->gone) Watch(socket);
                                  });
  };
  wait(asio::posix::descriptor_base::wait_read, &Socket::wants_read, &Socket::reading);
  wait(asio::posix::descriptor_base::wait_write, &Socket::wants_write, &Socket::writing);
}

void Resolver::Tick() {
  // Only while a question is open.
  if (ticking_ || sockets_.empty()) return;
  ticking_ = true;
  tick_.expires_after(kTickTime);
  tick_.async_wait([this](boost::system::error_code cancelled) {
    if (cancelled) return;
    ticking_ = false;
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    Tick();
  });
}

void Resolver::OnAnswer(void* data, int status, int /*timeouts*/, ares_addrinfo* answer) {
  const std::unique_ptr<std::shared_ptr<Query>> held(static_cast<std::shared_ptr<Query>*>(data));
  Query& query = **held;
  query.done = true;
  query.status = status;
  for (auto* node = answer != nullptr ? answer->nodes : nullptr; node != nullptr;
       node = node->ai_next) {
    query.lifetime = std::min(query.lifetime, node->ai_ttl);
    if (query.addresses.size() >= kMostAddresses) continue;
    if (node->ai_family == AF_INET) {
      const auto* four = reinterpret_cast<const sockaddr_in*>(node->ai_addr);
      query.addresses.push_back(
          network::FourOf(reinterpret_cast<const std::uint8_t*>(&four->sin_addr)));
    } else if (node->ai_family == AF_INET6) {
      const auto* six = reinterpret_cast<const sockaddr_in6*>(node->ai_addr);
      query.addresses.push_back(network::SixOf(six->sin6_addr.s6_addr));
    }
  }
  if (answer != nullptr) ares_freeaddrinfo(answer);
  // IPv4 first, each family in the order of its answer.
  std::vector<Address> ordered;
  for (const network::Family family : {network::Family::kFour, network::Family::kSix}) {
    std::ranges::copy_if(query.addresses, std::back_inserter(ordered),
                         [&](const Address& each) { return each.family == family; });
  }
  query.addresses = std::move(ordered);
  query.answered.cancel();
}

void Resolver::Keep(const std::string& name, const Query& query) {
  if (query.lifetime <= 0 || query.addresses.empty()) return;
  const auto now = Clock::now();
  if (kept_.size() >= kMostKept) {
    std::erase_if(kept_, [&](const auto& each) { return each.second.until <= now; });
    if (kept_.size() >= kMostKept) kept_.clear();
  }
  kept_[name] = {query.addresses, now + seconds(std::min(query.lifetime, kLongestKept))};
}

std::shared_ptr<Resolver::Query> Resolver::Ask(const Name& name) {
  auto& open = open_[name.text()];
  if (open) return open;
  const auto query = std::make_shared<Query>(executor_);  // shared with c-ares and all who wait
  open = query;
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_flags = ARES_AI_NOSORT;
  ares_getaddrinfo(channel_, name.text().c_str(), nullptr, &hints, &Resolver::OnAnswer,
                   new std::shared_ptr<Query>(query));
  Tick();
  return query;
}

asio::awaitable<Result<std::vector<Address>>> Resolver::Resolve(const Name& name) {
  const auto found = kept_.find(name.text());
  if (found != kept_.end() && found->second.until > Clock::now()) {
    co_return found->second.addresses;
  }
  const auto query = Ask(name);
  if (!query->done) {
    boost::system::error_code cancelled;
    auto token = Redirect(cancelled);
    co_await query->answered.async_wait(token);
  }
  const auto open = open_.find(name.text());
  if (open != open_.end() && open->second == query) {
    open_.erase(open);
    Keep(name.text(), *query);
  }
  if (query->status != ARES_SUCCESS || query->addresses.empty()) {
    const int status = query->status == ARES_SUCCESS ? ARES_ENODATA : query->status;
    co_return Fail(Errc::kNotFound,
                   "cannot resolve '" + name.text() + "': " + ares_strerror(status));
  }
  co_return query->addresses;
}

}  // namespace igloo::proxy
