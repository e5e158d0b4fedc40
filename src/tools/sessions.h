#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/cancellation.h"
#include "tools/runner.h"
#include "tools/setup.h"

namespace igloo::tools {

struct SessionLimits {
  std::size_t most = 16;
  std::chrono::milliseconds idle{300'000};        ///< since its last call
  std::chrono::milliseconds lifetime{3'600'000};  ///< since its first
};

/// Interpreters that live from call to call, by the names that clients gave them. Calls of one
/// session follow each other, those of different ones do not wait. One thread; outlives the event
/// loop.
class Sessions {
 public:
  Sessions(boost::asio::io_context& loop, Runner& runner, SessionLimits limits);

  /// What a client asked for. Everything in it is a model's words.
  struct Asked {
    std::string id = {};  ///< 1 to 256 bytes; a key and nothing else
    std::string code = {};
    std::optional<std::uint64_t> time_ms = {};
    std::vector<environment::GivenFile> files = {};
    bool echo = true;  ///< tell the value of a last expression
  };
  /// In the session of that name, which begins with its first call and belongs to the environment
  /// of that one.
  boost::asio::awaitable<Result<Finished>> Execute(Asked asked, const Offered& environment,
                                                   std::shared_ptr<const Setup> setup,
                                                   mcp::Cancellation cancellation,
                                                   Listener listener);

  /// For sessions that begin from here on; the others keep what they began with.
  void SetLimits(SessionLimits limits) { limits_ = limits; }

  std::size_t count() const { return sessions_.size(); }
  /// Where a session lives; nothing when there is none of that name.
  std::optional<std::string> EnvironmentOf(std::string_view id) const;
  /// Ends those that nobody used for too long. Never one with a call under way.
  void Reap(std::chrono::steady_clock::time_point now);
  void Close();

 private:
  struct Living;
  Result<std::shared_ptr<Living>> Find(const Asked& asked, const Offered& environment,
                                       const Setup& setup);
  Result<std::shared_ptr<Living>> Begin(const Asked& asked, const Offered& environment,
                                        const Setup& setup);
  Error TooMany() const;
  Finished Describe(Living& living, session::CallResult result, std::uint64_t time_ms);
  boost::asio::awaitable<void> Watch();

  boost::asio::io_context& loop_;
  Runner& runner_;
  SessionLimits limits_;
  std::map<std::string, std::shared_ptr<Living>, std::less<>> sessions_ = {};  // shared with calls
  std::unique_ptr<boost::asio::steady_timer> clock_ = {};  ///< only while there are sessions
};

}  // namespace igloo::tools
