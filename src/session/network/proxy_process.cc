#include "session/network/proxy_process.h"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/overloaded.h"
#include "network/channel.h"
#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::descriptor_base;

namespace {

/// Its end of the channel.
constexpr int kControl = 3;
/// Messages that are taken before others have their turn.
constexpr std::size_t kMostAtOnce = 256;
/// Names of sandboxes that have ended and are still known.
constexpr std::size_t kMostEnded = 4096;

}  // namespace

Result<std::shared_ptr<ProxyProcess>> ProxyProcess::Start(asio::io_context& loop, Options options) {
  std::shared_ptr<ProxyProcess> process(new ProxyProcess(std::move(options)));
  IGLOO_TRY(process->Spawn(loop));
  return process;
}

ProxyProcess::~ProxyProcess() { Close(); }

Result<void> ProxyProcess::Spawn(asio::io_context& loop) {
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_SEQPACKET));
  IGLOO_TRY(SetNonBlocking(pair.first.get()));
  SpawnOptions spawn{.program = options_.program,
                     .argv = {"igloo-proxy", std::to_string(kControl)},
                     .fds = {{pair.second.get(), kControl}},
                     .own_session = true};
  std::ranges::copy(options_.arguments, std::back_inserter(spawn.argv));
  auto started = igloo::Spawn(spawn);
  if (!started) {
    Error error = Wrap("cannot start igloo-proxy", std::move(started).error()).error();
    error.hint = "install igloo completely ('make install')";
    return std::unexpected(std::move(error));
  }
  // Two descriptors, because one event loop knows a descriptor only once.
  UniqueFd second = Duplicate(pair.first.get());
  if (!second) return Fail(Errc::kExhausted, "no descriptor is left for igloo-proxy");
  child_ = *std::move(started);
  control_ = std::make_unique<asio::posix::stream_descriptor>(loop, pair.first.Release());
  writable_ = std::make_unique<asio::posix::stream_descriptor>(loop, second.Release());
  Listen();
  return {};
}

void ProxyProcess::Send(network::Command command, std::vector<UniqueFd> descriptors,
                        Answer answer) {
  if (!child_) {
    return answer(
        Fail(Errc::kFailedPrecondition, "igloo-proxy has ended", "start another sandbox"));
  }
  Note(command);
  const std::uint64_t number = ++orders_;
  asked_[number] = std::move(answer);
  waiting_.push_back({number, network::Encode(network::Order{number, std::move(command)}),
                      std::move(descriptors)});
  if (!flushing_) Flush();
}

void ProxyProcess::Flush() {
  const auto self = shared_from_this();  // who is told that it has ended may drop it
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
  writable_->async_wait(descriptor_base::wait_write,
                        [weak = weak_from_this()](boost::system::error_code error) {
                          const auto alive = weak.lock();
                          // It was closed, and with it everything that waits.
                          if (error || !alive) return;
                          alive->flushing_ = false;
                          alive->Flush();
                        });
}

void ProxyProcess::Listen() {
  control_->async_wait(descriptor_base::wait_read,
                       [weak = weak_from_this()](boost::system::error_code error) {
                         const auto self = weak.lock();
                         if (error || !self) return;
                         self->Settle();
                         if (self->child_) self->Listen();
                       });
}

void ProxyProcess::Settle() {
  const auto self = shared_from_this();
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

void ProxyProcess::Take(const network::News& news) {
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
                        [&](const network::Record& record) { TakeRecord(record); }},
             news);
}

void ProxyProcess::Note(const network::Command& command) {
  if (const auto* add = std::get_if<network::AddSandbox>(&command)) {
    sandboxes_.insert(add->sandbox);
    std::erase(ended_, add->sandbox);  // sessions are called alike, one after the other
  }
  const auto* remove = std::get_if<network::RemoveSandbox>(&command);
  if (remove == nullptr) return;
  ended_.push_back(remove->sandbox);
  if (ended_.size() <= kMostEnded) return;
  sandboxes_.erase(ended_.front());
  ended_.pop_front();
}

void ProxyProcess::TakeRecord(const network::Record& record) {
  // SECURITY: one that hostile code has taken over must not speak about others' sandboxes.
  if (!sandboxes_.contains(record.sandbox)) {
    return Lose({Errc::kProtocol, "igloo-proxy told of a sandbox that it does not serve", {}, 0});
  }
  options_.record(*this, record);
}

void ProxyProcess::Answered(std::uint64_t number, Result<void> result) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) {
    return Lose({Errc::kProtocol, "igloo-proxy answered what nobody asked", {}, 0});
  }
  const Answer answer = std::move(found->second);
  asked_.erase(found);
  answer(std::move(result));
}

void ProxyProcess::Lose(const Error& why) {
  if (!child_) return;
  const bool began = ready_;
  auto asked = std::move(asked_);
  const Error error{
      Errc::kFailedPrecondition,
      began ? "igloo-proxy ended, and with it the network of its sandboxes"
            : "igloo-proxy could not start: " + (last_words_.empty() ? why.what : last_words_),
      "start the run again; should it happen again, please report it", 0};
  Close();
  for (auto& [number, answer] : asked) answer(std::unexpected(error));
  options_.lost(error);
}

void ProxyProcess::Close() {
  control_.reset();
  writable_.reset();
  waiting_.clear();
  asked_.clear();
  ready_ = flushing_ = false;
  child_ = Child();
}

}  // namespace igloo::session
