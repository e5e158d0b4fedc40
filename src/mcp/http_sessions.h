#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>

#include "mcp/dispatcher.h"

namespace igloo::mcp {

/// The clients of the legacy era that began with `initialize`, by the names they were given.
class HttpSessions {
 public:
  explicit HttpSessions(std::size_t most) : most_(most) {}

  /// Null when there is none of this name, or not any more.
  std::shared_ptr<ClientState> Find(const std::string& name);
  /// Its name. The one that was used least recently makes room.
  std::string Add(std::shared_ptr<ClientState> state);
  /// Cancels what runs in it. False when there is none.
  bool End(const std::string& name);
  void EndAll();

 private:
  std::size_t most_;
  /// The most recently used first; shared with the dispatchers of their requests.
  std::list<std::pair<std::string, std::shared_ptr<ClientState>>> sessions_ = {};
};

}  // namespace igloo::mcp
