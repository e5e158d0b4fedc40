#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mcp/call.h"
#include "mcp/options.h"
#include "mcp/params.h"
#include "mcp/service.h"

namespace igloo::mcp {

class TaskStore;

/// What is remembered of a client of the legacy era.
struct Peer {
  std::optional<Introduction> introduction = {};
  std::optional<LogLevel> log_level = {};
  std::set<std::string> uris = {};  ///< resources whose changes it wants to hear of
};

/// A request and everything that answering it may touch.
struct Context {
  Service& service;
  const ServerOptions& options;
  Peer& peer;
  Call& call;
  TaskStore& tasks;
  JsonObject params = {};
};

enum class Eras { kBoth, kLegacy, kModern };

/// One row per method that is answered by a function; exactly one of `now` and `later` is set.
struct Method {
  std::string_view name;
  Eras eras = Eras::kBoth;
  bool Features::* feature = nullptr;  ///< without which it does not exist
  bool cacheable = false;              ///< 2026-07-28: carries how long it stays true
  bool kept = false;                   ///< without parameters, true until change::Tools
  Answer<JsonObject> (*now)(Context& context) = nullptr;
  boost::asio::awaitable<Answer<JsonObject>> (*later)(Context& context) = nullptr;
};

/// Null for a method that this layer does not answer.
const Method* FindMethod(std::string_view name);

}  // namespace igloo::mcp
