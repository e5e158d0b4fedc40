#include "cli/session/agent_protocol.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kHeader = 4;
/// Of each stream, when both together are too much: every byte may become six in JSON.
constexpr std::size_t kClipped = 4U << 20;

std::string Clipped(const std::string& text) {
  if (text.size() <= kClipped) return text;
  return text.substr(0, kClipped) + "\n[igloo: " + std::to_string(text.size() - kClipped) +
         " further bytes do not fit into a message]\n";
}

std::string Encode(const AgentResult& result) {
  return json::serialize(json::object{{"type", "result"},
                                      {"id", ToUtf8(result.id)},
                                      {"stdout", ToUtf8(result.out)},
                                      {"stderr", ToUtf8(result.err)},
                                      {"exit_code", result.exit_code}});
}

}  // namespace

Result<std::optional<std::string>> AgentFrames::Next() {
  if (bytes_.size() < kHeader) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHeader; ++i) {
    size = size << 8U | static_cast<unsigned char>(bytes_[i]);
  }
  if (size > kMaxAgentMessage) {
    return Fail(Errc::kProtocol, "a message of " + std::to_string(size) +
                                     " bytes is larger than the 67108864 that one may have");
  }
  if (bytes_.size() - kHeader < size) return std::nullopt;
  std::string message = bytes_.substr(kHeader, size);
  bytes_.erase(0, kHeader + size);
  return message;
}

std::string FrameFor(std::string_view message) {
  std::string frame;
  frame.reserve(kHeader + message.size());
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame += static_cast<char>(message.size() >> shift & 0xffU);
  }
  return frame += message;
}

AgentRequest ParseAgentRequest(std::string_view message) {
  boost::system::error_code error;
  const json::value value = json::parse(message, error);
  if (error) return AgentMisuse{"Bad message: " + error.message()};
  const json::object* object = value.if_object();
  if (object == nullptr) return AgentMisuse{"Bad message: it is not an object"};
  const auto text = [&](std::string_view key) -> std::optional<std::string> {
    const json::value* found = object->if_contains(key);
    if (found == nullptr || !found->is_string()) return std::nullopt;
    return std::string(found->get_string());
  };
  const std::string type = text("type").value_or("");
  if (type == "ping") return AgentPing{};
  if (type == "shutdown") return AgentShutdown{};
  if (type != "execute") return AgentMisuse{"Unknown message type: " + Quoted(type)};
  AgentExecute execute;
  for (const auto& [key, field] : {std::pair{"id", &execute.id},
                                   {"interpreter", &execute.interpreter},
                                   {"code", &execute.code}}) {
    auto given = text(key);
    if (!given) return AgentMisuse{"Bad message: '" + std::string(key) + "' is not a string"};
    *field = *std::move(given);
  }
  return execute;
}

std::string AgentReady() { return R"({"type":"ready"})"; }
std::string AgentPong() { return R"({"type":"pong"})"; }

std::string AgentError(std::string_view message) {
  return json::serialize(json::object{{"type", "error"}, {"message", ToUtf8(message)}});
}

std::string EncodeAgentResult(const AgentResult& result) {
  std::string whole = Encode(result);
  if (whole.size() <= kMaxAgentMessage) return whole;
  return Encode({.id = result.id,
                 .out = Clipped(result.out),
                 .err = Clipped(result.err),
                 .exit_code = result.exit_code});
}

}  // namespace igloo::cli
