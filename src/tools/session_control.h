#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancellation.h"
#include "mcp/types.h"
#include "session/proxy.h"
#include "tools/sessions.h"
#include "tools/setup.h"

namespace igloo::tools {

/// How long a rule counts that somebody adds to a living sandbox.
enum class Lasting {
  kOnce,     ///< for one connection
  kSession,  ///< while the sandbox lives
};

/// Lets a living sandbox reach more. What is said to whoever asked for it, or why it cannot be; an
/// unknown sandbox is kNotFound.
using AllowRule = std::function<boost::asio::awaitable<Result<std::string>>(
    std::string sandbox, std::string rule, Lasting lasting)>;
/// In this process's own sandboxes; `proxy` outlives it.
AllowRule AllowIn(session::Proxy& proxy);

/// Sessions for the person whose server this is: what `igloo session` and `igloo repl` ask for.
///
/// A request is one object: {"do": "list"}, {"do": "close" | "interrupt", "session": ID}, or
/// {"do": "net-allow", "sandbox": ID, "rule": RULE, "for": "once" | "session"}, or
/// {"do": "run", "session": ID, "code": ...} with "env" (where the session may begin), "echo",
/// "timeout_ms" (none: never) and "if_idle" (do not wait for others). Answers to "run" are
/// {"output": base64} as it comes, {"waiting": true} when it is not its turn yet; the last answer
/// to everything has "ok" or "error" with "what" and "hint".
class SessionControl {
 public:
  using Current = std::function<Result<std::shared_ptr<const Setup>>()>;
  using Emit = std::function<void(const mcp::JsonObject&)>;

  /// `sessions` outlives it. Without `allow`, no sandbox has a network that could be changed.
  SessionControl(Sessions& sessions, Current current, AllowRule allow = {})
      : SessionControl(std::vector{&sessions}, std::move(current), std::move(allow)) {}
  /// Of all principals of a server; ids are `PRINCIPAL/ID` if there are several.
  SessionControl(std::vector<Sessions*> sessions, Current current, AllowRule allow)
      : sessions_(std::move(sessions)), current_(std::move(current)), allow_(std::move(allow)) {}
  /// Of a process that has no sessions.
  explicit SessionControl(AllowRule allow) : allow_(std::move(allow)) {}

  boost::asio::awaitable<void> Handle(std::string request, Cancellation cancellation, Emit emit);

 private:
  boost::asio::awaitable<Result<mcp::JsonObject>> Answer(std::string_view request,
                                                         Cancellation cancellation, Emit emit);
  boost::asio::awaitable<Result<mcp::JsonObject>> Run(mcp::JsonObject request,
                                                      Cancellation cancellation, Emit emit);

  /// Adds a rule to a living sandbox.
  boost::asio::awaitable<Result<mcp::JsonObject>> Allow(mcp::JsonObject request) const;

  mcp::JsonObject ListAll() const;
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

}  // namespace igloo::tools
