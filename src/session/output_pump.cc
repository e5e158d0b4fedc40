#include "session/output_pump.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// Most programs say little; memory for more is taken when more comes.
constexpr std::size_t kFirstRead = 4096, kGrowth = 16;
constexpr std::size_t kUsualPipe = 64U << 10, kLargePipe = 1U << 20;

}  // namespace

OutputPump::OutputPump(asio::io_context& loop, Options options)
    : options_(std::move(options)), source_(loop), captured_(options_.keep, options_.which) {
  if (options_.live >= 0) live_ = std::make_unique<LiveOutput>(loop, options_.live);
}

asio::awaitable<void> OutputPump::Run() {
  // Where nobody keeps a copy, none is made.
  if (options_.keep == 0 && live_ && live_->can_splice()) co_await Splice();
  co_await Copy();
}

asio::awaitable<void> OutputPump::Splice() {
  for (;;) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await source_.async_wait(stream_descriptor::wait_read, token);
    if (error) co_return;
    const int from = source_.native_handle();
    writing_ = true;
    const ssize_t moved = co_await live_->Splice(from);
    writing_ = false;
    if (moved == -EAGAIN) continue;
    if (moved == 0) co_return;
    // What still comes is counted by the copying that follows.
    if (moved < 0) co_return StopReading();
    captured_.Count(static_cast<std::uint64_t>(moved));
    options_.moved();
    Widen(static_cast<std::size_t>(moved));
  }
}

asio::awaitable<void> OutputPump::Copy() {
  std::string buffer(kFirstRead, '\0');
  for (;;) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    const auto space = asio::buffer(buffer);
    const std::size_t count = co_await source_.async_read_some(space, token);
    if (error) co_return;
    const std::string_view bytes(buffer.data(), count);
    Came(bytes);
    if (live_) co_await PassOn(bytes);
    Widen(count);
    if (count == buffer.size()) buffer.resize(std::min(buffer.size() * kGrowth, kLargePipe));
  }
}

asio::awaitable<void> OutputPump::PassOn(std::string_view bytes) {
  writing_ = true;
  const bool read = co_await live_->Write(bytes);
  writing_ = false;
  options_.moved();
  if (!read) StopReading();
}

void OutputPump::StopReading() {
  live_.reset();
  options_.must_end();
}

void OutputPump::Widen(std::size_t came) {
  if (came < kUsualPipe || wide_) return;
  wide_ = true;
  // A program that fills the pipe gets a larger one, if this user's share allows it.
  ::fcntl(Fd(), F_SETPIPE_SZ, static_cast<int>(kLargePipe));
}

void OutputPump::Came(std::string_view bytes) {
  captured_.Append(bytes);
  if (options_.heard) options_.heard(bytes);
  if (options_.limit != 0 && captured_.total() > options_.limit && !too_much_) {
    too_much_ = true;
    options_.must_end();
  }
}

void OutputPump::OpenResting(UniqueFd fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  resting_ = std::move(fd);
}

void OutputPump::Take() {
  if (room_.empty()) room_.resize(kFirstRead);
  // No more than can have been there at the beginning: somebody may write faster than we read.
  for (std::size_t taken = 0; taken < kLargePipe;) {
    const ssize_t count = ::read(Fd(), room_.data(), room_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) Close();
    if (count <= 0) return;
    const auto came = static_cast<std::size_t>(count);
    Came({room_.data(), came});
    Widen(came);
    if (came < room_.size()) return;
    taken += came;
    room_.resize(std::min(room_.size() * kGrowth, kLargePipe));
  }
}

asio::awaitable<void> OutputPump::Follow() {
  if (!resting_) co_return;
  source_.assign(resting_.Release());
  for (const unsigned mine = ++following_; mine == following_ && source_.is_open(); Take()) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    // Not a read: its bytes would be on their way while somebody else takes the next ones.
    co_await source_.async_wait(stream_descriptor::wait_read, token);
    if (error || mine != following_) co_return;
  }
}

void OutputPump::Rest() {
  if (!source_.is_open()) return;
  ++following_;
  resting_.Reset(source_.release());
}

void OutputPump::Close() {
  boost::system::error_code ignored;
  if (source_.is_open()) source_.close(ignored);
  resting_.Reset();
  ++following_;
  if (live_) live_->Close();
}

}  // namespace igloo::session
