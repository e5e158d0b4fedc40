#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/cancellation.h"

namespace igloo::mcp {

/// The bytes of all answers that wait for clients to fetch them: whoever asks and does not read
/// must not fill the memory. Made with std::make_shared; one thread.
class Backlog : public std::enable_shared_from_this<Backlog> {
 public:
  /// Bytes that count for as long as it lives.
  class Share {
   public:
    Share() = default;
    Share(std::shared_ptr<Backlog> of, std::size_t bytes) : of_(std::move(of)), bytes_(bytes) {}
    Share(Share&& other) noexcept
        : of_(std::move(other.of_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (of_) of_->GiveBack(bytes_);
    }

   private:
    std::shared_ptr<Backlog> of_ = {};  // shared by all shares
    std::size_t bytes_ = 0;
  };

  Backlog(const boost::asio::any_io_executor& executor, std::size_t most);

  Share Take(std::size_t bytes) {
    bytes_ += bytes;
    return {shared_from_this(), bytes};
  }
  /// Whether an answer of `bytes` bytes may wait as well. Where there is none, any may.
  bool Fits(std::size_t bytes) const { return bytes_ == 0 || bytes_ + bytes <= most_; }
  /// Returns when a call may begin: while much waits to be fetched, no more is made. At once when
  /// the call is cancelled.
  boost::asio::awaitable<void> WaitForRoom(Cancellation cancellation);
  std::size_t bytes() const { return bytes_; }

 private:
  /// Half of the room is left for the answers of calls that run already.
  bool full() const { return bytes_ != 0 && bytes_ >= most_ / 2; }
  void GiveBack(std::size_t bytes);

  std::size_t most_;
  std::size_t bytes_ = 0;
  boost::asio::steady_timer room_;  ///< cancelled when there is room again
};

}  // namespace igloo::mcp
