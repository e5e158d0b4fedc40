#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/cancellation.h"
#include "service/network_rules.h"
#include "service/sessions.h"
#include "service/setup.h"

namespace igloo::service {

/// What a person asks of the process that has their sessions: `igloo session`, `igloo repl` and
/// `igloo net` do. Names of sessions are Sessions::QualifiedName.
namespace control {

struct List {};
struct Close {
  std::string session = {};
};
struct Interrupt {
  std::string session = {};
};
struct Allow {
  std::string sandbox = {}, rule = {};
  Lasting lasting = Lasting::kOnce;
};
struct Run {
  std::string session = {}, code = {};
  std::optional<std::string> environment = {};  ///< where the session may begin; none: it lives
  bool echo = false;                            ///< tell the value of a last expression
  bool if_idle = false;                         ///< do not wait for others
  std::uint64_t time_ms = 0;                    ///< 0: it has no limit
};
using Request = std::variant<List, Close, Interrupt, Allow, Run>;

// What comes of code while it runs.
struct Output {
  std::string bytes = {};
};
struct Waiting {};  ///< it is not its turn yet
using Progress = std::variant<Output, Waiting>;
using Heard = std::function<void(const Progress&)>;

struct Listed {
  std::vector<Sessions::Listed> sessions = {};
};
struct Closed {
  std::string environment = {};
};
struct Interrupted {
  bool ran = false;  ///< there was something to interrupt
};
struct Allowed {
  std::string rule = {};  ///< in its one form
  std::string said = {};  ///< to whoever asked
};
struct Ran {
  struct Shown {
    std::string type = {};
    std::int64_t size = 0;
  };
  struct File {
    std::string path = {};
    std::int64_t size = 0;
  };
  std::string session = {}, verdict = {};
  std::int64_t exit_code = 0, duration_ms = 0;
  std::optional<std::string> value = {};
  std::vector<std::string> notes = {};
  std::vector<Shown> parts = {};
  std::vector<File> files = {};
};
/// What came of a request, of the type that belongs to it.
using Answer = std::variant<Listed, Closed, Interrupted, Allowed, Ran>;

}  // namespace control

/// The sessions and networks of this process, for the person whose process it is.
class SessionControl {
 public:
  using Current = std::function<Result<std::shared_ptr<const Setup>>()>;

  /// `sessions` outlives it. Without `allow`, no sandbox has a network that could be changed.
  SessionControl(Sessions& sessions, Current current, AllowRule allow = {})
      : SessionControl(std::vector{&sessions}, std::move(current), std::move(allow)) {}
  /// Of all principals of a server; ids are `PRINCIPAL/ID` if there are several.
  SessionControl(std::vector<Sessions*> sessions, Current current, AllowRule allow)
      : sessions_(std::move(sessions)), current_(std::move(current)), allow_(std::move(allow)) {}
  /// Of a process that has no sessions.
  explicit SessionControl(AllowRule allow) : allow_(std::move(allow)) {}

  boost::asio::awaitable<Result<control::Answer>> Handle(control::Request request,
                                                         Cancellation cancellation,
                                                         control::Heard heard);
  boost::asio::awaitable<Result<control::Ran>> Run(control::Run request, Cancellation cancellation,
                                                   control::Heard heard);

 private:
  control::Listed ListAll() const;
  Result<control::Closed> Close(const std::string& session);
  Result<control::Interrupted> Interrupt(const std::string& session);
  /// Adds a rule to a living sandbox.
  boost::asio::awaitable<Result<control::Allowed>> Allow(control::Allow request) const;

  /// Where a session is or would be, and its id there.
  struct Place {
    Sessions* sessions;
    std::string id;
  };
  Result<Place> Find(const std::string& name) const;

  std::vector<Sessions*> sessions_ = {};
  Current current_ = {};
  AllowRule allow_;
};

}  // namespace igloo::service
