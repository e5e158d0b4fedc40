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
#include <vector>

#include "base/cancellation.h"
#include "service/resource.h"
#include "service/runner.h"
#include "service/session_interpreter.h"
#include "service/setup.h"
#include "service/uri.h"

namespace igloo::service {

struct SessionLimits {
  std::size_t most = 16;
  std::chrono::milliseconds idle{300'000};        ///< since its last call
  std::chrono::milliseconds lifetime{3'600'000};  ///< since its first
  bool fork = true;                               ///< whether one can begin as a copy of another
};

/// The interpreter that sessions of an environment have; empty when it has none.
std::string_view InterpreterOf(const config::Configured& where);

/// Interpreters that live from call to call, by the names that clients gave them. Calls of one
/// session follow each other, those of different ones do not wait. A server has one `Sessions` for
/// each principal, so that no name leads from one principal to another. One thread; outlives the
/// event loop.
class Sessions {
 public:
  using Clock = std::chrono::steady_clock;
  static_assert(Clock::is_steady, "nobody who sets a clock ends a session");

  /// What sessions are made of.
  struct Parts {
    OpenSessionInterpreter open = {};
    session::LeftLimits left = {};  ///< how much of their files is looked at
    std::function<Clock::time_point()> now = &Clock::now;
    std::function<void()> begun = {};  ///< called after one has begun
    Owner owner = {};
  };
  Sessions(boost::asio::io_context& loop, Parts parts, SessionLimits limits);
  Sessions(boost::asio::io_context& loop, Runner& runner, SessionLimits limits, Owner owner = {});

  const Owner& owner() const { return parts_.owner; }
  /// The name of a session for the server's own user, who sees those of all principals:
  /// `PRINCIPAL/ID`, or the id itself if there is only one principal.
  std::string QualifiedName(const std::string& id) const;

  /// What a client asked for. Everything in it is a model's words.
  struct Asked {
    std::string id = {};  ///< 1 to 256 bytes; a key and nothing else
    std::string code = {};
    std::optional<std::uint64_t> time_ms = {};
    std::vector<environment::GivenFile> files = {};
    bool echo = true;                         ///< tell the value of a last expression
    std::optional<std::string> fork_of = {};  ///< it begins as a copy of this one
  };
  /// In the session of that name, which begins with its first call and belongs to the environment
  /// of that one.
  boost::asio::awaitable<Result<Finished>> Execute(Asked asked, const Offered& environment,
                                                   std::shared_ptr<const Setup> setup,
                                                   Cancellation cancellation, Listener listener);

  /// A name that no session has, and that nobody guesses.
  std::string NewName() const;

  /// For sessions that begin from here on; the others keep what they began with.
  void SetLimits(SessionLimits limits) { limits_ = limits; }
  /// Who is told when a session has begun.
  void OnBegun(std::function<void()> begun) { parts_.begun = std::move(begun); }

  struct Listed {
    std::string id = {}, environment = {};
    std::string interpreter = {};  ///< of language::Driver
    std::chrono::milliseconds age{0}, idle{0};
    bool busy = false;
    std::size_t waiting = 0;  ///< calls
  };
  /// By their names.
  std::vector<Listed> List() const;

  // Each of these fails with kNotFound when there is no session of that name.

  /// Ends it, with its variables and files; a call under way, too. Where it lived.
  Result<std::string> End(const std::string& id);
  /// Asks the code that runs in it to stop. Whether some did.
  Result<bool> Interrupt(const std::string& id);
  /// Another interpreter: variables go, files stay. Code that runs is interrupted first.
  boost::asio::awaitable<Result<void>> Reset(std::string id, Cancellation cancellation);
  /// A file in its working directory.
  Result<ResourceContents> Read(const SessionFile& file) const;

  /// Files that calls have left, of all sessions, as far as they are still there.
  std::vector<Resource> Files() const;
  /// Another number whenever that list may be another.
  std::uint64_t generation() const { return generation_; }

  std::size_t count() const { return sessions_.size(); }
  /// Where a session lives; nothing when there is none of that name.
  std::optional<std::string> EnvironmentOf(std::string_view id) const;
  /// Ends those that nobody used for too long. Never one with a call under way.
  void Reap(Clock::time_point now);
  void Close();

 private:
  struct Entry;
  using Found = std::shared_ptr<Entry>;
  Result<Found> Find(const Asked& asked, const Offered& environment, const Setup& setup);
  Result<Found> Begin(const Asked& asked, const Offered& environment, const Setup& setup);
  Result<Found> Known(const std::string& id) const;
  /// The session that a new one is to be a copy of; none when it is not to be one.
  Result<Found> ParentOf(const Asked& asked, const Offered& environment) const;
  boost::asio::awaitable<Result<void>> CopyFrom(Found parent, Found entry,
                                                Cancellation cancellation);
  /// Everything between its turn and its code: the start of the session, its files.
  boost::asio::awaitable<Result<void>> Prepare(Found entry, const Asked& asked);
  Error Forget(const std::string& id, const Found& entry, const Error& error);
  Error TooMany() const;
  static Finished Describe(const Entry& entry, session::CallResult result, std::uint64_t time_ms);
  boost::asio::awaitable<void> Watch();

  boost::asio::io_context& loop_;
  Parts parts_;
  SessionLimits limits_;
  std::map<std::string, Found, std::less<>> sessions_ = {};  // shared with calls
  std::unique_ptr<boost::asio::steady_timer> clock_ = {};    ///< only while there are sessions
  std::uint64_t generation_ = 0;
};

}  // namespace igloo::service
