#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "tools/session_control.h"

namespace igloo::cli {

/// A server of this user that has sessions, or had.
struct SessionServer {
  pid_t pid = 0;
  std::string socket = {};
};

/// Those that live. What ended ones left is removed.
Result<std::vector<SessionServer>> FindSessionServers();

/// One request to a server, and its answers.
class ServerRequest {
 public:
  static Result<ServerRequest> Send(const SessionServer& server,
                                    const service::control::Request& request);

  /// For requests that are answered at once: a server that does not is an error soon.
  void LimitPatience() { patient_ = false; }
  /// The next answer; nothing when a signal came before it.
  Result<std::optional<tools::ControlMessage>> Next();

 private:
  explicit ServerRequest(UniqueFd socket) : socket_(std::move(socket)) {}
  /// False when a signal came before there was something to read.
  Result<bool> Wait() const;

  UniqueFd socket_;
  bool patient_ = true;
  std::string bytes_ = {};
};

/// The answer to a request that has no others.
Result<service::control::Answer> AskServer(const SessionServer& server,
                                           const service::control::Request& request);
/// Of the type that belongs to the request.
template <class Answer>
Result<Answer> AskServerFor(const SessionServer& server, const service::control::Request& request) {
  IGLOO_ASSIGN(service::control::Answer answer, AskServer(server, request));
  if (auto* right = std::get_if<Answer>(&answer)) return std::move(*right);
  return Fail(Errc::kProtocol, "the server talks nonsense");
}

/// A session, and the server that it lives in.
struct FoundSession {
  SessionServer server = {};
  std::string id = {}, environment = {}, interpreter = {};
  std::int64_t age_ms = 0, idle_ms = 0;
  bool busy = false;
};
/// All of them, or those of one server.
Result<std::vector<FoundSession>> FindSessions(const std::optional<std::string>& server);
/// The one of that name; fails when there are several, and says which.
Result<FoundSession> FindSession(const std::string& id, const std::optional<std::string>& server);

}  // namespace igloo::cli
