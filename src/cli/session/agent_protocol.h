#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace igloo::cli {

/// A message of nix-sandbox-mcp's session agent, in either direction, has at most so many bytes.
inline constexpr std::size_t kMaxAgentMessage = 64U << 20;

/// Cuts a stream into messages: four bytes of length, most significant first, then JSON.
class AgentFrames {
 public:
  void Add(std::string_view bytes) { bytes_ += bytes; }
  /// The next whole message; nothing when it has not come yet. Fails when it is too large: then
  /// nobody knows where the one behind it begins.
  Result<std::optional<std::string>> Next();

 private:
  std::string bytes_ = {};
};

std::string FrameFor(std::string_view message);

struct AgentExecute {
  std::string id = {}, interpreter = {}, code = {};
  bool operator==(const AgentExecute&) const = default;
};
struct AgentPing {
  bool operator==(const AgentPing&) const = default;
};
struct AgentShutdown {
  bool operator==(const AgentShutdown&) const = default;
};
/// A message that is none of these, and what its sender is told.
struct AgentMisuse {
  std::string answer = {};
  bool operator==(const AgentMisuse&) const = default;
};
using AgentRequest = std::variant<AgentExecute, AgentPing, AgentShutdown, AgentMisuse>;

AgentRequest ParseAgentRequest(std::string_view message);

/// How one piece of code ended.
struct AgentResult {
  std::string id = {}, out = {}, err = {};
  int exit_code = 0;
};

std::string AgentReady();
std::string AgentPong();
std::string AgentError(std::string_view message);
/// Fits into a message: what is too much of the output is left out, and it says so.
std::string EncodeAgentResult(const AgentResult& result);

}  // namespace igloo::cli
