#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancellation.h"
#include "base/log.h"
#include "base/spawn.h"
#include "config/config.h"

namespace igloo::service {

/// Has Nix make the environments that a server serves, in a process beside it: whoever calls for
/// another one does not wait. Everything on the loop's thread.
class Builder {
 public:
  struct Events {
    std::function<void()> done;  ///< something may be there now
    Log::Line say;               ///< a line for people
  };
  Builder(boost::asio::io_context& loop, Events events) : loop_(loop), events_(std::move(events)) {}

  /// Starts with what is not there yet and was not tried before, unless it is at work already; then
  /// whoever hears `done` asks again. `flags` are what its igloo is told about the configuration:
  /// --config FILE, --project DIR.
  void Consider(const config::Config& config, const std::vector<std::string>& flags);
  /// Whether it is at work on the environment of this name.
  bool Builds(std::string_view name) const { return names_.contains(name); }
  /// Until it is at work on that no more, and `done` was heard; at once if it is not. `said` is
  /// told what Nix says about it.
  boost::asio::awaitable<void> Wait(std::string name, std::function<void(std::string_view)> said,
                                    Cancellation cancellation);
  /// What failed is tried again.
  void Forget() { tried_.clear(); }

 private:
  Result<void> Start(const std::vector<std::string>& names, const std::vector<std::string>& flags);
  void Ended();
  void Hear();
  void Tell(std::string_view line);

  struct Waiting {
    std::string name;
    std::function<void(std::string_view)> said;
    boost::asio::steady_timer until_then;  ///< never runs out; is cancelled
  };

  boost::asio::io_context& loop_;
  Events events_;
  std::set<std::string> tried_ = {};               ///< by what they are made of
  std::set<std::string, std::less<>> names_ = {};  ///< what the child makes
  Child child_ = {};
  std::optional<boost::asio::posix::stream_descriptor> ended_ = {};
  std::optional<boost::asio::posix::stream_descriptor> words_ = {};  ///< what Nix says
  std::array<char, 4096> heard_ = {};
  std::string line_ = {};                             ///< as far as it has come
  std::vector<std::weak_ptr<Waiting>> waiting_ = {};  ///< their calls have them
};

}  // namespace igloo::service
