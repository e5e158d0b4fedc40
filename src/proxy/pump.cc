#include "proxy/pump.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proxy/waiting.h"

namespace igloo::proxy {

namespace {

constexpr int kPipeSize = 1 << 20;
/// So much at once means that more is on its way.
constexpr std::size_t kMuch = 64U << 10;
constexpr std::size_t kMostIdle = 32;
constexpr unsigned kFlags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
/// How often bytes are moved before others get their turn.
constexpr unsigned kRounds = 16;

/// Gives the pipe back when it is empty again; one with bytes in it is closed with them.
class BorrowedPipe {
 public:
  BorrowedPipe(Pipes& pipes, FdPair pipe) : pipes_(pipes), pipe_(std::move(pipe)) {}
  BorrowedPipe(const BorrowedPipe&) = delete;
  BorrowedPipe& operator=(const BorrowedPipe&) = delete;
  ~BorrowedPipe() {
    if (held_ == 0) pipes_.Return(std::move(pipe_));
  }

  ssize_t TakeFrom(int fd, std::size_t most) {
    const ssize_t count = ::splice(fd, nullptr, pipe_.second.get(), nullptr, most, kFlags);
    if (count > 0) held_ += static_cast<std::size_t>(count);
    return count;
  }
  /// Of many bytes, the last may wait in the kernel for those that follow: Flush sends them. That
  /// makes whole segments of a stream, which cost its receiver a quarter less.
  ssize_t GiveTo(int fd) {
    const unsigned more = held_ >= kMuch ? SPLICE_F_MORE : 0;
    const ssize_t count = ::splice(pipe_.first.get(), nullptr, fd, nullptr, held_, kFlags | more);
    if (count > 0) held_ -= static_cast<std::size_t>(count);
    waiting_ = waiting_ || more != 0;
    return count;
  }
  void Flush(int fd) {
    const int on = 1;
    if (std::exchange(waiting_, false)) {
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
  }
  bool empty() const { return held_ == 0; }

 private:
  Pipes& pipes_;
  FdPair pipe_;
  std::size_t held_ = 0;
  bool waiting_ = false;
};

/// What is in the pipe goes out.
asio::awaitable<bool> Empty(BorrowedPipe& pipe, Socket& to) {
  while (!pipe.empty()) {
    if (!to.open()) co_return false;
    if (pipe.GiveTo(to.fd()) > 0) continue;
    if (errno != EAGAIN) co_return false;
    const bool ready = co_await to.Writable();
    if (!ready) co_return false;
  }
  co_return true;
}

/// Moves what is there now, in turns. Empty: nothing more is there yet.
asio::awaitable<std::optional<Moved>> MoveThrough(BorrowedPipe& pipe, Socket& from, Socket& to,
                                                  std::uint64_t limit, std::uint64_t& moved) {
  for (unsigned round = 0; moved < limit && round < kRounds; ++round) {
    if (!from.open()) co_return Moved::kFailed;
    const ssize_t count =
        pipe.TakeFrom(from.fd(), std::min<std::uint64_t>(limit - moved, kPipeSize));
    if (count == 0) co_return Moved::kEnd;
    if (count < 0 && errno == EAGAIN) co_return std::nullopt;
    if (count < 0) co_return Moved::kFailed;
    const bool emptied = co_await Empty(pipe, to);
    if (!emptied) co_return Moved::kFailed;
    moved += static_cast<std::uint64_t>(count);
  }
  if (moved >= limit) co_return Moved::kLimit;
  co_await GiveWay();
  co_return std::nullopt;
}

asio::awaitable<std::optional<Moved>> MoveSome(Pipes& pipes, Socket& from, Socket& to,
                                               std::uint64_t limit, std::uint64_t& moved) {
  auto borrowed = pipes.Take();
  if (!borrowed) co_return Moved::kFailed;
  BorrowedPipe pipe(pipes, *std::move(borrowed));
  const auto outcome = co_await MoveThrough(pipe, from, to, limit, moved);
  if (to.open()) pipe.Flush(to.fd());
  co_return outcome;
}

}  // namespace

std::optional<FdPair> Pipes::Take() {
  if (!idle_.empty()) {
    FdPair pipe = std::move(idle_.back());
    idle_.pop_back();
    return pipe;
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  // Smaller where a user has too many already: then it takes more turns.
  ::fcntl(ends[1], F_SETPIPE_SZ, kPipeSize);
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void Pipes::Return(FdPair pipe) {
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(pipe));
}

asio::awaitable<Moved> Pump(Pipes& pipes, Socket& from, Socket& to, std::uint64_t limit,
                            std::uint64_t& count) {
  std::uint64_t moved = 0;
  std::optional<Moved> outcome;
  while (!outcome) {
    const std::uint64_t before = moved;
    outcome = co_await MoveSome(pipes, from, to, limit, moved);
    count += moved - before;
    if (outcome) break;
    const bool ready = co_await from.Readable();
    if (!ready) outcome = Moved::kFailed;
  }
  co_return *outcome;
}

asio::awaitable<void> PumpToEnd(Pipes& pipes, Socket& from, Socket& to, std::uint64_t& count) {
  const Moved moved = co_await Pump(pipes, from, to, UINT64_MAX, count);
  if (moved == Moved::kEnd) {
    to.ShutdownWriting();
    co_return;
  }
  from.Abort();
  to.Abort();
}

}  // namespace igloo::proxy
