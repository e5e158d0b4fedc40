#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "base/error.h"
#include "watch/paths.h"

namespace igloo::watch {

/// Tells an event loop that files have changed. Lives on the thread of its loop.
class Watch {
 public:
  /// Changes so close to each other are told as one: an editor writes a file in several steps.
  static constexpr std::chrono::milliseconds kPause{100};

  /// Changes count from here on, whether or not anybody is waiting.
  static Result<Watch> Make(boost::asio::io_context& loop, std::vector<Watched> watched);
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&&) = delete;
  ~Watch() { Close(); }

  /// Waits until something has changed since the last time; false: it was closed. What changes
  /// after it returned is told by the next call, so reading the files afterwards misses nothing.
  /// One call at a time.
  boost::asio::awaitable<bool> Changed();

  /// Watches other paths from here on; what has changed before is forgotten only as far as it
  /// concerns paths that are no longer watched.
  void Set(std::vector<Watched> watched);

  /// Why not everything is watched, if so.
  const std::optional<Error>& incomplete() const;

  void Close();

 private:
  struct State;
  explicit Watch(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;  // shared with the coroutine that waits
};

}  // namespace igloo::watch
