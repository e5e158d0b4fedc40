#include "session/proxy.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/overloaded.h"
#include "network/channel.h"
#include "session/asio.h"
#include "session/connection.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::descriptor_base;

namespace {

/// Its end of the channel.
constexpr int kControl = 3;
/// Messages that are taken before others have their turn.
constexpr std::size_t kMostAtOnce = 256;

}  // namespace

Proxy::Proxy(asio::io_context& loop, Options options) : loop_(loop), options_(std::move(options)) {}

Proxy::~Proxy() { Close(); }

Result<void> Proxy::Start() {
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_SEQPACKET));
  IGLOO_TRY(SetNonBlocking(pair.first.get()));
  SpawnOptions spawn{.program = options_.program,
                     .argv = {"igloo-proxy", std::to_string(kControl)},
                     .fds = {{pair.second.get(), kControl}},
                     .own_session = true};
  if (!options_.resolver.empty()) spawn.argv.push_back("--resolver=" + options_.resolver);
  if (!options_.roots.empty()) spawn.argv.push_back("--roots=" + options_.roots);
  auto started = Spawn(spawn);
  if (!started) {
    Error error = Wrap("cannot start igloo-proxy", std::move(started).error()).error();
    error.hint = "install igloo completely ('make install')";
    return std::unexpected(std::move(error));
  }
  // Two descriptors, because one event loop knows a descriptor only once.
  UniqueFd second = Duplicate(pair.first.get());
  if (!second) return Fail(Errc::kExhausted, "no descriptor is left for igloo-proxy");
  child_ = *std::move(started);
  control_ = std::make_unique<asio::posix::stream_descriptor>(loop_, pair.first.Release());
  writable_ = std::make_unique<asio::posix::stream_descriptor>(loop_, second.Release());
  Listen();
  return {};
}

void Proxy::Send(network::Command command, std::vector<UniqueFd> descriptors, Answer answer) {
  if (!child_) {
    if (auto started = Start(); !started) return answer(std::move(started));
  }
  const std::uint64_t number = ++orders_;
  asked_[number] = std::move(answer);
  waiting_.push_back({number, network::Encode(network::Order{number, std::move(command)}),
                      std::move(descriptors)});
  if (!flushing_) Flush();
}

void Proxy::Flush() {
  while (!waiting_.empty()) {
    std::vector<int> borrowed;
    for (const UniqueFd& fd : waiting_.front().descriptors) borrowed.push_back(fd.get());
    const auto sent =
        network::SendPacket(writable_->native_handle(), waiting_.front().text, borrowed);
    if (!sent) return Lose(sent.error());
    if (*sent == network::Sent::kNoRoom) break;
    waiting_.pop_front();
  }
  if (waiting_.empty()) return;
  flushing_ = true;
  writable_->async_wait(descriptor_base::wait_write, [this](boost::system::error_code error) {
    if (error) return;  // it was closed, and with it everything that waits
    flushing_ = false;
    Flush();
  });
}

void Proxy::Listen() {
  control_->async_wait(descriptor_base::wait_read, [this](boost::system::error_code error) {
    if (error) return;
    Settle();
    if (child_) Listen();
  });
}

void Proxy::Settle() {
  // Code that is refused thousands of things must not keep igloo from everything else.
  for (std::size_t taken = 0; taken < kMostAtOnce && child_;) {
    auto packet = network::ReceivePacket(control_->native_handle());
    if (!packet) return Lose(packet.error());
    if (!*packet) return;
    const auto news = network::DecodeNews((*packet)->text);
    if (!news) return Lose(news.error());
    for (const network::News& each : *news) {
      if (!child_) return;  // what came before ended it
      Take(each);
    }
    taken += news->size();
  }
}

void Proxy::Take(const network::News& news) {
  std::visit(Overloaded{[&](const network::Ready&) { ready_ = true; },
                        [&](const network::Done& done) { Answered(done.order, {}); },
                        [&](const network::Failed& failed) {
                          if (failed.order == 0) {
                            last_words_ = failed.what;
                            return;
                          }
                          Answered(failed.order,
                                   Fail(Errc::kFailedPrecondition, failed.what, failed.hint));
                        },
                        [&](const network::Record& record) {
                          const bool decision = record.event != network::Record::Event::kUsed;
                          if (decision && options_.record) options_.record(record);
                          if (Connection* of = Find(record.sandbox)) of->Hear(record);
                        }},
             news);
}

void Proxy::Answered(std::uint64_t number, Result<void> result) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) {
    return Lose({Errc::kProtocol, "igloo-proxy answered what nobody asked", {}, 0});
  }
  const Answer answer = std::move(found->second);
  asked_.erase(found);
  answer(std::move(result));
}

void Proxy::Lose(const Error& why) {
  if (!child_) return;
  const bool began = ready_;
  auto asked = std::move(asked_);
  const Error error{
      Errc::kFailedPrecondition,
      began ? "igloo-proxy ended, and with it the network of its sandboxes"
            : "igloo-proxy could not start: " + (last_words_.empty() ? why.what : last_words_),
      "start the run again; should it happen again, please report it", 0};
  Close();
  Note(error.what);
  for (auto& [number, answer] : asked) answer(std::unexpected(error));
  for (auto& [name, connection] : connections_) connection->Lose(error);
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
  control_.reset();
  writable_.reset();
  waiting_.clear();
  asked_.clear();
  ready_ = flushing_ = false;
  last_words_.clear();
  child_ = Child();
}

void Proxy::Note(std::string_view text) const {
  if (options_.note) options_.note(text);
}

}  // namespace igloo::session
