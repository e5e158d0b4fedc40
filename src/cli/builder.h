#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/spawn.h"
#include "cli/args.h"
#include "config/config.h"

namespace igloo::cli {

/// Has Nix make the environments that a server serves, in a process beside it: whoever calls for
/// another one does not wait. Everything on the loop's thread.
class Builder {
 public:
  struct Events {
    std::function<void()> done;                      ///< something may be there now
    std::function<void(std::string_view text)> say;  ///< a line for people
  };
  Builder(boost::asio::io_context& loop, Events events) : loop_(loop), events_(std::move(events)) {}

  /// Starts with what is not there yet and was not tried before, unless it is at work already; then
  /// whoever hears `done` asks again. `args` are those of the server: --config, --project.
  void Consider(const config::Config& config, const ParsedArgs& args);
  /// Whether it is at work on the environment of this name.
  bool Builds(std::string_view name) const { return names_.contains(name); }
  /// What failed is tried again.
  void Forget() { tried_.clear(); }

 private:
  Result<void> Start(const std::vector<std::string>& names, const ParsedArgs& args);
  void Ended();

  boost::asio::io_context& loop_;
  Events events_;
  std::set<std::string> tried_ = {};               ///< by what they are made of
  std::set<std::string, std::less<>> names_ = {};  ///< what the child makes
  Child child_ = {};
  std::optional<boost::asio::posix::stream_descriptor> ended_ = {};
};

}  // namespace igloo::cli
