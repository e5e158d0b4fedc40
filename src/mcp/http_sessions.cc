#include "mcp/http_sessions.h"

#include "base/random.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace {

void CancelAll(ClientState& state) {
  for (auto& [id, cancellation] : std::exchange(state.running, {})) cancellation.Request();
}

}  // namespace

std::shared_ptr<ClientState> HttpSessions::Find(const std::string& name) {
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
    if (at->first != name) continue;
    sessions_.splice(sessions_.begin(), sessions_, at);
    return sessions_.front().second;
  }
  return nullptr;
}

std::string HttpSessions::Add(std::shared_ptr<ClientState> state) {
  // SECURITY: whoever knows a session's name may use it, so it cannot be guessed.
  sessions_.emplace_front(RandomName(), std::move(state));
  if (sessions_.size() > most_) sessions_.pop_back();
  return sessions_.front().first;
}

bool HttpSessions::End(const std::string& name) {
  const auto state = Find(name);
  if (state == nullptr) return false;
  sessions_.pop_front();  // where Find put it
  CancelAll(*state);
  return true;
}

void HttpSessions::EndAll() {
  for (auto& [name, state] : std::exchange(sessions_, {})) CancelAll(*state);
}

}  // namespace igloo::mcp
