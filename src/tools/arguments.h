#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/run_policy.h"

namespace igloo::tools {

/// What can be done to a session besides running code in it.
enum class SessionAction { kClose, kReset, kInterrupt, kList };
std::string_view Name(SessionAction action);

/// The name of a session that gets a name of the server's.
inline constexpr std::string_view kNewSession = "new";

/// What the tool `run` was asked for. Everything in it is a model's words.
struct RunArguments {
  std::string code = {};
  std::string environment = {};
  std::optional<std::string> session = {};
  std::optional<SessionAction> action = {};  ///< then there is no code
  std::optional<bool> echo = {};
  std::optional<std::string> fork_of = {};  ///< the session that a new one is a copy of
  std::optional<std::uint64_t> time_ms = {};
  std::optional<std::size_t> max_output = {};
  std::vector<environment::GivenFile> files = {};
};

/// The numbers that the schema of `run` promises.
inline constexpr std::size_t kUsualOutput = 10'000, kMostOutput = 400'000;
inline constexpr std::uint64_t kLongestSeconds = 3600;
inline constexpr std::size_t kMostFiles = 200;

/// Fails with what is wrong and what to write instead. The older names `command` and `environment`
/// are understood. Code and environment are there unless there is an action.
Result<RunArguments> ReadArguments(const boost::json::object& arguments);
/// The same for the tool of nix-sandbox-mcp, which has `code`, `env` and `session`: what only
/// igloo's own tool takes is refused, never ignored.
Result<RunArguments> ReadOriginalArguments(const boost::json::object& arguments);

}  // namespace igloo::tools
