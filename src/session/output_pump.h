#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "session/live_output.h"
#include "session/output.h"

namespace igloo::session {

/// Takes one of a program's output streams to its end: keeps a part, counts all, and passes it on.
class OutputPump {
 public:
  struct Options {
    int live = -1;                     ///< where it goes as it comes; -1: nowhere
    std::size_t keep = 0;              ///< bytes to capture
    Keep which = Keep::kFirst;         ///< of those that are too many
    std::uint64_t limit = 0;           ///< more than this, and the program must end; 0: no limit
    std::function<void()> moved = {};  ///< bytes were passed on
    std::function<void(std::string_view)> heard = {};  ///< bytes came
    std::function<void()> must_end = {};  ///< nobody reads any more, or it was too much
  };

  OutputPump(boost::asio::io_context& loop, Options options);

  void Open(UniqueFd fd) { source_.assign(fd.Release()); }
  bool is_open() const { return source_.is_open(); }
  /// Returns at the end of the stream. Whoever owns the pump keeps it until then.
  boost::asio::awaitable<void> Run();
  void Close();

  // The other way, for a stream that lasts: it is looked at when its owner wants to, and watched
  // only when that takes long. Whoever is woken by every line of a small run needs twice as long.
  void OpenResting(UniqueFd fd);
  /// Takes what lies in the pipe; never waits.
  void Take();
  /// Takes what comes, as it comes, until Rest. Whoever owns the pump keeps it until then.
  boost::asio::awaitable<void> Follow();
  void Rest();

  /// It waits for a reader.
  bool writing() const { return writing_; }
  bool too_much() const { return too_much_; }
  /// What was captured since the last time.
  CappedText TakeCaptured() {
    too_much_ = false;
    return std::exchange(captured_, CappedText(options_.keep, options_.which));
  }

 private:
  boost::asio::awaitable<void> Splice();
  boost::asio::awaitable<void> Copy();
  boost::asio::awaitable<void> PassOn(std::string_view bytes);
  void StopReading();
  void Came(std::string_view bytes);
  int Fd() { return resting_ ? resting_.get() : source_.native_handle(); }
  void Widen(std::size_t came);

  Options options_;
  boost::asio::posix::stream_descriptor source_;
  UniqueFd resting_ = {};   ///< the same while nobody watches it
  std::string room_ = {};   ///< for Take
  unsigned following_ = 0;  ///< counts beginnings and ends of Follow: an old one must not go on
  std::unique_ptr<LiveOutput> live_ = {};
  CappedText captured_;
  bool writing_ = false, too_much_ = false;
  bool wide_ = false;  ///< the pipe is as large as it gets
};

}  // namespace igloo::session
