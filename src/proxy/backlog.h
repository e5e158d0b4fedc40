#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "proxy/asio.h"

namespace igloo::proxy {

/// Records of one sandbox that igloo has not taken yet. Who asks faster than igloo takes them
/// waits, so that none is lost; other sandboxes have theirs. One thread. INVARIANT: what was let
/// through adds its few records without waiting, so there are at most kMost, and those of
/// connections that were under way.
class Backlog {
 public:
  static constexpr std::size_t kMost = 1024;

  explicit Backlog(const asio::any_io_executor& executor)
      : taken_(executor, asio::steady_timer::time_point::max()) {}

  /// Whether nothing more may be decided about for now.
  bool full() const { return waiting_ >= kMost && !closed_; }
  /// Waits while it is full.
  asio::awaitable<void> Room();
  /// The sandbox has ended: nobody waits any more.
  void Close();

  /// A record that waits for as long as this lives.
  class Entry {
   public:
    explicit Entry(std::shared_ptr<Backlog> backlog) : backlog_(std::move(backlog)) {
      ++backlog_->waiting_;
    }
    Entry(Entry&&) = default;
    Entry& operator=(Entry&&) = delete;
    ~Entry() {
      if (backlog_) backlog_->Leave();
    }

   private:
    std::shared_ptr<Backlog> backlog_;  // shared with its box, which records outlive
  };

 private:
  void Leave();

  asio::steady_timer taken_;
  std::size_t waiting_ = 0, held_ = 0;  ///< records, and who waits for fewer
  bool closed_ = false;
};

}  // namespace igloo::proxy
